/** A Parakeet file with random weights: what it writes means nothing, and is the same on every machine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { importSpeech } from '../../src/service/model-store.js';
import { Mulberry32 } from './random.js';

const VOCABULARY = 60;
const STATE = 16;
const HEADS = 2;
const MELS = 16;
const FFT = 512;
const BINS = FFT / 2 + 1;
const CHANNELS = 4;
const KERNEL = 5;
const PREDICTION = 16;
const DURATIONS = [0, 1, 2, 3, 4];
const OUTPUTS = VOCABULARY + 1 + DURATIONS.length;
const F32 = 0;

/**
 * As whisper.cpp reads it: its header, filters, window, durations, pieces, and tensors in float32. It writes the words
 * in an order that means nothing; default: made-up ones, of no language.
 */
export function writeParakeetModel(path: string, { seed = 1, words = [] }: ParakeetOptions = {}): void {
  writeFileSync(path, Buffer.concat([...head(seed, words), ...tensors(seed)]));
}

/** Into a directory of models of its own: the environment that `serve` takes it with. */
export async function importParakeet(
  modelsDir: string,
  words: readonly string[] = [],
): Promise<Record<string, string>> {
  const path = join(modelsDir, 'source.bin');
  writeParakeetModel(path, { words });
  const env = { VERBATIM_MODELS_DIR: modelsDir, VERBATIM_MODEL: 'parakeet-small' };
  await importSpeech(
    path,
    { name: 'parakeet-small', translates: false, languages: ['en', 'fi'] },
    {
      config: readConfig(env, packageRoot),
      roots: { packageRoot, modelsDir },
      manifest: readManifest(packageRoot, modelsDir),
    },
  );
  return env;
}

export interface ParakeetOptions {
  seed?: number;
  words?: readonly string[];
}

function head(seed: number, words: readonly string[]): Buffer[] {
  const header = [VOCABULARY, 3000, STATE, HEADS, 1, MELS, F32, FFT, 8, CHANNELS, KERNEL, PREDICTION, 1];
  const filters = values(MELS * BINS, seed, ({ next }) => next * 0.02);
  const window = Array.from({ length: FFT }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / FFT));
  const pieces = Array.from({ length: VOCABULARY }, (_, number) => Buffer.from(pieceOf(number, words)));
  return [
    integers(0x67676d6c, ...header, DURATIONS.length, 4),
    integers(MELS, BINS),
    floats(filters),
    integers(FFT),
    floats(window),
    integers(...DURATIONS, VOCABULARY),
    ...pieces.flatMap((piece) => [integers(piece.length), piece]),
  ];
}

function pieceOf(number: number, words: readonly string[]): string {
  if (number < 3) return ['<unk>', '.', ','][number] ?? '';
  if (words.length > 0) return `▁${words[number % words.length]}`;
  return `${number % 3 === 0 ? '' : '▁'}w${number}`;
}

function tensors(seed: number): Buffer[] {
  const linear = (name: string, inputs: number, outputs: number): Tensor => [`${name}.weight`, inputs, outputs];
  const norm = (name: string): Tensor[] => [
    [`${name}.weight`, STATE],
    [`${name}.bias`, STATE],
  ];
  const convolution = (name: string, size: number, inputs: number): Tensor[] => [
    [`encoder.pre_encode.conv.${name}.weight`, size, size, inputs, CHANNELS],
    [`encoder.pre_encode.conv.${name}.bias`, 1, 1, CHANNELS, 1],
  ];
  const layer = 'encoder.layers.0';
  const feedForward = (number: number): Tensor[] => [
    ...norm(`${layer}.norm_feed_forward${number}`),
    linear(`${layer}.feed_forward${number}.linear1`, STATE, 4 * STATE),
    linear(`${layer}.feed_forward${number}.linear2`, 4 * STATE, STATE),
  ];
  const lstm = 'decoder.prediction.dec_rnn.lstm';
  const all: Tensor[] = [
    ...convolution('0', 3, 1),
    ...convolution('2', 3, 1),
    ...convolution('3', 1, CHANNELS),
    ...convolution('5', 3, 1),
    ...convolution('6', 1, CHANNELS),
    linear('encoder.pre_encode.out', (MELS / 8) * CHANNELS, STATE),
    ['encoder.pre_encode.out.bias', STATE],
    ...feedForward(1),
    ...norm(`${layer}.norm_conv`),
    linear(`${layer}.conv.pointwise_conv1`, STATE, 2 * STATE),
    [`${layer}.conv.depthwise_conv.weight`, KERNEL, STATE],
    ...norm(`${layer}.conv.batch_norm`),
    [`${layer}.conv.batch_norm.running_mean`, STATE],
    [`${layer}.conv.batch_norm.running_var`, STATE],
    [`${layer}.conv.batch_norm.num_batches_tracked`, 1],
    linear(`${layer}.conv.pointwise_conv2`, STATE, STATE),
    ...norm(`${layer}.norm_self_att`),
    [`${layer}.self_attn.pos_bias_u`, STATE / HEADS, HEADS],
    [`${layer}.self_attn.pos_bias_v`, STATE / HEADS, HEADS],
    ...['q', 'k', 'v', 'out', 'pos'].map((name) => linear(`${layer}.self_attn.linear_${name}`, STATE, STATE)),
    ...feedForward(2),
    ...norm(`${layer}.norm_out`),
    ['decoder.prediction.embed.weight', PREDICTION, VOCABULARY + 1],
    [`${lstm}.weight_ih_l0`, PREDICTION, 4 * PREDICTION],
    [`${lstm}.weight_hh_l0`, PREDICTION, 4 * PREDICTION],
    [`${lstm}.bias_h_l0`, 4 * PREDICTION],
    linear('joint.pred', PREDICTION, PREDICTION),
    ['joint.pred.bias', PREDICTION],
    linear('joint.enc', STATE, PREDICTION),
    ['joint.enc.bias', PREDICTION],
    linear('joint.joint_net.2', PREDICTION, OUTPUTS),
    ['joint.joint_net.2.bias', OUTPUTS],
  ];
  return all.flatMap((tensor, index) => tensorOf(tensor, seed + index));
}

type Tensor = [name: string, ...dimensions: number[]];

function tensorOf([name, ...dimensions]: Tensor, seed: number): Buffer[] {
  const count = dimensions.reduce((product, size) => product * size, 1);
  // Gains and variances are about 1; everything else is about 0.
  const isGain = name.endsWith('running_var') || (name.includes('norm') && name.endsWith('.weight'));
  const scale = isGain ? 0.1 : name.endsWith('bias') ? 0.1 : 0.6;
  const numbers = values(count, seed, ({ signed }) => (isGain ? 1 : 0) + scale * signed);
  return [integers(dimensions.length, name.length, F32, ...dimensions), Buffer.from(name), floats(numbers)];
}

function values(count: number, seed: number, value: (random: { next: number; signed: number }) => number): number[] {
  const random = new Mulberry32(seed);
  return Array.from({ length: count }, () => {
    const next = random.next();
    return value({ next, signed: 2 * next - 1 });
  });
}

function integers(...numbers: number[]): Buffer {
  return Buffer.from(Int32Array.from(numbers).buffer);
}

function floats(numbers: readonly number[]): Buffer {
  return Buffer.from(Float32Array.from(numbers).buffer);
}
