/** Samples in a message: base64 of 16 bits a sample, the low byte first. */

export function samplesToText({ buffer, byteOffset, byteLength }: Int16Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

export function samplesFromText(text: string): Int16Array {
  const bytes = Buffer.from(text, 'base64');
  // A pooled buffer may begin at an odd address.
  const own = new Uint8Array(bytes.length - (bytes.length % 2));
  own.set(bytes.subarray(0, own.length));
  return new Int16Array(own.buffer);
}

/** In [-1, 1]. */
export function floatsFromText(text: string): Float32Array {
  return Float32Array.from(samplesFromText(text), (sample) => sample / 32_768);
}
