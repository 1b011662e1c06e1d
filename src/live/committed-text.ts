/**
 * The part of an utterance's text that is final while the utterance goes on: what its decodings agree on for some time
 * (LocalAgreement, arXiv 2307.14743, which does not ask how far apart two decodings are).
 */
import type { Segment, TextPrefix } from '../engine/binding.js';
import { wordsIn } from '../engine/transcript-text.js';
import type { EngineInfo, RecognisedUtterance } from '../engine/types.js';
import { laterThan, splitSegments, textOf } from './segment-split.js';

/** Of a decoding that text is committed of: the engine takes prefixes of 200 tokens and 4096 bytes. */
const MOST_TOKENS = 180;
const MOST_BYTES = 4000;

/** Text of an utterance behind what was committed before. */
export interface UtteranceRest {
  segments: Segment[];
  /** Whether it goes on with the last word before it, so that no space is between. */
  continuesWord: boolean;
}

export interface CommittedPiece extends UtteranceRest {
  startSeconds: number;
  endSeconds: number;
  language: string;
}

/** Of the utterance so far. */
export interface NewDecoding {
  committed: string;
  /** Behind the committed text. */
  rest: UtteranceRest;
  language: string;
  /** Of its audio. */
  endSeconds: number;
}

export class CommittedText {
  #text = '';
  /** Of the decoding that it was last committed of. */
  #tokens: readonly number[] = [];
  #endSeconds: number;
  /** Of the first decoding that text was committed of. */
  #first: Pick<RecognisedUtterance, 'language' | 'languageProbabilities'> | null = null;
  /** The last decodings, with the ends of their audio. */
  #decodings: readonly { text: string; endSeconds: number }[] = [];

  /** `stableSeconds`: see LiveSettings. */
  constructor(
    private readonly stableSeconds: number | null,
    private readonly commits: EngineInfo['commits'],
    startSeconds: number,
  ) {
    this.#endSeconds = startSeconds;
  }

  /** Where it ends, in seconds of the session. */
  get endSeconds(): number {
    return this.#endSeconds;
  }

  /** How the utterance's language was found, in which its other decodings are, too; null: nothing is committed. */
  get language(): Pick<RecognisedUtterance, 'language' | 'languageProbabilities'> | null {
    return this.#first;
  }

  /** For the next decodings of the utterance. */
  get prefix(): TextPrefix | null {
    return this.#text === '' || this.commits !== 'prefix' ? null : { text: this.#text, tokens: this.#tokens };
  }

  /** What a decoding of the utterance says behind the committed text. */
  restOf({ segments: described }: Pick<RecognisedUtterance, 'segments'>): UtteranceRest {
    const segments = described.map(withoutDecoding);
    if (this.#text === '') return { segments, continuesWord: false };
    if (!textOf(segments).startsWith(this.#text)) {
      return { segments: laterThan(this.#endSeconds, segments), continuesWord: false };
    }
    const { after, isInside } = splitSegments(segments, this.#text.length);
    return { segments: after, continuesWord: isInside && /^\S/u.test(textOf(after)) };
  }

  /** Adds a decoding of the utterance so far, whose audio ends there. Returns what it commits; null: nothing. */
  add(result: RecognisedUtterance, endSeconds: number): CommittedPiece | null {
    if (this.stableSeconds === null || this.commits === null) return null;
    const rest = this.restOf(result);
    const settled = this.settledText({ committed: this.#text, rest, language: result.language, endSeconds });
    if (settled === null || settled.length <= this.#text.length || this.#isTooLong(settled, result)) return null;
    return this.#commit(settled, rest, result);
  }

  /** What of a decoding no later one is to change, committed text included; null: nothing yet. */
  protected settledText({ committed, rest, language, endSeconds }: NewDecoding): string | null {
    const { stableSeconds } = this;
    if (stableSeconds === null) return null;
    const before = this.#decodings;
    const decodings = [...before, { text: committed + textOf(rest.segments), endSeconds }];
    const first = before.findLastIndex((decoding) => decoding.endSeconds <= endSeconds - stableSeconds);
    this.#decodings = decodings.slice(Math.max(0, first));
    if (first < 0) return null;
    return agreedText(
      this.#decodings.map(({ text }) => text),
      language,
    );
  }

  #commit(agreed: string, rest: UtteranceRest, result: RecognisedUtterance): CommittedPiece {
    const { before: segments, seconds } = splitSegments(rest.segments, agreed.length - this.#text.length);
    const startSeconds = this.#endSeconds;
    this.#endSeconds = Math.max(startSeconds, seconds);
    this.#text = agreed;
    this.#tokens = tokensOf(result);
    this.#first ??= result;
    const { language } = this.#first;
    return { segments, continuesWord: rest.continuesWord, startSeconds, endSeconds: this.#endSeconds, language };
  }

  #isTooLong(text: string, result: RecognisedUtterance): boolean {
    if (this.commits !== 'prefix') return false;
    return tokensOf(result).length > MOST_TOKENS || Buffer.byteLength(text) > MOST_BYTES;
  }
}

/**
 * The whole words that all texts of an utterance begin with, as the newest has them. Its own last word, which the audio
 * may have cut in two, does not count.
 */
export function agreedText(texts: readonly string[], language: string): string {
  const all = texts.map((text) => wordsIn(text, language));
  const words = all.at(-1) ?? [];
  const agrees = (word: string, index: number): boolean =>
    index < words.length - 1 && all.every((other) => other[index]?.trim() === word.trim());
  const end = words.findIndex((word, index) => !agrees(word, index));
  return words.slice(0, Math.max(0, end)).join('');
}

function tokensOf({ segments }: Pick<RecognisedUtterance, 'segments'>): number[] {
  return segments.flatMap(({ decoding }) => {
    const { opening, tokens = [] } = decoding ?? {};
    return opening === undefined ? tokens : [opening, ...tokens];
  });
}

function withoutDecoding(segment: Segment): Segment {
  const copy = { ...segment };
  delete copy.decoding;
  return copy;
}
