/**
 * What the process that distinguishes speakers takes of the machine over three hours of speech: all of it is on top of
 * the transcription.
 */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peakMemoryBytes, processorMs } from '../../bench/processes/process-usage.js';
import type { SpeakerEngine } from '../../src/engine/speakers/speaker-engine.js';
import { readContext } from '../../src/service/context.js';
import { createSpeakerEngine } from '../../src/service/speaker-engine.js';
import { readTimedClips } from '../../src/models/alignment/timed-clips.js';
import { wordEventsPath } from '../native/support.js';
import { writeLongFile } from '../support/audio-files.js';

const SECONDS = 3 * 3600;
const GOAL_BYTES = 400 * 2 ** 20;
/** Processor time by the audio's length, of one core. */
const GOAL_SHARE = 0.05;

describe('A diarized file of three hours', function () {
  this.timeout(3600_000);
  let directory: string;
  let engine: SpeakerEngine;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-three-hours-'));
    const { config, roots, manifest } = readContext();
    const speakers = createSpeakerEngine(config, roots, manifest);
    if (speakers.engine === null) throw new Error(speakers.unavailable);
    ({ engine } = speakers);
  });

  after(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  it(`takes at most ${GOAL_BYTES / 2 ** 20} MiB and ${GOAL_SHARE} of its length in processor time`, async () => {
    const path = join(directory, 'long.wav');
    const clips = readTimedClips(wordEventsPath('')).map((clip) => clip.path);
    const durationSeconds = writeLongFile(path, { clips, seconds: SECONDS, pauseSeconds: 0.4 });
    const turns = await engine.diarize({ path, durationSeconds });
    const pid = engine.stats().pid ?? expect.fail('the process is gone');
    const [bytes, share] = [peakMemoryBytes(pid), processorMs(pid) / 1000 / durationSeconds];
    console.log(`      ${(bytes / 2 ** 20).toFixed(0)} MiB, ${share.toFixed(4)} of the audio, ${turns.length} turns`);
    // It has listened to the end, and not to silence.
    expect(turns.at(-1)?.endSeconds).to.be.within(durationSeconds - 10, durationSeconds + 1);
    expect(turns.length).to.be.above(SECONDS / 60);
    expect(bytes).to.be.at.most(GOAL_BYTES);
    expect(share).to.be.at.most(GOAL_SHARE);
  });
});
