/** Speaker models in their own process, on real files. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { SessionSpeakers } from '../../../src/engine/speakers/session-speakers.js';
import { SpeakerEngine } from '../../../src/engine/speakers/speaker-engine.js';
import type { SpeakerTurn } from '../../../src/engine/speakers/speaker-turn.js';
import { toIntegers } from '../../../src/live/sample-integers.js';
import { onnxFile } from '../../support/onnx.js';
import { samplePath } from '../../native/support.js';
import { until } from '../../support/until.js';
import { embeddingGraph, hummed, segmentationGraph, writeHum } from './tones.js';

/** The frame of 20 ms in which somebody ends is theirs or nobody's. */
const toTheTenth = (turns: readonly SpeakerTurn[]): SpeakerTurn[] =>
  turns.map(({ startSeconds, endSeconds, speaker }) => ({
    ...{ startSeconds: Math.round(10 * startSeconds) / 10, endSeconds: Math.round(10 * endSeconds) / 10 },
    speaker,
  }));

const TURNS: SpeakerTurn[] = [
  { startSeconds: 1, endSeconds: 6, speaker: 'S1' },
  { startSeconds: 5, endSeconds: 12, speaker: 'S2' },
  { startSeconds: 14, endSeconds: 20, speaker: 'S1' },
];
const SECONDS = 21;

describe('The speaker engine', function () {
  this.timeout(120_000);
  let directory: string;
  let engine: SpeakerEngine;
  let deaths: string[];
  let path: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-speakers-'));
    writeFileSync(join(directory, 'segmentation.onnx'), onnxFile(segmentationGraph()));
    writeFileSync(join(directory, 'embedding.onnx'), onnxFile(embeddingGraph()));
    path = join(directory, 'hum.wav');
    writeHum(path, TURNS, SECONDS);
  });
  after(() => rmSync(directory, { recursive: true }));

  function open(files: { segmentation?: string; embedding?: string } = {}): SpeakerEngine {
    deaths = [];
    return new SpeakerEngine({
      segmentation: join(directory, files.segmentation ?? 'segmentation.onnx'),
      embedding: join(directory, files.embedding ?? 'embedding.onnx'),
      ...{ threads: 1, threshold: 0.5, minSeconds: 1 },
      observer: { died: ({ how }) => deaths.push(how) },
    });
  }
  beforeEach(() => {
    engine = open();
  });
  afterEach(() => engine.close());

  it('says who speaks in the stretches of a live session', async () => {
    const speakers = new SessionSpeakers(engine);
    const whole = toIntegers(hummed(TURNS, SECONDS));
    const turnsIn = async (from: number, to: number): Promise<unknown> => {
      const turns = await speakers.turnsIn(whole.slice(from * 16_000, to * 16_000));
      return turns.map(({ startSeconds, endSeconds, speaker }) => [
        Math.round(from + startSeconds),
        Math.round(from + endSeconds),
        speaker,
      ]);
    };
    expect(await turnsIn(0, 5)).to.deep.equal([[1, 5, 0]]);
    // Longer than a window; nobody hums at its end.
    expect(await turnsIn(6, 21)).to.deep.equal([
      [6, 12, 1],
      [14, 16, 0],
      [16, 20, 0],
    ]);
    const { pid } = engine.stats();
    process.kill(pid!, 'SIGKILL');
    await until(() => engine.stats().pid !== pid);
    expect(await turnsIn(8, 12)).to.deep.equal([[8, 12, 1]]);
  });

  it('says who speaks when in a file', async () => {
    expect(toTheTenth(await engine.diarize({ path, durationSeconds: SECONDS }))).to.deep.equal(TURNS);
  });

  it('keeps to the number of speakers that it is given', async () => {
    const one = await engine.diarize({ path, durationSeconds: SECONDS, maxSpeakers: 1 });
    expect(new Set(one.map(({ speaker }) => speaker))).to.deep.equal(new Set(['S1']));
  });

  it('handles several files at once', async () => {
    const file = { path, durationSeconds: SECONDS };
    const answers = await Promise.all([engine.diarize(file), engine.diarize(file), engine.diarize(file)]);
    expect(answers.map(toTheTenth)).to.deep.equal([TURNS, TURNS, TURNS]);
  });

  it('answers after its process was killed in the middle of a file', async () => {
    await engine.diarize({ path, durationSeconds: SECONDS });
    const { pid } = engine.stats();
    const answer = engine.diarize({ path, durationSeconds: SECONDS });
    await setImmediate();
    process.kill(pid ?? 0, 'SIGKILL');
    expect(toTheTenth(await answer)).to.deep.equal(TURNS);
    expect(deaths).to.deep.equal(['SIGKILL']);
    expect(engine.stats().pid).not.to.equal(pid);
  });

  it('ends with the signal, and is free for the next file', async () => {
    const abort = new AbortController();
    const file = { path, durationSeconds: SECONDS, signal: abort.signal };
    const failed = engine.diarize(file).catch((reason: unknown) => reason);
    await until(() => engine.stats().pid !== null);
    await setImmediate();
    abort.abort(new Error('hung up'));
    expect(await failed).to.include({ message: 'hung up' });
    expect(engine.stats().pending).to.equal(0);
    expect(toTheTenth(await engine.diarize({ path, durationSeconds: SECONDS }))).to.deep.equal(TURNS);
    expect(deaths).to.deep.equal([]);
  });

  it('says what is wrong with a file of audio, and goes on', async () => {
    const refused = await engine.diarize({ path: __filename, durationSeconds: 1 }).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'unsupported_audio_format' });
    const spoken = await engine.diarize({ path: samplePath('en-wav16.wav'), durationSeconds: 2.437 });
    expect(spoken).to.be.an('array');
  });

  it('says which model is wrong, and how', async () => {
    await engine.close();
    engine = open({ embedding: 'hum.wav' });
    const error = await engine.diarize({ path, durationSeconds: SECONDS }).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'invalid_model' });
    expect((error as Error).message).to.match(/^embedding model .*hum\.wav: The file is no ONNX model\.$/);
  });

  it('does not believe turns that cannot be', async () => {
    const error = await engine.diarize({ path, durationSeconds: 1 }).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'internal_error' });
  });
});
