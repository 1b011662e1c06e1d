/** Spoiled recordings: each becomes a file that the engine reads or is refused in words, and nothing is left of it. */
import { expect } from 'chai';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/engine/clock.js';
import { EngineError } from '../../../src/engine/native-errors.js';
import { samplePath } from '../../native/support.js';
import { conversionsOf } from '../../support/child-processes.js';
import { mutateAudio } from '../../support/mutate-audio.js';
import { recordingSeeds } from '../../support/recordings.js';
import { SEED } from '../../support/seed.js';
import { Scenario } from '../speech/scenario.js';

const FILES = 60;
const AT_ONCE = 4;

describe('Spoiled recordings', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-spoiled-'))));
  after(() => rmSync(directory, { recursive: true }));

  it(`${FILES} of them are read or refused, and leave nothing`, async () => {
    const seeds = recordingSeeds(samplePath('en-wav16.wav'), directory);
    const work = mkdtempSync(join(directory, 'work-'));
    const { engine } = await Scenario.start({ clock: systemClock, ffmpeg: 'ffmpeg' });
    const outcomes = new Set<string>();
    const files = mutateAudio(seeds, { count: FILES, seed: SEED });
    const worker = async (_: unknown, account: number): Promise<void> => {
      for (const { name, bytes, recipe } of files) {
        const path = join(work, name);
        writeFileSync(path, bytes);
        const order = { path, to: `${path}.flac`, accountId: String(account), maxSeconds: 600 };
        const refusal = await engine.convert(order).then(
          (converted) => void outcomes.add(converted ? 'read' : 'not for ffmpeg'),
          (error: unknown) => error,
        );
        if (refusal !== undefined) {
          expect(refusal, recipe).to.be.instanceOf(EngineError);
          const { code } = refusal as EngineError;
          expect(code, recipe).to.be.oneOf(['invalid_audio', 'unsupported_audio_format']);
          outcomes.add('refused');
        } else rmSync(order.to, { force: true });
        rmSync(path);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect([...outcomes]).to.have.members(['read', 'refused', 'not for ffmpeg']);
    expect(readdirSync(work)).to.deep.equal([]);
    expect(conversionsOf()).to.deep.equal([]);
    await engine.close();
  });
});
