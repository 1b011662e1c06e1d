/** How often a request crosses between the service and the engine's process, counted in calls, messages and writes. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { StartChild } from '../../../src/engine/process/child.js';
import { FrameReader, FrameWriter } from '../../../src/engine/process/frames.js';
import { formOf, type FromChild, type ToChild } from '../../../src/engine/process/messages.js';
import { ENGINE_FORM, type EngineInfo } from '../../../src/engine/remote/engine-calls.js';
import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import { RemoteSpeechEngine } from '../../../src/engine/remote/remote-speech-engine.js';
import {
  serveEngine,
  type EngineTools,
  type LoadedEngines,
} from '../../../src/engine/remote/serve-engine.js';
import type { FileToTranscribe } from '../../../src/engine/types.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { fakeChannel } from '../process/fake-channel.js';

const SECONDS = 3;
const TIMINGS = { queueMs: 0, readMs: 0, speechMs: 0, inferenceMs: 0 };
const PLACE = { admittedAt: 0, accountId: 'one', background: false, advance: () => 0, release: () => 0 };

/** Hears one window in any file, counts it in the steps it is told, and converts all that it is given. */
function hearing(
  { observer }: EngineTools,
  steps: readonly number[],
  settles: () => boolean,
): LoadedEngines['speech'] {
  const count = async ({ covers }: Pick<FileToTranscribe, 'covers'>): Promise<void> => {
    covers?.(0);
    for (const seconds of steps) {
      await turn();
      covers?.(seconds);
    }
    // As long as it takes from the last step to who waits for the duration.
    for (let settled = 0; settled < 8; settled++) await Promise.resolve();
  };
  const segment = { startSeconds: 0, endSeconds: SECONDS, text: 'Hello.', noSpeechProbability: 0 };
  return {
    convertFile: () => Promise.resolve({ milliseconds: 1 }),
    measureFile: async (file) => {
      await count(file);
      return SECONDS;
    },
    transcribeFile: async (file) => {
      await count(file);
      await file.measured?.(SECONDS);
      await turn();
      observer.windowDone({} as never);
      file.finished?.(0, { segments: [segment] } as never);
      file.transcribed?.(SECONDS);
      file.heard?.({ language: 'en', text: segment.text, segments: [segment] as never });
      if (!settles()) await turn();
      await Promise.resolve();
      return {
        ...{ durationSeconds: SECONDS, language: 'en', languageProbability: null, text: segment.text },
        ...{ segments: [segment] as never, unsureWindows: 0, timings: TIMINGS },
      };
    },
    stats: () => ({
      ...{ slots: 1, busySlots: 1, windowsInFlight: 1, queuedWindows: 0, realTimeFactor: 1 },
      ...{ backlogSeconds: 0, maxBacklogSeconds: 0, retryAfterSeconds: 0, backlogByAccount: [] },
    }),
  };
}

/** One direction of a channel: what each write to it was of. */
function crossing(writes: string[][], deliver: (message: never) => void): FrameWriter {
  const reader = new FrameReader(1e6);
  const stream = new Writable({
    writev: (chunks, done) => {
      const messages = chunks
        .flatMap(({ chunk }) => reader.push(chunk as Buffer))
        .map(({ value }) => value as ToChild | FromChild);
      writes.push(messages.map(nameOf));
      done();
      for (const message of messages) deliver(message as never);
    },
  });
  return new FrameWriter(stream);
}

function nameOf(message: ToChild | FromChild): string {
  if (message.kind === 'call') return `call ${message.name}`;
  if (message.kind !== 'progress') return message.kind;
  return `progress ${Object.keys(message.value as object).join(' ')}`;
}

describe('A request to the engine’s process', () => {
  let directory: string;
  let writes: string[][];
  let speech: RemoteSpeechEngine;
  let steps: number[];
  /** Whether the answer comes with the end of its last window. */
  let settles: boolean;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-crossings-'));
    writes = [];
    steps = [SECONDS];
    settles = true;
    const start: StartChild = (events) => {
      const back = crossing(writes, (message: FromChild) => events.message(message, 1));
      const { channel, hear } = fakeChannel((message, done) =>
        back.write(message, formOf(message, ENGINE_FORM), done),
      );
      const there = crossing(writes, hear);
      const load = (_: unknown, tools: EngineTools): Promise<LoadedEngines> =>
        Promise.resolve({
          speech: hearing(tools, steps, () => settles),
          translation: {} as never,
          info: {} as never,
        });
      serveEngine(load, channel);
      return {
        pid: 1,
        send: (message) => there.write(message, formOf(message, ENGINE_FORM)),
        kill: () => events.exit('SIGKILL'),
      };
    };
    const observer = {
      engineDied: () => undefined,
      engineRefused: () => undefined,
      measured: () => undefined,
    };
    const timers = new ManualTimers();
    const process = new EngineSupervisor({
      start,
      settings: () => null,
      observer,
      timers,
      isStopped: () => false,
    });
    await process.start();
    const info: Partial<EngineInfo> = {};
    speech = new RemoteSpeechEngine({
      ...{ process, info: info as EngineInfo, quarantine: { check: () => undefined } as never },
      backlog: { admit: () => PLACE } as never,
    });
    writes.splice(0);
  });
  afterEach(async () => {
    await speech.close();
    rmSync(directory, { recursive: true });
  });

  const fileOf = (head: string): { path: string; accountId: string } => {
    const path = join(directory, 'audio');
    writeFileSync(path, head, 'latin1');
    return { path, accountId: 'one' };
  };

  it('is one call of four writes for a file that needs no conversion', async () => {
    const file = fileOf('RIFF\x24\0\0\0WAVEfmt ');
    expect(await speech.convertFile({ ...file, to: `${file.path}.flac` })).to.equal(null);
    expect(writes).to.deep.equal([]);
    const { text } = await speech.transcribeFile({ ...file, language: 'en' });
    expect(text).to.equal('Hello.');
    expect(writes).to.deep.equal([
      ['call transcribe'],
      ['progress kind seconds'],
      ['proceed'],
      ['report', 'answer'],
    ]);
  });

  it('tells of a window by itself where the answer comes later', async () => {
    settles = false;
    const { text, segments } = await speech.transcribeFile({ ...fileOf('RIFF'), language: 'en' });
    expect(text).to.equal('Hello.');
    expect(segments).to.have.length(1);
    expect(writes.slice(3)).to.deep.equal([
      ['progress kind finished transcribedSeconds heard'],
      ['report', 'answer'],
    ]);
  });

  it('tells what is counted of a file, but not beside its duration: that is asked about all the same', async () => {
    const asked: number[] = [];
    const file = { ...fileOf('RIFF'), language: 'en', covers: (seconds: number) => void asked.push(seconds) };
    await speech.transcribeFile(file);
    expect(writes.slice(0, 2)).to.deep.equal([['call transcribe'], ['progress kind seconds']]);
    expect(asked).to.deep.equal([0, SECONDS]);
    writes.splice(0);
    expect(await speech.measureFile(file)).to.equal(SECONDS);
    expect(writes).to.deep.equal([['call measure'], ['answer']]);
    writes.splice(0);
    asked.splice(0);
    steps.unshift(1, 2);
    await speech.measureFile(file);
    expect(writes).to.deep.equal([
      ['call measure'],
      ['progress kind seconds'],
      ['progress kind seconds'],
      ['answer'],
    ]);
    expect(asked).to.deep.equal([0, 1, 2, SECONDS]);
  });

  it('is refused by its duration as by any other count of its seconds', async () => {
    const covers = (seconds: number): void => {
      if (seconds > 2) throw new Error(`${seconds} s are too dear`);
    };
    const file = { ...fileOf('RIFF'), language: 'en', covers };
    for (const refused of [speech.transcribeFile(file), speech.measureFile(file)]) {
      expect(await refused.catch((error: unknown) => error)).to.include({ message: '3 s are too dear' });
    }
  });

  it('is converted there, where it needs it', async () => {
    const file = fileOf('\x1a\x45\xdf\xa3');
    expect(await speech.convertFile({ ...file, to: `${file.path}.flac` })).to.deep.equal({ milliseconds: 1 });
    expect(writes).to.deep.equal([['call convert'], ['answer']]);
  });

  it('that nobody waits for any more is not even looked at', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    const file = { ...fileOf('RIFF'), to: join(directory, 'to'), signal };
    const failed = await speech.convertFile(file).catch((error: unknown) => error);
    expect(failed).to.include({ message: 'gone' });
    expect(writes).to.deep.equal([]);
  });
});
