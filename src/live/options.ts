/** What a client of a live session chooses. */
import type { LiveAudioOptions, LiveOptions } from '../engine/binding.js';
import { SAMPLE_RATE } from '../engine/sample-rate.js';

/** Samples as they arrive. */
export type LiveFormat = Pick<LiveAudioOptions, 'encoding' | 'sampleRate' | 'channels'>;

/** A stream that ffmpeg decodes. */
export interface EncodedFormat {
  /** In a container; 'opus': Opus packets, one in each message, or in a container. */
  encoding: 'container' | 'opus';
  /** Of the source of Opus packets, Hz. */
  sampleRate: number;
}

/** What comes of such a stream. */
export const DECODED_FORMAT: LiveFormat = { encoding: 's16le', sampleRate: SAMPLE_RATE, channels: 1 };

export function isEncoded(format: LiveFormat | EncodedFormat): format is EncodedFormat {
  return format.encoding === 'container' || format.encoding === 'opus';
}

/** How an utterance ends. */
export type TurnDetection =
  /** By the client alone. With `findsSpeech` it begins with speech, and ends after a minute of silence, too. */
  | { kind: 'manual'; findsSpeech?: boolean }
  | SilenceDetection
  /** After PAUSE_MS of silence where the text so far ends a sentence, else after `longestSilenceMs`. */
  | { kind: 'semantic'; longestSilenceMs: number };

export interface SilenceDetection {
  kind: 'silence';
  /** See LiveOptions. */
  threshold: number;
  prefixPaddingMs: number;
  /** Shorter ones are served as SHORTEST_SILENCE_MS. */
  silenceMs: number;
}

/** May change while the session runs, and then applies to audio that comes later. */
export interface LiveSettings {
  /** ISO 639-1; null: it is detected. */
  language: string | null;
  /** Whether the language is detected for each utterance by itself. */
  detectsEach: boolean;
  /** Names and words to expect; null: none. */
  prompt: string | null;
  turns: TurnDetection;
  /** Whether results come while an utterance goes on. */
  interim: boolean;
  /** Whether segments get words with times. */
  words: boolean;
  /** ISO 639-1: final text is translated, too, which has a surcharge. null: not, which no later settings change. */
  translateTo: string | null;
  /**
   * Text of an utterance that goes on is final once all its decodings agree on it, two at least, while so many seconds
   * of audio came; null: only the end of a stretch makes text final. Models whose EngineInfo.commits is null ignore it.
   */
  stableSeconds: number | null;
  /** Whether final results say who speaks, which has a surcharge; no later settings change it. */
  diarize: boolean;
}

/** A shorter silence ends most utterances in the middle of a sentence. */
export const SHORTEST_SILENCE_MS = 300;
/** That the addon takes. */
const LONGEST_SILENCE_MS = 60_000;
/** Of semantic turns. */
export const PAUSE_MS = 500;

export const DEFAULT_TURNS: SilenceDetection = {
  kind: 'silence',
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceMs: 500,
};

export const DEFAULT_SETTINGS: LiveSettings = {
  language: null,
  detectsEach: false,
  prompt: null,
  turns: DEFAULT_TURNS,
  interim: false,
  words: false,
  translateTo: null,
  stableSeconds: null,
  diarize: false,
};

/** As the addon has them. */
export function liveOptions(turns: TurnDetection): LiveOptions {
  const { threshold, prefixPaddingMs } = turns.kind === 'silence' ? turns : DEFAULT_TURNS;
  if (turns.kind === 'manual') {
    if (turns.findsSpeech !== true) return { detect: false, pauseMs: 0 };
    return { detect: true, threshold, prefixPaddingMs, silenceMs: LONGEST_SILENCE_MS, pauseMs: 0 };
  }
  if (turns.kind === 'semantic') {
    const silenceMs = Math.max(PAUSE_MS, turns.longestSilenceMs);
    return { detect: true, threshold, prefixPaddingMs, silenceMs, pauseMs: PAUSE_MS };
  }
  const silenceMs = Math.max(SHORTEST_SILENCE_MS, turns.silenceMs);
  return { detect: true, threshold, prefixPaddingMs, silenceMs, pauseMs: 0 };
}

/** Where a window without a pause is cut: the quietest place of its last seconds. */
export const SEARCH_SECONDS = 2;

/** The signal of a session. `windowSeconds`: the longest that the model takes. */
export function audioOptions(format: LiveFormat, { turns }: LiveSettings, windowSeconds: number): LiveAudioOptions {
  return {
    ...format,
    ...liveOptions(turns),
    longestSeconds: windowSeconds,
    searchSeconds: Math.min(SEARCH_SECONDS, windowSeconds),
  };
}

/** Of one sample of every channel. */
export function bytesPerFrame({ encoding, channels }: LiveFormat): number {
  const bytes = { s16le: 2, f32le: 4, mulaw: 1, alaw: 1 }[encoding];
  return bytes * channels;
}
