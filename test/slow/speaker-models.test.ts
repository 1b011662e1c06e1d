/** Any bytes as a model file: a clear answer, and the next file is loaded. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError } from '../../src/engine/native-errors.js';
import { forking } from '../../src/engine/process/child.js';
import { Supervisor } from '../../src/engine/process/supervisor.js';
import { embeddingGraph, segmentationGraph } from '../engine/speakers/tones.js';
import { Mulberry32 } from '../support/random.js';
import { onnxFile } from '../support/onnx.js';
import type { ModelCalls } from './model-process.js';

const FILES = 500;

describe('Speaker models of any bytes', function () {
  this.timeout(1_800_000);

  it(`${FILES} mutated files end in an answer each, and none takes another's with it`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-models-'));
    const deaths: string[] = [];
    const supervised = new Supervisor<ModelCalls>({
      ...{ name: 'the model process', settings: () => null, idleMs: 600_000 },
      limits: { periodMs: 2000, silentPingsBeforeReady: 15, silentPings: 15, memoryBytes: 2 ** 31 },
      start: forking({ main: join(__dirname, 'model-process.ts'), env: {}, niceness: 10 }),
      fatalError: (how) => new EngineError('internal_error', how),
      observer: { died: ({ how }) => deaths.push(how) },
    });
    const outcomes: Record<string, number> = {};
    const random = new Mulberry32(14);
    const good = [segmentationGraph(), embeddingGraph()].map((graph) => onnxFile(graph));
    const path = join(directory, 'model.onnx');
    const answer = async (bytes: Uint8Array, kind: 'segmentation' | 'embedding'): Promise<string> => {
      writeFileSync(path, bytes);
      return supervised.call('load', { request: () => ({ path, kind }), limitMs: 60_000 }).then(
        () => 'ran',
        (error: unknown) => {
          expect(error).to.be.instanceOf(EngineError);
          return (error as EngineError).code;
        },
      );
    };
    try {
      for (let index = 0; index < FILES; index++) {
        const which = index % 2;
        const bytes = mutated(good[which]!, random);
        const code = await answer(bytes, which === 0 ? 'segmentation' : 'embedding');
        outcomes[code] = (outcomes[code] ?? 0) + 1;
      }
      expect(await answer(good[0]!, 'segmentation')).to.equal('ran');
    } finally {
      await supervised.close();
      rmSync(directory, { recursive: true });
    }
    console.log(`      ${JSON.stringify(outcomes)}, ${deaths.length} processes died`);
    expect(Object.keys(outcomes)).to.have.members(
      Object.keys(outcomes).filter((code) => ['ran', 'invalid_model', 'internal_error'].includes(code)),
    );
    expect(outcomes['invalid_model']).to.be.above(FILES / 4);
  });
});

/** Cut, with bytes changed, or with a stretch of it doubled or left out. */
function mutated(file: Buffer, random: Mulberry32): Buffer {
  const place = (): number => Math.floor(random.next() * file.length);
  const bytes = Buffer.from(file);
  const way = Math.floor(random.next() * 4);
  if (way === 0) return bytes.subarray(0, place());
  if (way === 1) return Buffer.concat([bytes.subarray(0, place()), bytes.subarray(place())]);
  // Most of the file are weights: the first and last bytes say what they are for.
  const near = (): number => Math.floor(random.next() ** 4 * file.length);
  for (let count = 0; count < 1 + 8 * random.next(); count++)
    bytes[random.next() < 0.5 ? near() : file.length - 1 - near()] = Math.floor(random.next() * 256);
  return bytes;
}
