/** Audio of tests of live sessions, as a client sends it. */
import { pcmOfSample, pcmOfSilence } from './speech.js';

/** At 16 kHz. */
export function spokenPcm({ silenceSeconds = 1 } = {}): Buffer {
  return Buffer.concat([pcmOfSilence(0.5), pcmOfSample(), pcmOfSilence(silenceSeconds)]);
}

/** From 16 kHz to 24 kHz, between neighbours in a straight line. */
export function at24kHz(pcm: Buffer): Buffer {
  const from = new Int16Array(new Uint8Array(pcm).buffer);
  const to = Buffer.alloc(Math.floor(from.length * 1.5) * 2);
  for (let i = 0; i < to.length / 2; i++) {
    const at = i / 1.5;
    const [left, right] = [from[Math.floor(at)] ?? 0, from[Math.floor(at) + 1] ?? 0];
    to.writeInt16LE(Math.round(left + (right - left) * (at % 1)), 2 * i);
  }
  return to;
}

/** So much of it at once. */
export function* pieces(pcm: Buffer, bytes: number): Generator<Buffer> {
  for (let at = 0; at < pcm.length; at += bytes) yield pcm.subarray(at, at + bytes);
}
