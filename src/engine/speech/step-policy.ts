/**
 * What a lane does next when some windows wait for the encoder and others for a step of the batch. Throughput wants
 * full batches, since a step reads the decoder's weights once for all rows. A request that is nearly done wants its
 * rows to move at once. A clip that has just come wants the encoder. So the two share the lanes' time. The share of
 * decoding is
 *
 * - 7/8 if a request in the batch, or one whose window is in an encoder, is nearer to its end by SOME_WINDOWS than the
 *   next request for the encoder. The batch then makes way: it gets smaller until that window comes.
 * - 1/8 if the next request for the encoder is nearer to its end by as much, or if the batch is small and encoding
 *   fills it;
 * - 1/4 otherwise, about what decoding takes of a window's time in a full batch.
 *
 * Neither is ever without a share, so nobody waits for the end of another's window. Where only one of the two has
 * something to do, it has all the time.
 */

export interface StageLoad {
  /** Seconds of audio, not begun, of the request that is next; in the batch, of the one that has the least of it. */
  leftSeconds: number;
  /** How many there are, those that are worked on included. */
  windows: number;
}

export interface StepState {
  /** Windows to be encoded; null: there are none but those that are worked on. */
  encode: StageLoad | null;
  /** Windows in the batch; null: there are none. */
  decode: StageLoad | null;
  /** Of the windows that encoders have in hand, seconds as above; Infinity: there are none. */
  encodingLeftSeconds: number;
  /** Whether there is an encoder at rest. */
  canEncode: boolean;
  /** Whether the batch is at rest. */
  canDecode: boolean;
  /** Rows of an aborted request are to leave the batch. */
  hasAborted: boolean;
}

export type Unit = 'encode' | 'decode';

const MOSTLY = 7 / 8;
const HARDLY = 1 / 8;
const EVEN = 1 / 4;

/** So many windows less to go make a request the nearer one. */
const SOME_WINDOWS = 4;

/** A batch of so many windows is not small; of fewer where no more are to be had while the other lanes encode. */
const ENOUGH_WINDOWS = 4;

/** How far either may fall behind its share, milliseconds of a lane. */
const MOST_CREDIT_MS = 200;

export class StepPolicy {
  /** Milliseconds by which decoding is behind its share; below 0 it is ahead. */
  private credit = 0;
  private share = EVEN;

  /** `windowSeconds`: of the longest window. */
  constructor(private readonly options: { windowSeconds: number; lanes: number }) {}

  /** null: there is nothing to do, or nothing to do it with. */
  choose(state: StepState): Unit | null {
    const { encode, decode, canEncode, canDecode, hasAborted } = state;
    if (encode === null || decode === null) this.credit = 0;
    else this.share = this.shareOf(encode, decode, state.encodingLeftSeconds);
    const mayEncode = encode !== null && canEncode;
    const mayDecode = decode !== null && canDecode;
    if (!mayDecode) return mayEncode ? 'encode' : null;
    if (!mayEncode || hasAborted) return 'decode';
    const isDue = this.credit === 0 ? this.share === MOSTLY : this.credit > 0;
    return isDue ? 'decode' : 'encode';
  }

  /** A unit took so long. */
  spent(unit: Unit, milliseconds: number): void {
    const change = unit === 'encode' ? this.share * milliseconds : (this.share - 1) * milliseconds;
    this.credit = Math.min(MOST_CREDIT_MS, Math.max(-MOST_CREDIT_MS, this.credit + change));
  }

  private shareOf(encode: StageLoad, decode: StageLoad, encodingLeftSeconds: number): number {
    const { windowSeconds, lanes } = this.options;
    const some = SOME_WINDOWS * windowSeconds;
    if (Math.min(decode.leftSeconds, encodingLeftSeconds) + some < encode.leftSeconds) return MOSTLY;
    if (encode.leftSeconds + some < decode.leftSeconds) return HARDLY;
    const enough = Math.min(ENOUGH_WINDOWS, encode.windows + decode.windows - (lanes - 1));
    return decode.windows < enough ? HARDLY : EVEN;
  }
}
