import { spawn } from 'node:child_process';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import type { AlignableRecogniser, Recogniser, RecogniserOptions, WindowInFlight } from '../../src/engine/binding.js';
import {
  ADDON,
  binding,
  collectGarbage,
  decodeAlone,
  ENDLESS_WORK,
  failure,
  firstWindow,
  MODEL,
  POLICY,
  samplePath,
} from './support.js';

const CLIP = samplePath('en-wav16.wav');
const OPTIONS = { language: 'en', ownLength: true };

function load(options: Partial<RecogniserOptions> = {}): Promise<AlignableRecogniser> {
  return binding.loadRecogniser(MODEL, { device: 'cpu', ...options });
}

async function decodedBy(model: Recogniser): Promise<string> {
  const audio = await firstWindow(CLIP);
  const segments = await decodeAlone(model, audio, OPTIONS);
  audio.release();
  return segments.map((segment) => segment.text.trim()).join(' ');
}

/** Plain JavaScript for a thread or process of its own, with a window in a batch. */
function script(options: object, body: string): string {
  return `
    const { parentPort } = require('node:worker_threads');
    const say = (message) => (parentPort ? parentPort.postMessage(message) : process.stdout.write(message));
    const binding = require(${JSON.stringify(ADDON)});
    (async () => {
      const model = await binding.loadRecogniser(${JSON.stringify(MODEL)}, { device: 'cpu' });
      const encoder = await model.createEncoder({ threads: 1 });
      const batch = await model.createBatch();
      const reader = await binding.openAudio(${JSON.stringify(CLIP)}, ${JSON.stringify(POLICY)});
      const window = model.openWindow(await reader.nextWindow(), ${JSON.stringify(options)});
      while (window.stage === 'encode') await encoder.advance(window);
      batch.add(window);
      ${body}
    })();`;
}

describe('Addon: Recogniser', () => {
  it('describes the model, and decodes in every type that it computes in', async () => {
    for (const compute of ['auto', 'int8', 'bfloat16', 'float32'] as const) {
      const model = await load({ compute });
      expect(model.info).to.include({ family: 'whisper', type: 'custom', device: 'cpu' });
      expect(model.longestWindowSeconds).to.equal(30);
      expect(await decodedBy(model), compute).to.equal('Hello Emma, this is Laura.');
      model.close();
    }
  });

  const wrongOptions: [unknown, string][] = [
    [undefined, 'options must be an object, got nothing.'],
    [{}, 'options.device is required.'],
    [{ device: 'cpu', accelerator: 'fast' }, 'options.accelerator must be "auto" or "float32" or "off", got "fast".'],
    [{ device: 'cpu', compute: 8 }, 'options.compute must be a string, got 8.'],
    [{ device: 'cpu', alignmentHeads: 1 }, 'options.alignmentHeads must be an array.'],
    [
      { device: 'cpu', alignmentHeads: [{ layer: 0, head: 0 }, [1, 2]] },
      'options.alignmentHeads[1].layer is required.',
    ],
    [{ device: 'cpu', alignmentHeads: [{ layer: 0, head: -1 }] }, 'options.alignmentHeads[0].head must be 0 or more.'],
  ];
  for (const [options, message] of wrongOptions) {
    it(`says "${message}"`, async () => {
      const error = await failure(binding.loadRecogniser(MODEL, options as RecogniserOptions));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument', message });
    });
  }

  it('aligns by the heads that it is given, and refuses those that the model does not have', async () => {
    const model = await load({ alignmentHeads: [{ layer: 0, head: 1 }] });
    const { layers, heads, alignment } = model.decoderHeads;
    model.close();
    expect(alignment).to.deep.equal([{ layer: 0, head: 1 }]);
    const error = await failure(load({ alignmentHeads: [{ layer: layers, head: 0 }] }));
    expect(error).to.include({ code: 'invalid_argument' });
    expect(error.message)
      .to.contain('alignmentHeads[0]')
      .and.to.contain(`heads 0 to ${heads - 1}`);
  });

  it('lays a known text along a window by any heads', async () => {
    const model = await load();
    const window = await firstWindow(CLIP);
    const { layers, heads, alignment } = model.decoderHeads;
    expect([layers, heads]).to.deep.equal([3, 3]);
    const headSets = [alignment, [{ layer: layers - 1, head: heads - 1 }]];
    const options = { text: ' Hello there.', language: 'en', ownLength: true, threads: 1, headSets };
    const { words, times } = await model.alignText(window, options);
    expect(words).to.deep.equal([' Hello', ' there.']);
    expect(times).to.have.length(2);
    for (const { startSeconds, endSeconds } of times) {
      expect(startSeconds).to.have.length(2);
      expect(startSeconds[0]).to.be.at.least(window.startSeconds);
      expect(startSeconds[1]).to.be.at.least(startSeconds[0]!);
      expect(endSeconds[1]).to.be.within(startSeconds[1]!, window.endSeconds);
    }
    model.close();
    expect(await failure(model.alignText(window, options))).to.include({ code: 'invalid_argument' });
    window.release();
  });

  it('refuses a type, a number of threads and a file that it does not have', async () => {
    const type = await failure(load({ compute: 'float16' as 'int8' }));
    expect(type).to.include({ code: 'invalid_argument' });
    expect(type.message).to.contain('"float16"').and.to.contain('bfloat16');
    const none = await failure(binding.loadRecogniser('nothing.bin', { device: 'cpu' }));
    expect(none).to.include({ code: 'io_error' });
    const model = await load();
    for (const threads of [0, 257, 1.5, '2', undefined]) {
      const error = await failure(model.createEncoder({ threads: threads as number }));
      expect(error).to.include({ code: 'invalid_argument' });
      expect(error.message).to.contain('threads');
    }
    const [encoder, audio] = [await model.createEncoder({ threads: 1 }), await firstWindow(CLIP)];
    const window = model.openWindow(audio, OPTIONS);
    for (const threads of [0, 257, 1.5, '2']) {
      const error = await failure(encoder.advance(window, { threads: threads as number }));
      expect(error).to.include({ code: 'invalid_argument' });
      expect(error.message).to.contain('threads');
    }
    expect(await failure(encoder.advance(window, 2 as unknown as object))).to.include({
      message: 'options must be an object, got 2.',
    });
    expect(window.stage).to.equal('encode');
    window.release();
    audio.release();
    for (const handle of [encoder, model]) handle.close();
  });

  it('encodes on as many threads as a unit is given, with one result, and keeps the memory of its own at rest', async () => {
    const model = await load({ compute: 'int8' });
    const encoder = await model.createEncoder({ threads: 1 });
    const batch = await model.createBatch();
    const audio = await firstWindow(CLIP);
    const held: number[] = [];
    const results: unknown[] = [];
    for (const options of [undefined, { threads: 3 }, {}, { threads: 2 }]) {
      const window = model.openWindow(audio, OPTIONS);
      while (window.stage === 'encode') await encoder.advance(window, options);
      batch.add(window);
      while (batch.size > 0) await batch.advance({ steps: 8, threads: options?.threads ?? 1 });
      results.push(window.result().segments);
      window.release();
      held.push(binding.heldBytes());
    }
    expect(new Set(results.map((result) => JSON.stringify(result)))).to.have.property('size', 1);
    expect(new Set(held)).to.have.property('size', 1);
    audio.release();
    for (const handle of [encoder, batch, model]) handle.close();
  });

  it('takes no other handle for one of its own', async () => {
    const model = await load();
    const encoder = await model.createEncoder({ threads: 1 });
    const batch = await model.createBatch();
    const audio = await firstWindow(CLIP);
    for (const wrong of [audio, {}, null] as unknown as WindowInFlight[]) {
      const message = 'window must be an object of the class WindowInFlight.';
      expect(await failure(encoder.advance(wrong)))
        .to.be.instanceOf(TypeError)
        .and.include({ message });
      expect(await failure(() => batch.add(wrong)))
        .to.be.instanceOf(TypeError)
        .and.include({ message });
    }
    for (const handle of [encoder, batch, model]) handle.close();
    audio.release();
  });

  it('has its memory on the account, a window in flight what it holds', async () => {
    await collectGarbage();
    const before = binding.heldBytes();
    const model = await load();
    expect(binding.heldBytes() - before).to.equal(model.info.memoryBytes);
    const encoder = await model.createEncoder({ threads: 1 });
    const audio = await firstWindow(CLIP);
    const window = model.openWindow(audio, OPTIONS);
    const opened = binding.heldBytes();
    while (window.stage === 'encode') await encoder.advance(window);
    const encoded = binding.heldBytes();
    expect(encoded).to.be.above(opened);
    window.abort();
    window.release();
    audio.release();
    expect(binding.heldBytes()).to.be.below(encoded);
    for (const handle of [encoder, model]) handle.close();
    expect(binding.heldBytes()).to.equal(before);
  });

  it('gives the memory of handles that JavaScript dropped back with the garbage', async () => {
    await collectGarbage();
    const before = binding.heldBytes();
    const drop = async (): Promise<void> => {
      const model = await load();
      const encoder = await model.createEncoder({ threads: 1 });
      const batch = await model.createBatch();
      const [one, two] = [1, 2].map(() => firstWindow(CLIP).then((audio) => model.openWindow(audio, OPTIONS)));
      const windows = [await one!, await two!];
      for (const window of windows) while (window.stage === 'encode') await encoder.advance(window);
      for (const window of windows) batch.add(window);
      await batch.advance({ steps: 2, threads: 1 });
      expect(binding.heldBytes()).to.be.above(before + model.info.memoryBytes);
    };
    await drop();
    await collectGarbage();
    await collectGarbage();
    expect(binding.heldBytes()).to.equal(before);
  });

  it('names its work for async_hooks', async () => {
    const types = new Set<string>();
    const hook = createHook({ init: (_id, type) => void types.add(type) }).enable();
    const model = await load();
    await decodedBy(model);
    hook.disable();
    model.close();
    expect([...types]).to.include.members([
      'verbatim.loadRecogniser',
      'verbatim.createEncoder',
      'verbatim.createBatch',
      'verbatim.encode',
      'verbatim.decode',
    ]);
  });

  it('aborts the steps that run when the process exits, and keeps the exit code', async () => {
    const body = `
      batch.advance({ steps: 1e9, threads: 1 }).catch(() => {});
      await require('node:fs/promises').stat('.');
      say('begun');
      setTimeout(() => process.exit(7), 100);`;
    const child = spawn(process.execPath, ['-e', script(ENDLESS_WORK, body)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect({ status, signal }).to.deep.equal({ status: 7, signal: null });
  });

  it('survives a worker thread that is terminated in the middle of steps', async () => {
    const body = `
      batch.advance({ steps: 4, threads: 1 }).catch(() => {});
      encoder.advance(model.openWindow(await (await binding.openAudio(${JSON.stringify(CLIP)}, ${JSON.stringify(POLICY)})).nextWindow(), ${JSON.stringify(OPTIONS)})).catch(() => {});
      say('begun');`;
    for (let round = 0; round < 3; round++) {
      const worker = new Worker(script(OPTIONS, body), { eval: true });
      await once(worker, 'message');
      expect(await worker.terminate()).to.equal(1);
    }
    const model = await load();
    expect(await decodedBy(model)).to.equal('Hello Emma, this is Laura.');
    model.close();
  });
});
