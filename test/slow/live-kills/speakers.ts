/** Who speaks in the sessions of the test of kills, and how each client sends it. */
import { loadBinding } from '../../../src/engine/binding.js';
import { sampleReader } from '../../../bench/live/track.js';
import type { Mulberry32 } from '../../support/random.js';
import { pcmOfSilence, samples } from '../../support/speech.js';

/** By the protocol, and by who ends an utterance. */
export const SESSION_KINDS = ['openai turns', 'deepgram turns', 'openai commits', 'deepgram flushes'] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

export interface Speaker {
  kind: SessionKind;
  language: string;
  /** 16-bit samples at 16 kHz: a recording each, between silence. */
  parts: readonly Buffer[];
}

/** Longer than any silence that ends an utterance here. */
const PAUSE_SECONDS = 0.8;

/** One of each kind in turn, of one language each, with at least so much to say. */
export async function makeSpeakers(count: number, seconds: number, random: Mulberry32): Promise<Speaker[]> {
  const read = sampleReader(loadBinding());
  const all = samples();
  const speakers: Speaker[] = [];
  for (let index = 0; index < count; index++) {
    const { language } = random.pick(all);
    const own = all.filter((sample) => sample.language === language);
    const parts: Buffer[] = [];
    for (let bytes = 0; bytes < seconds * 32_000; bytes += parts.at(-1)?.length ?? 0) {
      const { buffer, byteOffset, byteLength } = await read(random.pick(own).path);
      const silence = pcmOfSilence(PAUSE_SECONDS);
      parts.push(Buffer.concat([silence, Buffer.from(buffer, byteOffset, byteLength), silence]));
    }
    speakers.push({ kind: SESSION_KINDS[index % SESSION_KINDS.length]!, language, parts });
  }
  return speakers;
}
