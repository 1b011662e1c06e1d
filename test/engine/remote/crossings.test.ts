/** How often a request crosses between the service and the engine's process, counted in calls, messages and writes. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { StartChild } from '../../../src/engine/process/child.js';
import { FrameReader, FrameWriter } from '../../../src/engine/process/frames.js';
import { type FromChild, type ToChild } from '../../../src/engine/process/messages.js';
import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import { RemoteSpeechEngine } from '../../../src/engine/remote/remote-speech-engine.js';
import { serveEngine, type EngineTools, type LoadedEngines } from '../../../src/engine/remote/serve-engine.js';
import type { EngineInfo } from '../../../src/engine/types.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { fakeChannel } from '../process/fake-channel.js';

const SECONDS = 3;
const TIMINGS = { queueMs: 0, readMs: 0, speechMs: 0, inferenceMs: 0 };

/** Recognises one window in any file, and converts all that it is given. */
function recognising({ observer }: EngineTools, settles: () => boolean): LoadedEngines['speech'] {
  const segment = { startSeconds: 0, endSeconds: SECONDS, text: 'Hello.', noSpeechProbability: 0 };
  const segments = [segment] as never;
  return {
    convert: () => Promise.resolve(true),
    recognise: () => Promise.reject(new Error('No session is live.')),
    measure: () => Promise.resolve(SECONDS),
    transcribe: async (_file, onWindow) => {
      await turn();
      observer.windowDone({} as never);
      const part = { language: 'en', text: segment.text, segments };
      onWindow?.({ finished: { index: 0, result: { segments } as never }, seconds: SECONDS, language: 'en', part });
      if (!settles()) await turn();
      await Promise.resolve();
      return {
        ...{ durationSeconds: SECONDS, language: 'en', languageProbability: null, text: segment.text },
        ...{ segments, windows: 1, unsureWindows: 0, timings: TIMINGS },
      };
    },
    stats: () => ({ slots: 1, busySlots: 1, windowsInFlight: 1, queuedWindows: 0, realTimeFactor: 1 }),
    limitLanes: () => Promise.resolve(),
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
  /** Whether the answer comes with the end of its last window. */
  let settles: boolean;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-crossings-'));
    writes = [];
    settles = true;
    const start: StartChild = (events) => {
      const back = crossing(writes, (message: FromChild) => events.message(message, 1));
      const { channel, recognise } = fakeChannel((message, done) => back.write(message, done));
      const there = crossing(writes, recognise);
      const load = (_: unknown, tools: EngineTools): Promise<LoadedEngines> =>
        Promise.resolve({
          speech: recognising(tools, () => settles),
          translation: {} as never,
          info: {} as never,
        });
      serveEngine(load, channel);
      return {
        pid: 1,
        send: (message) => there.write(message),
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

  it('is two calls of two writes each for a file that needs no conversion', async () => {
    const file = fileOf('RIFF\x24\0\0\0WAVEfmt ');
    expect(await speech.convert({ ...file, to: `${file.path}.flac` })).to.equal(false);
    expect(writes).to.deep.equal([]);
    const seconds = await speech.measure({ ...file, maxSeconds: 10, payableSeconds: 60 });
    expect(seconds).to.equal(SECONDS);
    const { text } = await speech.transcribe({ ...file, seconds, language: 'en' });
    expect(text).to.equal('Hello.');
    expect(writes).to.deep.equal([['call measure'], ['answer'], ['call transcribe'], ['report', 'answer']]);
  });

  it('reports a window by itself where the answer comes later', async () => {
    settles = false;
    const { text, segments } = await speech.transcribe({ ...fileOf('RIFF'), seconds: SECONDS, language: 'en' });
    expect(text).to.equal('Hello.');
    expect(segments).to.have.length(1);
    expect(writes.slice(1)).to.deep.equal([['progress finished seconds language part'], ['report', 'answer']]);
  });

  it('is converted there, where it needs it', async () => {
    const file = fileOf('\x1a\x45\xdf\xa3');
    expect(await speech.convert({ ...file, to: `${file.path}.flac` })).to.equal(true);
    expect(writes).to.deep.equal([['call convert'], ['answer']]);
  });

  it('is not opened where its head was seen on its way to the disk', async () => {
    const file = { path: join(directory, 'nowhere'), accountId: 'one', to: join(directory, 'to') };
    expect(await speech.convert({ ...file, head: 'RIFF\x24\0\0\0WAVEfmt ' })).to.equal(false);
    expect(writes).to.deep.equal([]);
    expect(await speech.convert({ ...file, head: '\x1a\x45\xdf\xa3' })).to.equal(true);
    expect(writes).to.deep.equal([['call convert'], ['answer']]);
  });

  it('that nobody waits for any more is not even looked at', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    const file = { ...fileOf('RIFF'), to: join(directory, 'to'), signal };
    const failed = await speech.convert(file).catch((error: unknown) => error);
    expect(failed).to.include({ message: 'gone' });
    expect(writes).to.deep.equal([]);
  });
});
