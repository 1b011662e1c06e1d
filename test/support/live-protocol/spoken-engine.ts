/**
 * A fake engine whose text names the audio that it was given, so that a test sees what is lost, doubled or out of order:
 * of every quarter of a second that begins in it a word, w0, w1, …
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecognisedUtterance, UtteranceToRecognise } from '../../../src/engine/types.js';
import { FakeEngine } from '../fake-engine.js';
import type { Mulberry32 } from '../random.js';

export const WORD_SECONDS = 0.25;
const WORD_SAMPLES = WORD_SECONDS * 16_000;
/** One in so many utterances fails. */
const FAILING = 40;
const LONGEST_WORK_MS = 30;

export class SpokenEngine extends FakeEngine {
  constructor(private readonly random: Mulberry32) {
    super();
    // As many sessions as are asked for, each with as much to do at once.
    this.slots = 1000;
    this.realTimeFactor = 0.0001;
  }

  override recognise(utterance: UtteranceToRecognise): Promise<RecognisedUtterance> {
    this.utterances.push(textOf(utterance.startSample, utterance.samples.length));
    try {
      return super.recognise(utterance);
    } finally {
      this.utterances.length = 0;
      this.recognised.length = 0;
    }
  }

  protected override async work(signal: AbortSignal | undefined, window: number): Promise<void> {
    await sleep(this.random.next() ** 3 * LONGEST_WORK_MS);
    if (this.random.below(FAILING) === 0) throw new Error('A made-up failure.');
    await super.work(signal, window);
  }
}

function textOf(start: number, length: number): string {
  const words: string[] = [];
  for (let word = Math.ceil(start / WORD_SAMPLES); word * WORD_SAMPLES < start + length; word++) words.push(`w${word}`);
  // Of some a sentence ends, which ends turns by meaning.
  return words.length === 0 ? '' : ` ${words.join(' ')}${words.length % 3 === 0 ? '.' : ''}`;
}

/** The numbers of the words in a text. Throws where it has another. */
export function wordsOf(text: string): number[] {
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const number = /^w(\d+)\.?$/.exec(word)?.[1];
      if (number === undefined) throw new Error(`"${word}" is no word of the engine's.`);
      return Number(number);
    });
}
