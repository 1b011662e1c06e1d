/** Final text of an utterance that goes on: its last sentence may be half of one. */
import { endsInAbbreviation, placesOf, splitSentences } from '../engine/translation/sentences.js';
import { TextJoiner } from '../engine/transcript-text.js';
import type { Captioned } from '../transcription/captions.js';
import { lettersIn } from '../transcription/sentence-times.js';
import type { FinalResult } from './events.js';
import { endsSentence } from './sentence-end.js';

/** A text, and the stretches of audio that it is of: their texts have the same letters. */
export interface TimedSource {
  text: string;
  segments: Captioned[];
}

export class UnfinishedText {
  #text = '';
  #pieces: Captioned[] = [];
  readonly #joiner: TextJoiner;

  constructor(
    readonly utterance: number,
    /** ISO 639-1: of all its text. */
    readonly language: string,
  ) {
    this.#joiner = new TextJoiner(language);
  }

  add({ text, segments, continuesWord }: Pick<FinalResult, 'text' | 'segments' | 'continuesWord'>): void {
    this.#text += this.#joiner.add(text, continuesWord);
    for (const segment of segments) this.#pieces.push(...(segment.words ?? [segment]));
  }

  /** All of it. */
  takeAll(): TimedSource {
    return this.#takeTo(this.#text.length);
  }

  /** Its whole sentences. */
  async takeSentences(): Promise<TimedSource> {
    const sentences = await splitSentences(this.#text, this.language);
    const last = sentences.at(-1);
    if (last !== undefined && (!endsSentence(last) || endsInAbbreviation(last))) sentences.pop();
    return this.#takeTo(placesOf(sentences, this.#text).at(-1)?.end ?? 0);
  }

  #takeTo(end: number): TimedSource {
    const text = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    const segments: Captioned[] = [];
    let letters = lettersIn(text);
    for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) {
      const own = lettersIn(piece.text);
      if (letters <= 0 && own > 0) {
        this.#pieces.unshift(piece);
        break;
      }
      const [taken, left] = own <= letters ? [piece, null] : parted(piece, letters);
      segments.push(taken);
      letters -= own;
      if (left !== null) this.#pieces.unshift(left);
    }
    return { text, segments };
  }
}

/** Before and behind so many of its letters, which take as long each. */
function parted({ text, startSeconds, endSeconds }: Captioned, letters: number): [Captioned, Captioned] {
  let at = 0;
  for (let left = letters; left > 0; at++) if (!/\s/u.test(text[at] ?? '')) left--;
  const middle = startSeconds + (letters / lettersIn(text)) * (endSeconds - startSeconds);
  return [
    { text: text.slice(0, at), startSeconds, endSeconds: middle },
    { text: text.slice(at), startSeconds: middle, endSeconds },
  ];
}
