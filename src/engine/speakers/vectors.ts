export function scalarProduct(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] ?? 0) * (other[index] ?? 0);
  return sum;
}

/** Scaled to length 1. A vector of length 0, or with values that are not finite, becomes 0. */
export function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(scalarProduct(vector, vector));
  return vector.map((value) => (length > 0 && Number.isFinite(length) ? value / length : 0));
}

/** Adds `vector`, `scale` times, to `sum`. */
export function addScaled(sum: Float32Array, vector: Float32Array, scale: number): void {
  for (let index = 0; index < sum.length; index++) sum[index] = (sum[index] ?? 0) + scale * (vector[index] ?? 0);
}
