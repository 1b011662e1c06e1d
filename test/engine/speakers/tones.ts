/** People who hum one tone each, and models of the published forms that recognise who hums. */
import { writeSignal } from '../../support/audio-files.js';
import { type OnnxGraph, type OnnxNode, type OnnxTensor } from '../../support/onnx.js';
import type { SpeakerTurn } from '../../../src/engine/speakers/speaker-turn.js';

/** The turns of a file in which one person hums for six seconds, and then another. */
export const HUMMED = [
  { startSeconds: 0, endSeconds: 6, speaker: 'S1' },
  { startSeconds: 6, endSeconds: 12, speaker: 'S2' },
];

const RATE = 16_000;
const FRAME = 320;
/** Hz: whole periods in a frame. */
const TONES = [200, 450, 800, 1250, 1700, 2300, 3000, 3900];
const LOUDNESS = 0.2;

/** Everybody's hum in these turns, by S1, S2, …: each the tone of that number. */
export function hummed(turns: readonly SpeakerTurn[], seconds: number): Float32Array {
  const samples = new Float32Array(seconds * RATE);
  for (const { startSeconds, endSeconds, speaker } of turns) {
    const tone = TONES[Number(speaker.slice(1)) - 1] ?? 0;
    for (let index = startSeconds * RATE; index < endSeconds * RATE; index++)
      samples[index]! += LOUDNESS * Math.sin((2 * Math.PI * tone * index) / RATE);
  }
  return samples;
}

/** The same as a WAV file. */
export function writeHum(path: string, turns: readonly SpeakerTurn[], seconds: number): void {
  const samples = hummed(turns, seconds);
  writeSignal(path, (time) => samples[Math.round(time * RATE)] ?? 0, seconds);
}

/** Powers of so many tones: [n, 1, samples] -> "power" [n, tones, frames]. */
function powers(tones: readonly number[]): { nodes: OnnxNode[]; weights: OnnxTensor[] } {
  const waves = tones.flatMap((tone) =>
    [Math.cos, Math.sin].map((wave) =>
      Array.from({ length: FRAME }, (_, index) => (2 / FRAME) * wave((2 * Math.PI * tone * index) / RATE)),
    ),
  );
  const pairs = tones.map((_, tone) => waves.map((__, wave) => (Math.floor(wave / 2) === tone ? 1 : 0)));
  return {
    nodes: [
      { type: 'Conv', inputs: ['samples', 'waves'], output: 'parts', attributes: { strides: [FRAME] } },
      { type: 'Mul', inputs: ['parts', 'parts'], output: 'squares' },
      { type: 'Conv', inputs: ['squares', 'pairs'], output: 'power' },
    ],
    weights: [
      { name: 'waves', dims: [waves.length, 1, FRAME], values: waves.flat() },
      { name: 'pairs', dims: [tones.length, waves.length, 1], values: pairs.flat() },
    ],
  };
}

const INPUT = { name: 'samples', shape: ['n', 1, 'length'] };

/** Of the form of pyannote-segmentation-3.0; recognises the first three tones. */
export function segmentationGraph(): OnnxGraph {
  const { nodes, weights } = powers(TONES.slice(0, 3));
  // A tone alone is at LOUDNESS^2 = 0.04: class scores 40; two: 80 - 20; nobody: 10.
  const rows = [0, 1, 2].map((tone) =>
    [[], [0], [1], [2], [0, 1], [0, 2], [1, 2]].map((members) => (members.includes(tone as never) ? 1000 : 0)),
  );
  return {
    input: INPUT,
    output: { name: 'classes', shape: ['n', 'frames', 7] },
    nodes: [
      ...nodes,
      { type: 'Transpose', inputs: ['power'], output: 'frames', attributes: { perm: [0, 2, 1] } },
      { type: 'MatMul', inputs: ['frames', 'rows'], output: 'products' },
      { type: 'Add', inputs: ['products', 'offsets'], output: 'scores' },
      { type: 'LogSoftmax', inputs: ['scores'], output: 'classes', attributes: { axis: -1 } },
    ],
    weights: [
      ...weights,
      { name: 'rows', dims: [3, 7], values: rows.flat() },
      { name: 'offsets', dims: [7], values: [10, 0, 0, 0, -20, -20, -20] },
    ],
    facts: {
      ...{
        sample_rate: RATE,
        window_size: 10 * RATE,
        num_speakers: 3,
        powerset_max_classes: 2,
        num_classes: 7,
      },
      ...{ receptive_field_size: FRAME, receptive_field_shift: FRAME },
    },
  };
}

/** Which tones, and how much of each. */
export function embeddingGraph(): OnnxGraph {
  const { nodes, weights } = powers(TONES);
  return {
    input: INPUT,
    output: { name: 'embedding', shape: ['n', TONES.length] },
    nodes: [
      ...nodes,
      { type: 'ReduceMean', inputs: ['power'], output: 'embedding', attributes: { axes: [2], keepdims: 0 } },
    ],
    weights,
    facts: { sample_rate: RATE, output_dim: TONES.length, min_samples: RATE / 2 },
  };
}
