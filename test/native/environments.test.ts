/** The addon in worker threads, twice in one process, and in processes that end in the middle of work. */
import { spawn } from 'node:child_process';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import type { NativeBinding } from '../../src/engine/binding.js';
import {
  ADDON,
  binding,
  ENDLESS_WORK,
  inDirectory,
  loadModel,
  MODEL,
  POLICY,
  samplePath,
  windowOf,
  writeLongWav,
} from './support.js';

/** Plain JavaScript for a thread or process of its own: `say` gets a message out, `slot` and `window` are ready. */
function script(clip: string, body: string): string {
  return `
    const { parentPort } = require('node:worker_threads');
    const say = (message) => (parentPort ? parentPort.postMessage(message) : process.stdout.write(message));
    const binding = require(${JSON.stringify(ADDON)});
    (async () => {
      const model = await binding.loadSpeechModel(${JSON.stringify(MODEL)}, { device: 'cpu' });
      const slot = await model.createSlot({ threads: 1 });
      const reader = await binding.openAudio(${JSON.stringify(clip)}, ${JSON.stringify(POLICY)});
      const window = await reader.nextWindow();
      ${body}
    })();`;
}

const TRANSCRIBE = `
  const { segments } = await slot.transcribe(window, { language: 'en', ownLength: true });
  say(segments.map((segment) => segment.text).join('').trim());`;

/** Says so when a thread has taken it up. libuv's pool goes first come, first served. */
const BEGIN_ENDLESS_WORK = `
  slot.transcribe(window, ${JSON.stringify(ENDLESS_WORK)}).catch(() => {});
  await require('node:fs/promises').stat('.');
  say('begun');`;

/** Says so when the work is queued; it ends by itself. */
const BEGIN_SHORT_WORK = `
  slot.transcribe(window, { language: 'en', ownLength: true }).catch(() => {});
  say('begun');`;

async function withLongClip<T>(body: (clip: string) => Promise<T>): Promise<T> {
  return inDirectory(async (directory) => {
    const clip = join(directory, 'long.wav');
    writeLongWav(clip, 30);
    return body(clip);
  });
}

async function transcribeWith(addon: NativeBinding): Promise<string> {
  const model = await addon.loadSpeechModel(MODEL, { device: 'cpu' });
  const slot = await model.createSlot({ threads: 1 });
  const reader = await addon.openAudio(samplePath('en-wav16.wav'), POLICY);
  const window = await windowOf(reader);
  const { segments } = await slot.transcribe(window, { language: 'en', ownLength: true });
  slot.close();
  model.close();
  return segments.map((segment) => segment.text.trim()).join(' ');
}

describe('Addon: environments', () => {
  it('works in several worker threads at once, and beside them', async () => {
    const code = script(samplePath('en-wav16.wav'), TRANSCRIBE);
    const workers = [1, 2, 3].map(() => new Worker(code, { eval: true }));
    const exits = workers.map((worker) => once(worker, 'exit'));
    const texts = await Promise.all([
      transcribeWith(binding),
      ...workers.map(async (worker) => ((await once(worker, 'message')) as [string])[0]),
    ]);
    for (const text of texts) expect(text).to.equal('Hello Emma, this is Laura.');
    for (const [code] of (await Promise.all(exits)) as [number][]) expect(code).to.equal(0);
  });

  it('can be loaded as a second copy in one process', async () => {
    await inDirectory(async (directory) => {
      const copy = join(directory, 'copy.node');
      copyFileSync(ADDON, copy);
      // eslint-disable-next-line @typescript-eslint/no-require-imports
      const second = require(copy) as NativeBinding;
      expect(second).to.not.equal(binding);
      const texts = await Promise.all([transcribeWith(binding), transcribeWith(second)]);
      expect(texts).to.deep.equal(['Hello Emma, this is Laura.', 'Hello Emma, this is Laura.']);
    });
  });

  it('lets a worker thread that is terminated finish its running call, and harms nobody', async () => {
    const code = script(samplePath('en-wav16.wav'), BEGIN_SHORT_WORK);
    for (let round = 0; round < 3; round++) {
      const worker = new Worker(code, { eval: true });
      await once(worker, 'message');
      expect(await worker.terminate()).to.equal(1);
    }
    expect(await transcribeWith(binding)).to.equal('Hello Emma, this is Laura.');
  });

  it('aborts what runs when the process exits, and keeps the exit code', async () => {
    await withLongClip(async (clip) => {
      const code = script(clip, `${BEGIN_ENDLESS_WORK} setTimeout(() => process.exit(7), 100);`);
      const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
      expect({ status, signal }).to.deep.equal({ status: 7, signal: null });
    });
  });

  it('holds the process until a running call is done, and no longer', async () => {
    const code = script(samplePath('en-wav16.wav'), TRANSCRIBE);
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [text] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    expect(text).to.equal('Hello Emma, this is Laura.');
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect({ status, signal }).to.deep.equal({ status: 0, signal: null });
  });

  it('names its work for async_hooks', async () => {
    const types = new Set<string>();
    const hook = createHook({ init: (_id, type) => void types.add(type) }).enable();
    const model = await loadModel();
    const slot = await model.createSlot({ threads: 1 });
    const reader = await binding.openAudio(samplePath('en-wav16.wav'), POLICY);
    await reader.measure();
    const window = await windowOf(reader);
    await slot.transcribe(window, { language: 'en', ownLength: true });
    hook.disable();
    slot.close();
    model.close();
    expect([...types].filter((type) => type.startsWith('verbatim.')).sort()).to.deep.equal([
      'verbatim.createSlot',
      'verbatim.loadSpeechModel',
      'verbatim.measure',
      'verbatim.nextWindow',
      'verbatim.openAudio',
      'verbatim.transcribe',
    ]);
  });
});
