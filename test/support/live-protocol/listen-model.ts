/**
 * What the messages of one of Deepgram's live sessions may be, and in which order, whatever its client does. Of the audio
 * it knows its length, and that its text names it (SpokenEngine).
 */
import { expect } from 'chai';
import type { SocketEvent } from '../socket-client.js';
import { wordsOf, WORD_SECONDS } from './spoken-engine.js';

export interface ListenFacts {
  interim: boolean;
  vadEvents: boolean;
  utteranceEndMs: number | null;
  channels: number;
  /** Messages that were sent. */
  finalizes: number;
  unknown: number;
  /** The client asked for the end. */
  isClosing: boolean;
  seconds: number;
  sha256: string;
}

interface Results {
  start: number;
  duration: number;
  is_final: boolean;
  speech_final: boolean;
  from_finalize: boolean;
  channel: { alternatives: { transcript: string; words: { word: string; start: number; end: number }[] }[] };
  metadata: { request_id: string };
}

/** Times are rounded to milliseconds. */
const ROUNDING = 0.002;
/** A final range without an utterance may end in the padding of the next one. */
const PADDING = 0.4;
/** Of an utterance's end, what is too short to be recognised. */
const SHORTEST_SECONDS = 0.1;

export class ListenProtocolModel {
  #coveredTo = 0;
  #lastWord = -1;
  #lastWordEnd: number | null = null;
  #lastStarted = -1;
  #finalized = 0;
  #unknown = 0;
  #failed = 0;
  #missing = 0;
  /** The error of a transcript was sent: its empty result follows. */
  #awaitsEmpty = false;
  #requestId: string | null = null;
  #isOver = false;

  constructor(private readonly facts: ListenFacts) {}

  /** Throws where the message may not come now. */
  receive(event: SocketEvent): void {
    expect(this.#isOver, 'Metadata is the last message').to.equal(false);
    if (this.#awaitsEmpty) expect(event.type).to.equal('Results');
    const handler = HANDLERS[event.type];
    if (handler === undefined) throw new Error(`There is no message ${event.type}.`);
    handler(this, event);
  }

  /** Throws where something is missing, of a session whose client asked for the end. `coversAll`: as its words do. */
  finish({ coversAll }: { coversAll: boolean }): void {
    const { finalizes, unknown, seconds } = this.facts;
    expect(this.#isOver, 'Metadata has come').to.equal(true);
    expect(this.#finalized, 'results of Finalize').to.equal(finalizes);
    expect(this.#unknown, 'errors').to.equal(unknown);
    expect(this.#coveredTo).to.be.closeTo(seconds, ROUNDING);
    if (!coversAll || this.#failed > 0) return;
    expect(this.#missing, 'words that are missing').to.equal(0);
    const last = Math.ceil((seconds - SHORTEST_SECONDS) / WORD_SECONDS) - 1;
    expect(this.#lastWord, 'the last word').to.be.at.least(Math.max(-1, last));
  }

  results(event: SocketEvent): void {
    const result = event as unknown as Results;
    const [alternative] = result.channel.alternatives;
    const { transcript, words } = alternative!;
    this.#sameRequest(result.metadata.request_id);
    expect(result.start, 'the start of a range, where the last final one ended').to.be.closeTo(
      this.#coveredTo,
      ROUNDING,
    );
    expect(result.duration).to.be.at.least(0);
    if (this.#awaitsEmpty) expect([result.is_final, transcript]).to.deep.equal([true, '']);
    this.#awaitsEmpty = false;
    const end = result.start + result.duration;
    expect(end).to.be.at.most(this.facts.seconds + ROUNDING);
    const numbers = wordsOf(transcript);
    expect(words.map(({ word }) => word)).to.deep.equal(numbers.map((number) => `w${number}`));
    for (const [index, { start, end: wordEnd }] of words.entries()) {
      expect(start)
        .to.be.at.least(result.start - PADDING)
        .and.at.most(wordEnd);
      expect(wordEnd).to.be.at.most(end + ROUNDING);
      if (index > 0) expect(numbers[index], 'the next word').to.equal(numbers[index - 1]! + 1);
    }
    if (numbers.length > 0) expect(numbers[0], `a word behind w${this.#lastWord}`).to.be.above(this.#lastWord);
    if (result.is_final) this.#final(result, end, numbers);
    else this.#interim(result);
  }

  speechStarted({ timestamp, channel }: SocketEvent): void {
    expect(this.facts.vadEvents, 'SpeechStarted was asked for').to.equal(true);
    expect(channel).to.deep.equal([0]);
    expect(Number(timestamp)).to.be.at.least(this.#lastStarted);
    this.#lastStarted = Number(timestamp);
  }

  utteranceEnd({ last_word_end: end }: SocketEvent): void {
    expect(this.facts.utteranceEndMs, 'UtteranceEnd was asked for').to.be.a('number');
    expect(end, 'the end of the last word, once').to.equal(this.#lastWordEnd);
    this.#lastWordEnd = null;
  }

  error({ variant, description }: SocketEvent): void {
    expect(description).to.be.a('string').that.is.not.equal('');
    if (variant === 'UnknownMessage') this.#unknown += 1;
    else {
      expect(variant).to.equal('Transcription');
      this.#failed += 1;
      this.#awaitsEmpty = true;
    }
    expect(this.#unknown, 'errors').to.be.at.most(this.facts.unknown);
  }

  metadata({ duration, channels, sha256, request_id: id }: SocketEvent): void {
    expect(this.facts.isClosing, 'the client asked for the end').to.equal(true);
    expect(Number(duration)).to.be.closeTo(this.facts.seconds, ROUNDING);
    expect({ channels, sha256 }).to.deep.equal({ channels: this.facts.channels, sha256: this.facts.sha256 });
    this.#sameRequest(String(id));
    this.#isOver = true;
  }

  #final(result: Results, end: number, numbers: readonly number[]): void {
    this.#coveredTo = end;
    if (result.from_finalize) this.#finalized += 1;
    expect(this.#finalized, 'results of Finalize').to.be.at.most(this.facts.finalizes);
    if (numbers.length === 0) return;
    this.#missing += numbers[0]! - this.#lastWord - 1;
    this.#lastWord = numbers.at(-1)!;
    this.#lastWordEnd = result.channel.alternatives[0]!.words.at(-1)!.end;
  }

  #interim({ speech_final: isEnd, from_finalize: isFlush }: Results): void {
    expect(this.facts.interim, 'interim results were asked for').to.equal(true);
    expect([isEnd, isFlush]).to.deep.equal([false, false]);
  }

  #sameRequest(id: string): void {
    this.#requestId ??= id;
    expect(id).to.equal(this.#requestId);
  }
}

type Handler = (model: ListenProtocolModel, event: SocketEvent) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  Results: (model, event) => model.results(event),
  SpeechStarted: (model, event) => model.speechStarted(event),
  UtteranceEnd: (model, event) => model.utteranceEnd(event),
  Error: (model, event) => model.error(event),
  Metadata: (model, event) => model.metadata(event),
};
