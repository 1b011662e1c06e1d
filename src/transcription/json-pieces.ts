/** JSON of what is too long to be written in one turn of the event loop: the same text that JSON.stringify() makes. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Of a list, between two turns: a transcript's words take a tenth of a millisecond, its segments with tokens one. */
const ELEMENTS_AT_ONCE = 256;
/** What is shorter leaves the turn to the next piece. */
const TURN_CHARACTERS = 256;

/** `value` is not changed meanwhile. */
export async function jsonText(value: object): Promise<string> {
  return isLong(value) ? (await collected(value, (piece) => piece)).join('') : JSON.stringify(value);
}

/** In UTF-8. */
export async function jsonBytes(value: object): Promise<Buffer> {
  const toBytes = (piece: string): Buffer => Buffer.from(piece);
  return isLong(value) ? Buffer.concat(await collected(value, toBytes)) : toBytes(JSON.stringify(value));
}

async function collected<T>(value: object, kept: (piece: string) => T): Promise<T[]> {
  const pieces: T[] = [];
  for (const piece of piecesOf(value)) {
    pieces.push(kept(piece));
    if (piece.length > TURN_CHARACTERS) await nextTurn();
  }
  return pieces;
}

function* piecesOf(value: unknown): Generator<string> {
  if (!isLong(value)) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* piecesOfList(value);
  else yield* piecesOfObject(value);
}

function* piecesOfList(list: readonly unknown[]): Generator<string> {
  for (let start = 0; start < list.length; start += ELEMENTS_AT_ONCE) {
    const piece = JSON.stringify(list.slice(start, start + ELEMENTS_AT_ONCE));
    yield (start === 0 ? '[' : ',') + piece.slice(1, -1);
  }
  yield ']';
}

function* piecesOfObject(value: object): Generator<string> {
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    const head = `${before}${JSON.stringify(name)}:`;
    if (isLong(member)) {
      yield head;
      yield* piecesOf(member);
    } else {
      const text = JSON.stringify(member) as string | undefined;
      if (text === undefined) continue;
      yield head + text;
    }
    before = ',';
  }
  yield '}';
}

/** A long list, or a plain object with one in it, however deep. */
function isLong(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > ELEMENTS_AT_ONCE;
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).some(isLong);
}
