/**
 * The metadata of an ONNX file: metadata_props of its ModelProto, which the runtime's JavaScript does not show. Reads
 * the outermost message only, whatever the file holds.
 */
import { EngineError } from '../native-errors.js';

/** Field numbers of onnx.proto. */
const GRAPH = 7;
const METADATA_PROPS = 14;
const [KEY, VALUE] = [1, 2];

/** Throws EngineError `invalid_model` if it is no ModelProto. */
export function onnxFacts(bytes: Uint8Array): Map<string, string> {
  const facts = new Map<string, string>();
  let hasGraph = false;
  for (const { number, value } of fields(bytes)) {
    if (number === GRAPH) hasGraph = value !== null;
    if (number !== METADATA_PROPS || value === null) continue;
    const entry = new Map([...fields(value)].map((field) => [field.number, field.value]));
    facts.set(textOf(entry.get(KEY)), textOf(entry.get(VALUE)));
  }
  if (!hasGraph) throw notOnnx();
  return facts;
}

interface Field {
  number: number;
  /** null: the field is not delimited by its length. */
  value: Uint8Array | null;
}

/** Bytes of the wire types of fixed length. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const VARINT = 0;
const DELIMITED = 2;

function* fields(bytes: Uint8Array): Generator<Field> {
  const reader = { bytes, place: 0 };
  while (reader.place < bytes.length) {
    const tag = varint(reader);
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (type === VARINT) varint(reader);
    const length = type === DELIMITED ? varint(reader) : type === VARINT ? 0 : FIXED[type];
    if (length === undefined || number === 0 || length > bytes.length - reader.place) throw notOnnx();
    const value = type === DELIMITED ? bytes.subarray(reader.place, reader.place + length) : null;
    reader.place += length;
    yield { number, value };
  }
}

/** Up to ten bytes; beyond 2^53 its exact value does not matter here. */
function varint(reader: { bytes: Uint8Array; place: number }): number {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = reader.bytes[reader.place++];
    if (byte === undefined) throw notOnnx();
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw notOnnx();
}

function textOf(value: Uint8Array | null | undefined): string {
  return Buffer.from(value ?? []).toString('utf8');
}

function notOnnx(): EngineError {
  return new EngineError('invalid_model', 'The file is no ONNX model.');
}

/** An integer of the facts, within a range. Throws EngineError `invalid_model` that names it. */
export function integerFact(
  facts: ReadonlyMap<string, string>,
  key: string,
  least: number,
  most: number,
  fallback?: number,
): number {
  const text = facts.get(key) ?? (fallback === undefined ? undefined : String(fallback));
  const value = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  const has = text === undefined ? 'lacks' : `has "${text.slice(0, 40)}" for`;
  throw new EngineError('invalid_model', `The model ${has} ${key}; allowed: ${least} to ${most}.`);
}
