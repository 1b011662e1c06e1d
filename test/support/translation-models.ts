/** Translation models for tests: tiny ones with random weights, and tokenizers whose pieces are their tokens. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FIXTURES = join(__dirname, '..', 'fixtures', 'ct2');

export function ct2Fixture(name: string): string {
  return join(FIXTURES, name);
}

export interface TinyModel {
  /** Takes the place of the first ordinary tokens of the vocabulary. */
  pieces?: readonly string[];
  /** Fixture the weights come from. */
  weights?: string;
  /** File name of the tokenizer. */
  tokenizer?: string;
  /** Positions are computed instead of looked up, so that there is no last one. */
  unbounded?: boolean;
}

/** A model directory that takes text: its vocabulary and its tokenizer share words, letters and marks. */
export function writeTinyModel(directory: string, options: TinyModel = {}): string {
  const { pieces = [], weights = 'tiny-marian-float32', tokenizer = 'sentencepiece.model' } = options;
  cpSync(ct2Fixture(weights), directory, { recursive: true });
  if (options.unbounded === true) dropPositionTables(join(directory, 'model.bin'));
  const path = join(directory, 'shared_vocabulary.json');
  const vocabulary = JSON.parse(readFileSync(path, 'utf8')) as string[];
  [...pieces, ...LETTERS].forEach((piece, index) => (vocabulary[4 + index] = piece));
  writeFileSync(path, JSON.stringify(vocabulary));
  writeFileSync(join(directory, tokenizer), sentencePieceModel(vocabulary));
  return directory;
}

/** A variable that readers pass over takes the place of each table, under a name that is as long. */
function dropPositionTables(path: string): void {
  const model = readFileSync(path);
  for (const stack of ['encoder', 'decoder']) {
    const table = `${stack}/position_encodings/encodings`;
    const unread = `${stack}_positions__/embeddings_merge`;
    if (!model.includes(table)) throw new Error(`${path} has no ${table}.`);
    for (let at = model.indexOf(table); at >= 0; at = model.indexOf(table)) model.write(unread, at);
  }
  writeFileSync(path, model);
}

const LETTERS = Array.from('▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?');

const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;

/** A unigram model file (sentencepiece_model.proto) in which longer pieces are likelier. */
function sentencePieceModel(vocabulary: readonly string[]): Buffer {
  return Buffer.concat(
    vocabulary.map((piece) => {
      const score = Buffer.alloc(4);
      score.writeFloatLE(-10 + piece.length);
      const type = piece === '<unk>' ? UNKNOWN : piece.startsWith('<') ? CONTROL : NORMAL;
      return field(1, Buffer.concat([field(1, Buffer.from(piece)), fixed32(2, score), varint(3, type)]));
    }),
  );
}

function field(number: number, bytes: Buffer): Buffer {
  const length = bytes.length < 128 ? [bytes.length] : [128 | (bytes.length & 127), bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}

function fixed32(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 5]), bytes]);
}

function varint(number: number, value: number): Buffer {
  return Buffer.from([number << 3, value]);
}
