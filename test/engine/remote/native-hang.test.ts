/**
 * Native code that does not come back, in a real process: it is ended and started again, and all that it was asked is
 * answered.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { forking, type StartChild } from '../../../src/engine/process/child.js';
import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import { Quarantine } from '../../../src/engine/remote/quarantine.js';
import { RemoteSpeechEngine } from '../../../src/engine/remote/remote-speech-engine.js';
import type { Transcript } from '../../../src/engine/types.js';
import { VerbatimError } from '../../../src/errors.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { packageRoot } from '../../../src/package-root.js';
import { readConfig } from '../../../src/service/config.js';
import { hangPath, type Hang } from '../../support/hangs.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { sample } from '../../support/speech.js';
import { measureAndTranscribe } from '../../support/transcribe.js';
import { until } from '../../support/until.js';

const CLIP = sample('en-wav16.wav');
const BEAT_MS = 500;
/** More than may pass without a word. */
const SILENT_BEATS = 25;

describe('Native code that hangs in the engine’s process', function () {
  this.timeout(120_000);
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-hang-'));
  const fifo = join(directory, 'fifo');
  const timers = new ManualTimers();
  /** Processes that are not ready yet, or have a ping to answer. */
  const [starting, owing] = [new Set<symbol>(), new Set<symbol>()];
  let deaths: { reason: string; how: string }[];
  let supervisor: EngineSupervisor;
  let engine: RemoteSpeechEngine;

  const listening = (start: StartChild): StartChild => {
    return (events) => {
      const name = Symbol('process');
      starting.add(name);
      const child = start({
        message: (received, bytes) => {
          if (received.kind === 'ready') starting.delete(name);
          if (received.kind === 'pong') owing.delete(name);
          events.message(received, bytes);
        },
        exit: (how) => {
          for (const names of [starting, owing]) names.delete(name);
          events.exit(how);
        },
      });
      return {
        pid: child.pid,
        send: (message) => {
          if (message.kind === 'ping') owing.add(name);
          child.send(message);
        },
        kill: () => child.kill(),
      };
    };
  };

  before(async () => {
    execFileSync('mkfifo', [fifo]);
    const environment = { VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1', VERBATIM_ACCEL: 'off' };
    const config = readConfig(environment, packageRoot);
    const { modelsDir } = config;
    const manifest = readManifest(packageRoot, modelsDir);
    const settings = { config, roots: { packageRoot, modelsDir }, manifest, env: null, device: null };
    const main = join(__dirname, '..', '..', 'support', 'hanging-engine.ts');
    supervisor = new EngineSupervisor({
      start: listening(forking({ main, env: { ...process.env } as Record<string, string>, niceness: 0 })),
      settings: () => settings,
      timers,
      observer: {
        engineDied: (death) => deaths.push(death),
        engineRefused: () => undefined,
        measured: () => undefined,
      },
    });
    const info = await supervisor.start();
    engine = new RemoteSpeechEngine({
      ...{ process: supervisor, info, quarantine: new Quarantine(() => 0) },
    });
  });
  beforeEach(() => (deaths = []));
  after(async () => {
    await supervisor.close();
    rmSync(directory, { recursive: true });
  });

  const recognise = (path: string, accountId: string): Promise<Transcript> =>
    measureAndTranscribe(engine, { path, accountId, language: 'en' });
  /** The clip, at which the process hangs. */
  function hanging(name: string, how: Omit<Hang, 'fifo'>): string {
    const path = join(directory, name);
    copyFileSync(CLIP.path, path);
    writeFileSync(hangPath(path), JSON.stringify({ ...how, fifo }));
    return path;
  }
  /**
   * Lets time pass as fast as the slowest of the processes answers, and none while one starts: it runs out for what
   * hangs alone.
   */
  async function beatUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      timers.pass(BEAT_MS);
      await setImmediate();
      await until(() => starting.size + owing.size === 0 || isOver());
    }
  }

  it('on a thread of its pool is ended, and transcribes the file in its next process', async () => {
    const path = hanging('worker.wav', { where: 'worker', once: true });
    const asked = [path, CLIP.path, CLIP.path].map((one, index) => recognise(one, `account ${index}`));
    const [, ...others] = asked;
    for (const { text } of await Promise.all(others)) expect(text).to.equal(CLIP.text);
    await beatUntil(() => deaths.length > 0);
    expect((await asked[0])?.text).to.equal(CLIP.text);
    expect(deaths.map(({ reason }) => reason)).to.deep.equal(['unresponsive']);
    expect(deaths[0]?.how).to.contain('its openAudio() did not come back');
  });

  it('in its event loop is ended, too', async () => {
    const path = hanging('loop.wav', { where: 'loop', once: true });
    const asked = recognise(path, 'one');
    const other = recognise(CLIP.path, 'another');
    await until(() => !existsSync(hangPath(path)));
    timers.pass(SILENT_BEATS * BEAT_MS);
    await until(() => deaths.length > 0);
    for (const { text } of await Promise.all([asked, other])) expect(text).to.equal(CLIP.text);
    expect(deaths.map(({ reason }) => reason)).to.deep.equal(['unresponsive']);
    expect(deaths[0]?.how).to.contain('it did not answer 20 pings');
  });

  it('each time is the fault of the file, which is refused; others are transcribed beside it', async () => {
    const path = hanging('always.wav', { where: 'worker', once: false });
    let error: unknown;
    let recognised = 0;
    recognise(path, 'one').catch((failed: unknown) => (error = failed));
    void recognise(CLIP.path, 'another').then(() => (recognised += 1));
    await until(() => recognised === 1);
    await beatUntil(() => error !== undefined);
    expect(error).to.be.instanceOf(VerbatimError).and.include({ code: 'internal_error' });
    expect(deaths.map(({ reason }) => reason)).to.deep.equal(['unresponsive', 'unresponsive', 'unresponsive']);
    expect((await recognise(CLIP.path, 'another')).text).to.equal(CLIP.text);
  });
});
