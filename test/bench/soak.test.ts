import { expect } from 'chai';
import type { Upload } from '../../bench/load/http-target.js';
import { memoryParts } from '../../bench/load/memory.js';
import { seededRandom } from '../../bench/load/random.js';
import { memorySlope, soak } from '../../bench/load/soak.js';
import { TimedTarget, type Sent } from './timed-target.js';

const MEBIBYTE = 2 ** 20;

describe('Mixed load', () => {
  it('sends every kind of request, counts what became of it, and looks at the memory meanwhile', async () => {
    const clip: Upload = {
      name: 'clip.wav',
      bytes: new Blob(['x'.repeat(100)]),
      seconds: 3,
      language: 'auto',
    };
    const long: Upload = { ...clip, name: 'long.wav' };
    const target = new TimedTarget(() => 1);
    const { samples, outcomes } = await target.run((clock) =>
      soak({
        ...{ target, pid: process.pid, uploads: [clip], long, clock },
        ...{ rate: 150, seconds: 1, sampleSeconds: 0.2, random: seededRandom(3) },
      }),
    );
    expect(Object.keys(outcomes)).to.have.members(['clip', 'translated', 'truncated', 'hang-up', 'long']);
    for (const [kind, counts] of Object.entries(outcomes))
      if (kind !== 'hang-up') expect(Object.keys(counts), kind).to.deep.equal(['200']);
    const sent = (is: (one: Sent) => boolean): number => target.sent.filter(is).length;
    expect(sent(({ upload }) => upload.translateTo === 'en')).to.equal(outcomes['translated']?.[200]);
    expect(sent(({ upload }) => upload.name === 'long.wav')).to.equal(outcomes['long']?.[200]);
    expect(sent(({ upload }) => upload.bytes.size < 100)).to.equal(outcomes['truncated']?.[200]);
    expect(sent(({ signal }) => signal !== undefined)).to.equal(
      Object.values(outcomes['hang-up'] ?? {}).reduce((sum, count) => sum + count, 0),
    );
    expect(samples).to.have.length(5);
    samples.forEach(({ seconds }, index) => expect(seconds).to.be.closeTo(0.2 * (index + 1), 1e-9));
    for (const sample of samples) expect(sample.residentBytes).to.be.above(0);
  });

  it('hangs up on a slow server after a while, never on purpose on others', async () => {
    const target = new TimedTarget(() => 2000);
    const clip: Upload = { name: 'clip.wav', bytes: new Blob(['x']), seconds: 3, language: 'auto' };
    const { outcomes } = await target.run((clock) =>
      soak({
        ...{ target, pid: process.pid, uploads: [clip], long: clip, clock },
        ...{ rate: 150, seconds: 1, sampleSeconds: 1, random: seededRandom(3) },
      }),
    );
    for (const [kind, counts] of Object.entries(outcomes))
      expect(Object.keys(counts), kind).to.deep.equal([kind === 'hang-up' ? '0' : '200']);
  });

  it('has a slope in bytes an hour, from what comes after the warm-up', () => {
    const minutes = Array.from({ length: 60 }, (_, minute) => minute);
    const samples = minutes.map((minute) => ({
      seconds: minute * 60,
      residentBytes: minute < 10 ? minute * 50 * MEBIBYTE : 500 * MEBIBYTE + minute * MEBIBYTE,
    }));
    const { slope, margin } = memorySlope(samples, 600);
    expect(slope / MEBIBYTE).to.be.closeTo(60, 1e-6);
    expect(margin / MEBIBYTE).to.be.below(0.01);
  });
});

describe('The parts of memory', () => {
  it('are distinguished by servers with different numbers of slots', () => {
    const server = (slots: number): Parameters<typeof memoryParts>[0][number] => {
      const idle = 100 + 10 * slots;
      const inFlight = Array.from({ length: slots }, (_, index) => idle + 7 + 20 * (index + 1));
      return { slots, idle, after: idle + 7 + 20 * slots, inFlight };
    };
    const parts = memoryParts([1, 2, 4].map(server));
    expect(parts.base).to.be.closeTo(100, 1e-9);
    expect(parts.perSlot).to.be.closeTo(10, 1e-9);
    expect(parts.firstRequest).to.be.closeTo(7, 1e-9);
    expect(parts.perWindow).to.be.closeTo(20, 1e-9);
  });
});
