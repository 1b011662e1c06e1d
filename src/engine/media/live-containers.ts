/** The containers that a live stream may be in, recognised by its first bytes alone. */
import { ADTS, HEAD_BYTES, MATROSKA, MOV, type Container } from './containers.js';

export const OGG: Container = { name: 'Ogg', demuxer: 'ogg', options: [] };
const FLAC: Container = { name: 'FLAC', demuxer: 'flac', options: [] };
const MP3: Container = { name: 'MP3', demuxer: 'mp3', options: [] };
// Nobody knew the length when the header was written.
const WAV: Container = { name: 'WAV', demuxer: 'wav', options: ['-ignore_length', '1'] };

/** For messages. */
export const LIVE_CONTAINER_NAMES = 'WebM, Ogg, FLAC, WAV, MP3, AAC (ADTS) or fragmented MP4';

/** Enough to know every one of them by. */
export const LIVE_HEAD_BYTES = HEAD_BYTES;

/** In latin1. */
const EBML = '\x1a\x45\xdf\xa3';
const PATTERNS: readonly (readonly [RegExp, Container])[] = [
  [new RegExp(`^${EBML}`), MATROSKA],
  [/^OggS/, OGG],
  [/^fLaC/, FLAC],
  [/^RIFF[^]{4}WAVE/, WAV],
  [/^[^]{4}(?:ftyp|styp|moov|moof)/, MOV],
  [/^ID3/, MP3],
  // Layers I to III; ADTS has 00 in their place.
  [/^\xff[\xf2-\xf7\xfa-\xff]/, MP3],
  [/^\xff[\xf0\xf1\xf8\xf9]/, ADTS],
];

/** Of the first LIVE_HEAD_BYTES, or of fewer where there are no more; null: none of these. */
export function liveContainerOf(head: Buffer): Container | null {
  const text = head.toString('latin1', 0, LIVE_HEAD_BYTES);
  return PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}
