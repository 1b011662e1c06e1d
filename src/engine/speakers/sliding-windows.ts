export interface SampleWindow {
  /** Samples from the start of the file. */
  start: number;
  /** Overwritten when the next window is read. */
  samples: Float32Array;
}

/** Most that a reader gives at once. */
const BLOCK = 160_000;

/**
 * Windows of `length` samples every `step`, and a last one that ends with the audio. Shorter audio is one shorter
 * window; no audio has none. `read` returns the next samples, fewer than requested only at the end.
 */
export async function* slidingWindows(
  read: (count: number) => Promise<Float32Array>,
  { length, step }: { length: number; step: number },
): AsyncGenerator<SampleWindow> {
  const samples = new Float32Array(length);
  let end = await fill(samples, 0, read);
  if (end === 0) return;
  yield { start: 0, samples: samples.subarray(0, end) };
  const fresh = new Float32Array(step);
  while (end >= length) {
    const count = await fill(fresh, 0, read);
    if (count === 0) return;
    samples.copyWithin(0, count);
    samples.set(fresh.subarray(0, count), length - count);
    end += count;
    yield { start: end - length, samples };
    if (count < step) return;
  }
}

async function fill(out: Float32Array, from: number, read: (count: number) => Promise<Float32Array>): Promise<number> {
  let place = from;
  while (place < out.length) {
    const wanted = Math.min(out.length - place, BLOCK);
    const block = await read(wanted);
    out.set(block, place);
    place += block.length;
    if (block.length < wanted) break;
  }
  return place;
}
