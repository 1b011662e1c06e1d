import { expect } from 'chai';
import { verbatimTarget, type Upload } from '../../src/bench/http-target.js';
import { memoryParts } from '../../src/bench/memory.js';
import { seededRandom } from '../../src/bench/random.js';
import { memorySlope, soak } from '../../src/bench/soak.js';
import { StubServer, withStub } from './stub-server.js';

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
    const stub = new StubServer(() => 1);
    await withStub(stub, async (url) => {
      const { samples, outcomes } = await soak({
        ...{ target: verbatimTarget(url, ['one', 'two']), pid: process.pid, uploads: [clip], long },
        ...{ rate: 150, seconds: 1, sampleSeconds: 0.2, random: seededRandom(3) },
      });
      expect(Object.keys(outcomes)).to.have.members(['clip', 'translated', 'truncated', 'hang-up', 'long']);
      for (const kind of ['clip', 'translated', 'truncated', 'long'])
        expect(Object.keys(outcomes[kind] ?? {}), kind).to.deep.equal(['200']);
      expect(samples).to.have.length(5);
      for (const sample of samples) expect(sample.residentBytes).to.be.above(20 * MEBIBYTE);
      const translated = stub.seen.filter(({ body }) => body.includes('name="translate_to"'));
      expect(translated).to.have.length(outcomes['translated']?.[200] ?? 0);
      expect(stub.seen.some(({ body }) => body.includes('filename="long.wav"'))).to.equal(true);
      const whole = 'x'.repeat(100);
      expect(stub.seen.filter(({ body }) => !body.includes(whole))).to.have.length(
        outcomes['truncated']?.[200] ?? 0,
      );
    });
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
  it('are told apart by servers with different numbers of slots', () => {
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
