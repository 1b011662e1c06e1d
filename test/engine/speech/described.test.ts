/** What segments say of how they were decoded, by either decoder of the real engine. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { SegmentDecoding } from '../../../src/engine/binding.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { packageRoot } from '../../../src/package-root.js';
import { measureAndTranscribe } from '../../support/transcribe.js';
import { loadRealEngine } from '../../support/real-engine.js';

const FIRST_TIME_STAMP = 50364;
const path = join(packageRoot, 'test', 'fixtures', 'audio', 'samples', 'en-wav16.wav');

const wordsOf = ({ tokens }: SegmentDecoding): number[] => tokens.filter((id) => id < FIRST_TIME_STAMP);

describe('segments that record what they were decoded to', () => {
  const engines: SpeechEngine[] = [];
  before(async () => {
    for (const decoder of ['batched', 'whisper.cpp'] as const)
      engines.push(await loadRealEngine({ slots: 1, decoder, withoutFloor: true }));
  });
  after(() => Promise.all(engines.map((engine) => engine.close())));

  const decodings = async (options: { describe?: boolean; temperature?: number }) => {
    const file = { path, accountId: 'a', language: 'en', ...options };
    const transcripts = await Promise.all(engines.map((engine) => measureAndTranscribe(engine, file)));
    return transcripts.map(({ segments }) => segments.map(({ decoding }) => decoding));
  };

  it('report the same of both decoders', async () => {
    const [batched, whisper] = (await decodings({ describe: true })) as SegmentDecoding[][];
    expect(batched).to.have.length.above(0).and.to.have.length(whisper!.length);
    for (const [index, one] of batched!.entries()) {
      const other = whisper![index]!;
      expect(wordsOf(one)).to.deep.equal(wordsOf(other)).and.not.to.be.empty;
      expect(one.tokens.at(-1)).to.be.at.least(FIRST_TIME_STAMP);
      // Two encoders may see an end a hundredth or two apart.
      expect(one.tokens.at(-1)).to.be.closeTo(other.tokens.at(-1)!, 2);
      expect(one.averageLogProbability).to.be.closeTo(other.averageLogProbability, 0.05).and.to.be.below(0);
      expect([one.temperature, one.windowStartSeconds]).to.deep.equal([0, other.windowStartSeconds]);
    }
  });

  it('report the temperature that was asked for, or one of a fall-back', async () => {
    for (const reported of await decodings({ describe: true, temperature: 0.4 })) {
      expect(reported).to.have.length.above(0);
      for (const decoding of reported) expect(decoding?.temperature).to.be.at.least(0.39);
    }
  });

  it('say nothing of it unless they are asked', async () => {
    expect((await decodings({})).flat().filter(Boolean)).to.deep.equal([]);
  });
});
