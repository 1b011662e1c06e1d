/** Samples in [-1, 1] as integers of 16 bits; what is louder is clipped. */
export function toIntegers(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) {
    integers[i] = Math.max(-32_768, Math.min(32_767, Math.round((samples[i] ?? 0) * 32_768)));
  }
  return integers;
}
