/** ONNX files that a test makes itself: the few messages of onnx.proto that small graphs need. */

export interface OnnxTensor {
  name: string;
  dims: readonly number[];
  values: readonly number[];
}

export interface OnnxNode {
  type: string;
  inputs: readonly string[];
  output: string;
  /** Integers and lists of integers. */
  attributes?: Readonly<Record<string, number | readonly number[]>>;
}

export interface OnnxValue {
  name: string;
  /** A string stands for a length that may be any. */
  shape: readonly (number | string)[];
  /** Of 64 bits; else float32. */
  isInteger?: boolean;
}

export interface OnnxGraph {
  input: OnnxValue;
  output: OnnxValue;
  moreInputs?: readonly OnnxValue[];
  moreOutputs?: readonly OnnxValue[];
  nodes: readonly OnnxNode[];
  weights: readonly OnnxTensor[];
  facts: Readonly<Record<string, string | number>>;
}

const FLOAT = 1;
const INT64 = 7;
const [INT, INTS] = [2, 7];

export function onnxFile(made: OnnxGraph): Buffer {
  const { input, output, moreInputs = [], moreOutputs = [], nodes, weights, facts } = made;
  const graph = message(
    ...nodes.map((node) => delimited(1, nodeMessage(node))),
    delimited(2, text('made by a test')),
    ...weights.map((weight) => delimited(5, tensorMessage(weight))),
    ...[input, ...moreInputs].map((value) => delimited(11, valueInfo(value))),
    ...[output, ...moreOutputs].map((value) => delimited(12, valueInfo(value))),
  );
  return message(
    integer(1, 8),
    delimited(7, graph),
    delimited(8, message(integer(2, 14))),
    ...Object.entries(facts).map(([key, value]) =>
      delimited(14, message(delimited(1, text(key)), delimited(2, text(String(value))))),
    ),
  );
}

function nodeMessage({ type, inputs, output, attributes = {} }: OnnxNode): Buffer {
  return message(
    ...inputs.map((name) => delimited(1, text(name))),
    delimited(2, text(output)),
    delimited(4, text(type)),
    ...Object.entries(attributes).map(([name, value]) => delimited(5, attributeMessage(name, value))),
  );
}

function attributeMessage(name: string, value: number | readonly number[]): Buffer {
  const list = typeof value === 'number' ? null : value;
  return message(
    delimited(1, text(name)),
    ...(list === null ? [integer(3, Number(value))] : list.map((one) => integer(8, one))),
    integer(20, list === null ? INT : INTS),
  );
}

function tensorMessage({ name, dims, values }: OnnxTensor): Buffer {
  return message(
    ...dims.map((length) => integer(1, length)),
    integer(2, FLOAT),
    delimited(8, text(name)),
    delimited(9, Buffer.from(Float32Array.from(values).buffer)),
  );
}

function valueInfo({ name, shape, isInteger = false }: OnnxValue): Buffer {
  const dims = shape.map((length) =>
    delimited(1, typeof length === 'number' ? integer(1, length) : delimited(2, text(length))),
  );
  const tensor = message(integer(1, isInteger ? INT64 : FLOAT), delimited(2, message(...dims)));
  return message(delimited(1, text(name)), delimited(2, delimited(1, tensor)));
}

function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

function integer(field: number, value: number): Buffer {
  return message(varint(8 * field), varint(value));
}

function delimited(field: number, value: Buffer): Buffer {
  return message(varint(8 * field + 2), varint(value.length), value);
}

/** Of integers of 64 bits; negative ones as their complement. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}
