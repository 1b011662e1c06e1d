/** The speaker of a text, from the speakers' turns. */
import type { SpeakerTurn } from '../engine/speakers/speaker-turn.js';
import { inThousandths } from './timed-text.js';

export interface TimeSpan {
  startSeconds: number;
  endSeconds: number;
}

type SpokenSpan = TimeSpan & { speaker: string };

interface Voice {
  speaker: string;
  /** In order, without overlap, none empty. */
  spans: TimeSpan[];
}

/** Of a file with recognised words and no detected speaker. */
const SOMEBODY = '';

/**
 * The turns of a file's speakers, in whole thousandths and within the file, those of one speaker made one where they
 * overlap. Its speakers are S1, S2, … in the order in which nameOf() is asked for them.
 */
export class SpeakerTimeline {
  readonly #voices: Voice[];
  readonly #names = new Map<string, string>();

  /** Any turns, in any order. */
  constructor(turns: readonly SpeakerTurn[], durationSeconds: number) {
    const spans = new Map<string, TimeSpan[]>();
    for (const turn of [...turns].sort(byStart)) {
      const startSeconds = inThousandths(Math.max(0, turn.startSeconds));
      const endSeconds = inThousandths(Math.min(turn.endSeconds, durationSeconds));
      if (endSeconds <= startSeconds) continue;
      const own = spans.get(turn.speaker) ?? [];
      const last = own.at(-1);
      if (last !== undefined && startSeconds <= last.endSeconds) {
        last.endSeconds = Math.max(last.endSeconds, endSeconds);
      } else own.push({ startSeconds, endSeconds });
      spans.set(turn.speaker, own);
    }
    this.#voices = [...spans].map(([speaker, own]) => ({ speaker, spans: own }));
  }

  /**
   * Who speaks for most of that time, else whose turn is nearest; of equals who began earlier. Where there are no turns
   * at all, somebody does.
   */
  speakerOf(span: TimeSpan): string {
    let best: Candidate | null = null;
    for (const { speaker, spans } of this.#voices) {
      const candidate = { speaker, ...closeness(spans, span) };
      if (best === null || isCloser(candidate, best)) best = candidate;
    }
    return best?.speaker ?? SOMEBODY;
  }

  nameOf(speaker: string): string {
    const name = this.#names.get(speaker) ?? `S${this.#names.size + 1}`;
    this.#names.set(speaker, name);
    return name;
  }

  /** Every turn that its speaker has none of these texts in, by start; the texts are in order. */
  turnsWithout(texts: readonly SpokenSpan[]): SpokenSpan[] {
    const bySpeaker = new Map<string, SpokenSpan[]>(this.#voices.map(({ speaker }) => [speaker, []]));
    for (const text of texts) bySpeaker.get(text.speaker)?.push(text);
    const silent: SpokenSpan[] = [];
    for (const { speaker, spans } of this.#voices) {
      const own = bySpeaker.get(speaker) ?? [];
      let next = 0;
      for (const span of spans) {
        while ((own[next]?.endSeconds ?? Infinity) < span.startSeconds) next++;
        if (!hasTextIn(span, own, next)) silent.push({ ...span, speaker });
      }
    }
    return silent.sort(byStart);
  }
}

interface Candidate {
  speaker: string;
  /** Thousandths of a second. */
  overlap: number;
  /** Seconds to the nearest turn; 0 where there is overlap. */
  distance: number;
  /** Where the turn begins that is the first of these. */
  since: number;
}

function isCloser(one: Candidate, other: Candidate): boolean {
  if (one.overlap !== other.overlap) return one.overlap > other.overlap;
  if (one.distance !== other.distance) return one.distance < other.distance;
  return one.since < other.since;
}

/** `spans` has one at least. */
function closeness(spans: readonly TimeSpan[], span: TimeSpan): Omit<Candidate, 'speaker'> {
  const { startSeconds, endSeconds } = span;
  const first = firstEndingAfter(spans, startSeconds);
  let overlap = 0;
  for (let index = first; (spans[index]?.startSeconds ?? Infinity) < endSeconds; index++) {
    overlap += overlapOf(spans[index] ?? span, span);
  }
  if (overlap > 0) return { overlap, distance: 0, since: spans[first]?.startSeconds ?? 0 };
  const near = [spans[first - 1], spans[first]].flatMap((turn) =>
    turn === undefined ? [] : [{ distance: distanceOf(turn, span), since: turn.startSeconds }],
  );
  const [before = { distance: Infinity, since: 0 }, after = before] = near;
  return { overlap: 0, ...(after.distance < before.distance ? after : before) };
}

/** In whole thousandths, which add up without an error. */
function overlapOf(one: TimeSpan, other: TimeSpan): number {
  const start = Math.max(one.startSeconds, other.startSeconds);
  return Math.round(1000 * (Math.min(one.endSeconds, other.endSeconds) - start));
}

function distanceOf(turn: TimeSpan, { startSeconds, endSeconds }: TimeSpan): number {
  return inThousandths(Math.max(0, turn.startSeconds - endSeconds, startSeconds - turn.endSeconds));
}

function firstEndingAfter(spans: readonly TimeSpan[], seconds: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.endSeconds ?? Infinity) > seconds) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether any of the texts, from that one on, is said in the span. */
function hasTextIn(span: TimeSpan, texts: readonly TimeSpan[], first: number): boolean {
  for (let index = first; index < texts.length; index++) {
    const text = texts[index] ?? span;
    if (text.startSeconds > span.endSeconds) return false;
    if (isWithin(text, span)) return true;
  }
  return false;
}

/** Whether some of the text is said in the span; one without duration is at its edge, too. */
function isWithin(text: TimeSpan, span: TimeSpan): boolean {
  if (text.startSeconds === text.endSeconds) {
    return text.startSeconds >= span.startSeconds && text.startSeconds <= span.endSeconds;
  }
  return text.startSeconds < span.endSeconds && text.endSeconds > span.startSeconds;
}

function byStart(one: TimeSpan, other: TimeSpan): number {
  return one.startSeconds - other.startSeconds || one.endSeconds - other.endSeconds;
}
