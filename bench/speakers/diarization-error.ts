/**
 * How wrong an answer to who speaks when is: the diarization error rate of NIST's RT evaluations (md-eval) and the
 * Jaccard error rate of DIHARD II (dscore). Overlapped speech counts for each who speaks in it.
 */
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { scoredSpans, speakersOf, type ScoredSpan } from './scored-spans.js';
import { bestMapping, type SpeakerMapping } from './speaker-mapping.js';

/** In seconds of speech; seconds in which two speak count twice. */
export interface DiarizationErrors {
  /** Of the reference. */
  total: number;
  missed: number;
  falseAlarm: number;
  /** Attributed to somebody else. */
  confusion: number;
}

/** Seconds in which they speak at the same time, by reference and hypothesis. */
class CommonSpeech {
  readonly #seconds = new Map<string, Map<string, number>>();

  constructor(spans: readonly ScoredSpan[]) {
    for (const { seconds, reference, hypothesis } of spans)
      for (const one of reference) for (const other of hypothesis) this.#add(one, other, seconds);
  }

  of(reference: string, hypothesis: string): number {
    return this.#seconds.get(reference)?.get(hypothesis) ?? 0;
  }

  #add(reference: string, hypothesis: string, seconds: number): void {
    const row = this.#seconds.get(reference) ?? new Map<string, number>();
    row.set(hypothesis, (row.get(hypothesis) ?? 0) + seconds);
    this.#seconds.set(reference, row);
  }
}

/**
 * Under the mapping of speakers that is best for the hypothesis, found where the collar leaves the time line to be
 * scored.
 */
export function diarizationErrors(
  reference: readonly SpeakerTurn[],
  hypothesis: readonly SpeakerTurn[],
  collarSeconds = 0,
): DiarizationErrors {
  const spans = scoredSpans(reference, hypothesis, collarSeconds);
  const common = new CommonSpeech(spans);
  const mapping = bestMapping(speakersOf(reference), speakersOf(hypothesis), (one, other) => common.of(one, other));
  return addedErrors(spans.map((span) => spanErrors(span, mapping)));
}

function spanErrors({ seconds, reference, hypothesis }: ScoredSpan, mapping: SpeakerMapping): DiarizationErrors {
  const right = [...hypothesis].filter((speaker) => reference.has(mapping.get(speaker) ?? '')).length;
  return {
    total: seconds * reference.size,
    missed: seconds * Math.max(0, reference.size - hypothesis.size),
    falseAlarm: seconds * Math.max(0, hypothesis.size - reference.size),
    confusion: seconds * (Math.min(reference.size, hypothesis.size) - right),
  };
}

export function addedErrors(errors: readonly DiarizationErrors[]): DiarizationErrors {
  const sum = { total: 0, missed: 0, falseAlarm: 0, confusion: 0 };
  for (const error of errors) {
    sum.total += error.total;
    sum.missed += error.missed;
    sum.falseAlarm += error.falseAlarm;
    sum.confusion += error.confusion;
  }
  return sum;
}

/** 0 or more, and above 1 where more is found than is spoken. Where nobody speaks: 0, or 1 for any false alarm. */
export function diarizationErrorRate({ total, missed, falseAlarm, confusion }: DiarizationErrors): number {
  const wrong = missed + falseAlarm + confusion;
  if (total === 0) return wrong === 0 ? 0 : 1;
  return wrong / total;
}

/**
 * Of each speaker of the reference, 0 to 1: what one of the two, they or the speaker that stands for them, speaks
 * alone, by what either speaks; 1 for whom nobody stands. No collar.
 */
export function jaccardErrors(
  reference: readonly SpeakerTurn[],
  hypothesis: readonly SpeakerTurn[],
): Map<string, number> {
  const spans = scoredSpans(reference, hypothesis);
  const common = new CommonSpeech(spans);
  const ofReference = spokenSeconds(spans, (span) => span.reference);
  const ofHypothesis = spokenSeconds(spans, (span) => span.hypothesis);
  const agreement = (one: string, other: string): number => {
    const both = common.of(one, other);
    return both / ((ofReference.get(one) ?? 0) + (ofHypothesis.get(other) ?? 0) - both);
  };
  const mapping = bestMapping(speakersOf(reference), speakersOf(hypothesis), agreement);
  const errors = new Map(speakersOf(reference).map((speaker) => [speaker, 1]));
  for (const [other, one] of mapping) errors.set(one, 1 - agreement(one, other));
  return errors;
}

function spokenSeconds(
  spans: readonly ScoredSpan[],
  speakers: (span: ScoredSpan) => ReadonlySet<string>,
): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const span of spans)
    for (const speaker of speakers(span)) seconds.set(speaker, (seconds.get(speaker) ?? 0) + span.seconds);
  return seconds;
}
