/**
 * The features of the published embeddings, compared with torchaudio 0.13's kaldi.fbank and against torch.stft with its Slaney
 * filters.
 */
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddingModel } from '../../../src/engine/speakers/embedding-model.js';
import { PowerSpectrum } from '../../../src/engine/speakers/features/fourier.js';
import { KaldiFeatures } from '../../../src/engine/speakers/features/kaldi-features.js';
import { NemoFeatures } from '../../../src/engine/speakers/features/nemo-features.js';
import { loadOnnxModel } from '../../../src/engine/speakers/onnx-model.js';
import { packageRoot } from '../../../src/package-root.js';
import { onnxFile, type OnnxGraph } from '../../support/onnx.js';

const RATE = 16_000;

/** Of the signal below: [13 frames][80] twice, and [80][16 frames]. */
const REFERENCE = JSON.parse(
  readFileSync(join(packageRoot, 'test', 'fixtures', 'speaker-features.json'), 'utf8'),
) as Record<'hamming' | 'povey' | 'nemo', number[][]>;

/** Two tones, noise and a constant. */
function signal(count: number): Float32Array {
  let state = 12_345;
  return Float32Array.from({ length: count }, (_, index) => {
    state = Number((BigInt(state) * 1_103_515_245n + 12_345n) % 2n ** 31n);
    const tone = (hertz: number): number => Math.sin((2 * Math.PI * hertz * index) / RATE);
    return 0.3 * tone(220) + 0.1 * tone(2750) + 0.05 * (state / 2 ** 30 - 1) + 0.02;
  });
}

function expectAlike(found: Float32Array, wanted: readonly number[], tolerance: number): void {
  expect(found).to.have.length(wanted.length);
  const furthest = wanted.reduce((most, value, index) => Math.max(most, Math.abs(value - found[index]!)), 0);
  expect(furthest).to.be.below(tolerance);
}

describe('Features of voices', () => {
  it('stand on a power spectrum that is the sum of its definition', () => {
    const frame = Float64Array.from(signal(48));
    const power = new Float64Array(33);
    new PowerSpectrum(64).compute(frame, power);
    for (const [frequency, found] of power.entries()) {
      const angle = (index: number): number => (2 * Math.PI * frequency * index) / 64;
      const real = frame.reduce((sum, value, index) => sum + value * Math.cos(angle(index)), 0);
      const imaginary = frame.reduce((sum, value, index) => sum + value * Math.sin(angle(index)), 0);
      expect(found).to.be.closeTo(real ** 2 + imaginary ** 2, 1e-9);
    }
  });

  it("are Kaldi's, with the window of WeSpeaker and with that of 3D-Speaker", () => {
    const hamming = new KaldiFeatures({ window: 'hamming', scale: 32_768 }).compute(signal(2400));
    expectAlike(hamming, REFERENCE.hamming.flat(), 2e-3);
    const povey = new KaldiFeatures({ window: 'povey', scale: 1 }).compute(signal(2400));
    expectAlike(povey, REFERENCE.povey.flat(), 2e-3);
    expect(new KaldiFeatures({ window: 'povey', scale: 1 }).compute(signal(399))).to.have.length(0);
  });

  it("are NeMo's, in sixteens of frames of which the last are empty", () => {
    const { values, frames, length } = new NemoFeatures(80).compute(signal(2400));
    expect({ frames, length }).to.deep.equal({ frames: 16, length: 16 });
    expectAlike(values, REFERENCE.nemo.flat(), 5e-3);
    const longer = new NemoFeatures(80).compute(signal(2560));
    expect(longer).to.include({ frames: 32, length: 17 });
    const row = [...longer.values.subarray(0, 32)];
    expect(row.slice(17)).to.deep.equal(Array(15).fill(0));
    expect(row.reduce((sum, value) => sum + value, 0)).to.be.closeTo(0, 1e-4);
  });

  it('are finite and even of digital silence', () => {
    const silence = new Float32Array(2400);
    const kaldi = new KaldiFeatures({ window: 'hamming', scale: 32_768 }).compute(silence);
    expect(new Set(kaldi)).to.deep.equal(new Set([0]));
    expect(new Set(new NemoFeatures(80).compute(silence).values)).to.deep.equal(new Set([0]));
  });
});

/** Of the form of WeSpeaker's and 3D-Speaker's: [n, frames, 80] -> the variance of each band. */
function kaldiGraph(facts: OnnxGraph['facts']): OnnxGraph {
  return {
    input: { name: 'feats', shape: ['B', 'T', 80] },
    output: { name: 'embs', shape: ['B', 80] },
    nodes: [
      { type: 'Mul', inputs: ['feats', 'feats'], output: 'squares' },
      { type: 'ReduceMean', inputs: ['squares'], output: 'embs', attributes: { axes: [1], keepdims: 0 } },
    ],
    weights: [],
    facts: { sample_rate: RATE, output_dim: 80, ...facts },
  };
}

/**
 * Of the form of TitaNet's: [n, 80, frames] and their number -> people, and the mean square of each band and that
 * number.
 */
function nemoGraph(facts: OnnxGraph['facts'] = {}): OnnxGraph {
  return {
    input: { name: 'audio_signal', shape: ['n', 80, 'frames'] },
    moreInputs: [{ name: 'length', shape: ['n'], isInteger: true }],
    output: { name: 'logits', shape: ['n', 'frames'] },
    moreOutputs: [{ name: 'embs', shape: ['n', 80] }],
    nodes: [
      {
        type: 'ReduceMax',
        inputs: ['audio_signal'],
        output: 'logits',
        attributes: { axes: [1], keepdims: 0 },
      },
      { type: 'Mul', inputs: ['audio_signal', 'audio_signal'], output: 'squares' },
      { type: 'ReduceMean', inputs: ['squares'], output: 'means', attributes: { axes: [2], keepdims: 0 } },
      { type: 'Cast', inputs: ['length'], output: 'count', attributes: { to: 1 } },
      { type: 'Add', inputs: ['means', 'count'], output: 'embs' },
    ],
    weights: [],
    facts: {
      ...{ framework: 'nemo', sample_rate: RATE, output_dim: 80, feat_dim: 80, window_type: 'hann' },
      ...{ window_size_ms: 25, window_stride_ms: 10, feature_normalize_type: 'per_feature', ...facts },
    },
  };
}

const WESPEAKER = { framework: 'wespeaker', normalize_samples: 0 };
const THREE_D = { framework: '3d-speaker', normalize_samples: 1, feature_normalize_type: 'global-mean' };

function direction(values: readonly number[]): number[] {
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

/** Of each band of [frames][bands]. */
function meanSquares(frames: readonly number[][]): number[] {
  return frames[0]!.map((_, band) => frames.reduce((sum, row) => sum + row[band]! ** 2, 0) / frames.length);
}

describe('Published embeddings', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-embedding-'))));
  after(() => rmSync(directory, { recursive: true }));

  async function embedded(graph: OnnxGraph, samples: Float32Array): Promise<Float32Array> {
    const path = join(directory, 'model.onnx');
    writeFileSync(path, onnxFile(graph));
    return embeddingModel(await loadOnnxModel(path, 1)).embed(samples);
  }

  it('of WeSpeaker and 3D-Speaker get the features that their framework was trained on', async () => {
    const wespeaker = await embedded(kaldiGraph(WESPEAKER), signal(2400));
    expectAlike(wespeaker, direction(meanSquares(REFERENCE.hamming)), 1e-3);
    const threeD = await embedded(kaldiGraph(THREE_D), signal(2400));
    expectAlike(threeD, direction(meanSquares(REFERENCE.povey)), 1e-3);
    expect(Math.max(...threeD.map((value, index) => Math.abs(value - wespeaker[index]!)))).to.be.above(0.01);
  });

  it('of NeMo get theirs with the number of frames, and reports the voice in the second output', async () => {
    const found = await embedded(nemoGraph(), signal(2560));
    const { values } = new NemoFeatures(80).compute(signal(2560));
    const rows = Array.from({ length: 80 }, (_, band) => values.subarray(32 * band, 32 * band + 32));
    const wanted = rows.map((row) => row.reduce((sum, value) => sum + value ** 2, 0) / 32 + 17);
    expectAlike(found, direction(wanted), 1e-5);
  });

  it('are refused by name where their kind is not known', async () => {
    const refused = async (graph: OnnxGraph): Promise<string> =>
      embedded(graph, signal(2400)).then(
        () => 'it runs',
        (error: unknown) => (error as Error).message,
      );
    const framework = await refused(kaldiGraph({ framework: 'speechbrain' }));
    expect(framework).to.contain('"speechbrain" for framework; allowed: wespeaker, 3d-speaker, nemo');
    expect(await refused(kaldiGraph({ framework: 'wespeaker' }))).to.contain('lacks normalize_samples');
    expect(await refused(kaldiGraph({ ...THREE_D, feature_normalize_type: 'none' }))).to.contain('global-mean');
    expect(await refused(nemoGraph({ window_type: 'hamming' }))).to.contain('allowed: hann');
    expect(await refused(nemoGraph({ window_stride_ms: 20 }))).to.contain('window_stride_ms');
    expect(await refused(nemoGraph({ feat_dim: 64 }))).to.contain('allowed: [n, 64, frames]');
    expect(await refused({ ...nemoGraph(), facts: kaldiGraph(WESPEAKER).facts })).to.contain(
      'allowed: [n, frames, 80]',
    );
  });
});
