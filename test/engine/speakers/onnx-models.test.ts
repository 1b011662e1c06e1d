/** The real runtime on small files of the forms that are published. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineError } from '../../../src/engine/native-errors.js';
import { diarize } from '../../../src/engine/speakers/diarization.js';
import type { SpeakerModels } from '../../../src/engine/speakers/embedded-window.js';
import { embeddingModel } from '../../../src/engine/speakers/embedding-model.js';
import { onnxFacts } from '../../../src/engine/speakers/onnx-facts.js';
import { loadOnnxModel } from '../../../src/engine/speakers/onnx-model.js';
import { segmentationModel } from '../../../src/engine/speakers/segmentation-model.js';
import type { SpeakerTurn } from '../../../src/engine/speakers/speaker-turn.js';
import { onnxFile, type OnnxGraph } from '../../support/onnx.js';
import { embeddingGraph, hummed, segmentationGraph } from './tones.js';

const RATE = 16_000;

describe('Speaker models', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-onnx-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  function written(content: Uint8Array | OnnxGraph): string {
    const path = join(directory, 'model.onnx');
    writeFileSync(path, content instanceof Uint8Array ? content : onnxFile(content));
    return path;
  }
  const load = async (content: Uint8Array | OnnxGraph): ReturnType<typeof loadOnnxModel> =>
    loadOnnxModel(written(content), 1);
  const loaded = async (): Promise<SpeakerModels> => ({
    segmentation: segmentationModel(await load(segmentationGraph())),
    embedding: embeddingModel(await load(embeddingGraph())),
  });
  const refusal = async (work: () => Promise<unknown>): Promise<string> => {
    const error = await work().then(
      () => null,
      (failure: unknown) => failure as EngineError,
    );
    expect(error).to.include({ code: 'invalid_model' });
    return error?.message ?? '';
  };

  it('say what they are by their facts', () => {
    expect(Object.fromEntries(onnxFacts(onnxFile(embeddingGraph())))).to.deep.equal({
      ...{ sample_rate: '16000', output_dim: '8', min_samples: '8000' },
    });
  });

  it('report who speaks in a window', async () => {
    const { segmentation } = await loaded();
    expect(segmentation).to.deep.include({ windowSamples: 10 * RATE, grid: { shift: 320, size: 320 } });
    const samples = hummed([turn('S2', 0.2, 0.4), turn('S3', 0.3, 0.5)], 1);
    const { start, frames, activity } = await segmentation.segment(samples, 4000);
    expect({ start, frames }).to.deep.equal({ start: 4000, frames: 50 });
    const spoken = [...activity].flatMap((value, index) => (value > 127 ? [index] : []));
    expect(spoken).to.deep.equal([...range(60, 70), ...range(115, 125)]);
  });

  it('distinguish voices, by vectors of length 1', async () => {
    const { embedding } = await loaded();
    const vector = await embedding.embed(hummed([turn('S5', 0, 1)], 1));
    expect([...vector].map((value) => Math.round(100 * value))).to.deep.equal([0, 0, 0, 0, 100, 0, 0, 0]);
    expect([...(await embedding.embed(new Float32Array(RATE)))]).to.deep.equal(Array(8).fill(0));
  });

  describe('together', () => {
    const OPTIONS = { threshold: 0.5, minSeconds: 1, minSpeakers: 1, maxSpeakers: 20, stepSeconds: 2.5 };

    async function recognised(samples: Float32Array, signal = new AbortController().signal): Promise<SpeakerTurn[]> {
      let place = 0;
      const read = (count: number): Promise<Float32Array> => Promise.resolve(samples.slice(place, (place += count)));
      return diarize(read, await loaded(), OPTIONS, signal);
    }

    it('report who speaks when in a conversation, over many windows, at the same time, to the frame', async () => {
      const turns = [
        turn('S1', 0.5, 6),
        turn('S2', 5, 11.5),
        turn('S1', 13, 16),
        turn('S3', 16.5, 24),
        turn('S2', 20, 22),
        turn('S1', 27, 33.3),
      ];
      expect(await recognised(hummed(turns, 34))).to.deep.equal(turns);
    });

    it('find no speaker in silence, and answer for a tenth of a second as well', async () => {
      expect(await recognised(new Float32Array(25 * RATE))).to.deep.equal([]);
      expect(await recognised(new Float32Array(0))).to.deep.equal([]);
      expect(await recognised(new Float32Array(1600))).to.deep.equal([]);
      expect(await recognised(hummed([turn('S1', 0, 0.3)], 0.3))).to.deep.equal([turn('S1', 0, 0.3)]);
    });

    it('end with the signal', async () => {
      const abort = new AbortController();
      abort.abort(new Error('hung up'));
      const error = await recognised(hummed([turn('S1', 0, 3)], 3), abort.signal).catch((reason: unknown) => reason);
      expect(error).to.include({ message: 'hung up' });
    });
  });

  describe('that are not what they should be', () => {
    const changed = (facts: Record<string, string | number>): OnnxGraph => {
      const graph = segmentationGraph();
      return { ...graph, facts: { ...graph.facts, ...facts } };
    };

    for (const [fact, value, reported] of [
      ['sample_rate', 8000, 'has "8000" for sample_rate; allowed: 16000 to 16000'],
      ['window_size', '1e9', 'has "1e9" for window_size'],
      ['window_size', -5, 'has "-5" for window_size'],
      ['receptive_field_shift', 0, 'receptive_field_shift'],
      ['num_speakers', 5, 'allowed: 1 to 4'],
      ['powerset_max_classes', 4, 'allowed: 1 to 3'],
    ] as const) {
      it(`are refused: ${fact} of ${value}`, async () => {
        expect(await refusal(async () => segmentationModel(await load(changed({ [fact]: value }))))).to.contain(
          reported,
        );
      });
    }

    it('are refused without facts, with another input, and with another output', async () => {
      const graph = segmentationGraph();
      const refused = (made: OnnxGraph): Promise<string> =>
        refusal(async () => segmentationModel(await load(made)).segment(new Float32Array(RATE), 0));
      expect(await refused({ ...graph, facts: {} })).to.contain('lacks sample_rate');
      const input = { name: 'samples', shape: ['n', 80, 'length'] };
      const weights = graph.weights.map((weight) =>
        weight.name === 'waves' ? { ...weight, dims: [6, 80, 4] } : weight,
      );
      expect(await refused({ ...graph, input, weights })).to.contain('takes samples [n, 80, length]');
      expect(await refused(changed({ num_speakers: 2 }))).to.contain('gives [1, 50, 7]; allowed: [1, frames, 4]');
      const made = embeddingGraph();
      const short = { ...made, facts: { ...made.facts, output_dim: 9 } };
      const embed = async (): Promise<unknown> => embeddingModel(await load(short)).embed(new Float32Array(RATE));
      expect(await refusal(embed)).to.contain('gives 8 numbers; it says 9');
    });

    it('are refused where they cannot be loaded, or cannot compute', async () => {
      expect(await refusal(() => load(Buffer.from('not a model at all')))).to.equal('The file is no ONNX model.');
      expect(await refusal(() => load(Buffer.alloc(0)))).to.equal('The file is no ONNX model.');
      const graph = embeddingGraph();
      const unknown = {
        ...graph,
        nodes: [...graph.nodes, { type: 'Frobnicate', inputs: ['power'], output: 'x' }],
      };
      expect(await refusal(() => load(unknown))).to.contain('does not run');
      const short = async (): Promise<unknown> => embeddingModel(await load(graph)).embed(new Float32Array(10));
      expect(await refusal(short)).to.contain('does not run');
      const missing = await loadOnnxModel(join(directory, 'missing'), 1).catch((error: unknown) => error);
      expect(missing).to.include({ code: 'io_error' });
    });
  });
});

function turn(speaker: string, startSeconds: number, endSeconds: number): SpeakerTurn {
  return { startSeconds, endSeconds, speaker };
}

function range(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, index) => begin + index);
}
