/** Texts that two decoders pairs differently, and how near each was to the other in one of them. */
import type { Table } from './report.js';
import { differs, type TranscriptPair } from './transcripts.js';

/** Of one token of a text, time stamps among them; logarithms are natural ones, null is infinite. */
export interface TokenChoice {
  id: number;
  logProbability: number | null;
  /** The next likeliest of its kind; -1 for a token that was drawn at random. */
  runnerUp: number;
  runnerUpLogProbability: number | null;
  /** By how much all time stamps together were likelier than the likeliest text. */
  timeStampLead: number | null;
  /** How far logits would have to move for this step to end otherwise. */
  margin: number | null;
}

/** Transcript with reasons, beside what the other says. */
export interface ExplainedPair extends TranscriptPair {
  first: TranscriptPair['first'] & {
    choices: readonly TokenChoice[];
    /** Nats between the likeliest language and the next; null where it was given. */
    languageMargin: number | null;
  };
  second: TranscriptPair['second'] & { tokens: readonly number[] };
}

export interface Difference {
  /** Of the first token that is another; null where only the languages differ. */
  position: number | null;
  first: TokenChoice | null;
  second: number | null;
  /** Nats; Infinity where nothing was near. */
  margin: number;
}

/** Two choices so near each other that rounding may decide. */
export const NEAR_TIE_NATS = 0.02;
/** Of all windows, that may differ. */
const MOST_DIFFERENT = 0.02;

/**
 * Where they part and how near that was. A search with several beams is decided by every step of it: a text that loses
 * a rank early comes out at the end.
 */
export function differenceOf({ first, second }: ExplainedPair, beamSize: number): Difference {
  const { choices, languageMargin } = first;
  if (first.language !== second.language)
    return { position: null, first: null, second: null, margin: languageMargin ?? Infinity };
  const length = Math.max(choices.length, second.tokens.length);
  const position = Array.from({ length }, (_, i) => i).find((i) => choices[i]?.id !== second.tokens[i]);
  if (position === undefined) return { position: null, first: null, second: null, margin: Infinity };
  // A text that ends where the other goes on has chosen its end with its last token.
  const place = Math.min(position, choices.length - 1);
  const deciding = beamSize === 1 ? choices.slice(place, place + 1) : choices;
  return {
    position,
    first: choices[position] ?? null,
    second: second.tokens[position] ?? null,
    margin: Math.min(Infinity, ...deciding.map(({ margin }) => margin ?? Infinity)),
  };
}

/** Few windows differ, and each of them at a near tie. */
export function agrees(pairs: readonly ExplainedPair[], beamSize: number): boolean {
  const different = pairs.filter(differs);
  return (
    different.length <= MOST_DIFFERENT * pairs.length &&
    different.every((one) => differenceOf(one, beamSize).margin <= NEAR_TIE_NATS)
  );
}

/** A row a window that differs; none for none. */
export function nearTieTables(
  title: string,
  pairs: readonly ExplainedPair[],
  beamSize: number,
  names: readonly [first: string, second: string],
): Table[] {
  const rows = pairs.filter(differs).map((one) => rowOf(one, differenceOf(one, beamSize), names));
  return rows.length === 0 ? [] : [{ title: `${title}: how near what differs was`, rows }];
}

function rowOf(
  { clip }: ExplainedPair,
  { position, first, second, margin }: Difference,
  [ours, theirs]: readonly [string, string],
): Table['rows'][number] {
  return {
    clip: clip.path,
    'first other token': position,
    [`${ours}: token`]: first?.id ?? null,
    'log probability': nats(first?.logProbability),
    [`${theirs}: token`]: second,
    'runner-up': first === null || first.runnerUp < 0 ? null : first.runnerUp,
    'its log probability': nats(first?.runnerUpLogProbability),
    'time stamps over text': nats(first?.timeStampLead),
    'margin, nats': Number.isFinite(margin) ? nats(margin) : null,
    'near tie': margin <= NEAR_TIE_NATS ? 'yes' : 'no',
  };
}

function nats(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toPrecision(3));
}
