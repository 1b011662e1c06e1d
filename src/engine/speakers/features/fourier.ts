/** Power spectra of frames of one length, by the fast Fourier transform (radix 2, in place). */
export class PowerSpectrum {
  readonly #size: number;
  readonly #order: Uint16Array;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;

  /** `size`: a power of two, 2 to 32768. */
  constructor(size: number) {
    const bits = Math.log2(size);
    this.#size = size;
    this.#order = Uint16Array.from({ length: size }, (_, index) => reversed(index, bits));
    const angles = Float64Array.from({ length: size / 2 }, (_, index) => (-2 * Math.PI * index) / size);
    this.#cosines = angles.map(Math.cos);
    this.#sines = angles.map(Math.sin);
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
  }

  /**
   * `frame`: at most `size` samples, the rest is 0. `out`: the power from frequency 0 to half of the rate, size / 2 +
   * 1.
   */
  compute(frame: Float64Array, out: Float64Array): void {
    this.#real.fill(0);
    this.#imaginary.fill(0);
    for (let index = 0; index < frame.length; index++) this.#real[this.#order[index] ?? 0] = frame[index] ?? 0;
    for (let half = 1; half < this.#size; half *= 2) this.#combine(half);
    for (let index = 0; index <= this.#size / 2; index++)
      out[index] = (this.#real[index] ?? 0) ** 2 + (this.#imaginary[index] ?? 0) ** 2;
  }

  /** Two transforms of `half` values each into one of twice as many, all over the frame. */
  #combine(half: number): void {
    const [real, imaginary] = [this.#real, this.#imaginary];
    const stride = this.#size / (2 * half);
    for (let offset = 0; offset < half; offset++) {
      const cosine = this.#cosines[offset * stride] ?? 0;
      const sine = this.#sines[offset * stride] ?? 0;
      for (let low = offset; low < this.#size; low += 2 * half) {
        const high = low + half;
        const [x, y] = [real[high] ?? 0, imaginary[high] ?? 0];
        const [a, b] = [x * cosine - y * sine, x * sine + y * cosine];
        real[high] = (real[low] ?? 0) - a;
        imaginary[high] = (imaginary[low] ?? 0) - b;
        real[low] = (real[low] ?? 0) + a;
        imaginary[low] = (imaginary[low] ?? 0) + b;
      }
    }
  }
}

function reversed(index: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result |= ((index >> bit) & 1) << (bits - 1 - bit);
  return result;
}
