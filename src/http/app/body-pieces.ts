/** Bodies that leave piece by piece, so that a client's progress shows. */
import { Readable } from 'node:stream';
import type { ServerResponse } from 'node:http';

const PIECE_BYTES = 65_536;

/** The rest of an answer, as fast as its client takes it. */
export function endInPieces(res: ServerResponse, body: Buffer): void {
  if (body.length <= PIECE_BYTES) res.end(body);
  else Readable.from(pieces(body), { objectMode: false }).pipe(res);
}

function* pieces(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += PIECE_BYTES) {
    yield body.subarray(start, start + PIECE_BYTES);
  }
}
