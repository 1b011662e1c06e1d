/** Silero files of made-up weights: their last bias alone decides what they detect. */
import { writeFileSync } from 'node:fs';

const FLOAT16 = 1;
const FLOAT32 = 0;

type Tensor = readonly [name: string, type: number, dimensions: readonly number[]];

const LAYERS = [
  [3, 129, 128],
  [3, 128, 64],
  [3, 64, 64],
  [3, 64, 128],
] as const;

const LAST_BIAS: Tensor = ['_model.decoder.decoder.2.bias', FLOAT32, []];

const TENSORS: readonly Tensor[] = [
  ...LAYERS.flatMap((dimensions, layer): Tensor[] => [
    [`_model.encoder.${layer}.reparam_conv.weight`, FLOAT16, dimensions],
    [`_model.encoder.${layer}.reparam_conv.bias`, FLOAT32, [dimensions[2]]],
  ]),
  ['_model.decoder.rnn.weight_ih', FLOAT32, [128, 512]],
  ['_model.decoder.rnn.weight_hh', FLOAT32, [128, 512]],
  ['_model.decoder.rnn.bias_ih', FLOAT32, [512]],
  ['_model.decoder.rnn.bias_hh', FLOAT32, [512]],
  ['_model.decoder.decoder.2.weight', FLOAT16, [128]],
  LAST_BIAS,
  ['_model.stft.forward_basis_buffer', FLOAT16, [256, 1, 258]],
];

/** Recognises speech in whatever there is, or in nothing at all. */
export function voiceModel(recognises: 'everything' | 'nothing'): Buffer {
  const head = integers(6, 2, 0, 512, 64, LAYERS.length, ...LAYERS.flatMap(shape), 128, 128, 128, 1);
  const tensors = TENSORS.map((tensor) => {
    const [name, type, dimensions] = tensor;
    const values = Buffer.alloc(dimensions.reduce((size, next) => size * next, type === FLOAT16 ? 2 : 4));
    if (tensor === LAST_BIAS) values.writeFloatLE(recognises === 'everything' ? 60 : -60);
    const header = integers(dimensions.length, name.length, type, ...dimensions);
    return Buffer.concat([header, Buffer.from(name), values]);
  });
  return Buffer.concat([Buffer.from('lmgg'), integers(10), Buffer.from('silero-16k'), head, ...tensors]);
}

export function writeVoiceModel(path: string, recognises: 'everything' | 'nothing'): string {
  writeFileSync(path, voiceModel(recognises));
  return path;
}

/** Inputs, outputs, kernel. */
function shape([kernel, inputs, outputs]: (typeof LAYERS)[number]): number[] {
  return [inputs, outputs, kernel];
}

function integers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeInt32LE(value, 4 * index));
  return bytes;
}
