/** How long after the audio its results came, milliseconds. */
import { PIECE_SECONDS, type FedSession } from './session.js';

export interface Lags {
  /** Of final results: after the silence that ended the utterance was sent. */
  finals: number[];
  /** Of each piece of speech: from when it was sent to the first result, and to the first final one, that covers it. */
  covered: number[];
  committed: number[];
}

export function lagsOf(session: FedSession): Lags {
  return { finals: finalLags(session), ...coverage(session) };
}

function finalLags({ results, sentAt }: FedSession): number[] {
  return results.flatMap(({ at, answer }) => {
    if (answer.kind !== 'final' || answer.endpointSeconds === null) return [];
    const sent = sentAt[pieceOf(answer.endpointSeconds)];
    return sent === undefined ? [] : [at - sent];
  });
}

/** The piece that holds the sample before this time. */
function pieceOf(seconds: number): number {
  return Math.max(0, Math.ceil(seconds / PIECE_SECONDS - 1e-6) - 1);
}

interface Utterance {
  start: number;
  end: number;
}

function coverage({ results, sentAt }: FedSession): Pick<Lags, 'covered' | 'committed'> {
  const lags: Pick<Lags, 'covered' | 'committed'> = { covered: [], committed: [] };
  for (const { start, end } of utterancesOf(results)) {
    for (let piece = pieceOf(start) + 1; (piece + 1) * PIECE_SECONDS <= end; piece++) {
      const sent = sentAt[piece];
      const until = (piece + 1) * PIECE_SECONDS - 1e-6;
      if (sent === undefined) continue;
      const first = results.find(({ answer }) => endOf(answer) >= until);
      const final = results.find(({ answer }) => answer.kind === 'final' && endOf(answer) >= until);
      if (first !== undefined) lags.covered.push(first.at - sent);
      if (final !== undefined) lags.committed.push(final.at - sent);
    }
  }
  return lags;
}

/** Speech as the server found it: from where it reports the start, to the end of the final results. */
function utterancesOf(results: FedSession['results']): Utterance[] {
  const utterances: Utterance[] = [];
  let start: number | null = null;
  for (const { answer } of results) {
    if (answer.kind === 'speech started') start = answer.atSeconds;
    if (answer.kind !== 'final' || answer.endSeconds === null || answer.text === '') continue;
    if (start !== null) utterances.push({ start, end: answer.endSeconds });
    start = answer.endpointSeconds === null ? answer.endSeconds : null;
  }
  return utterances;
}

function endOf(answer: FedSession['results'][number]['answer']): number {
  if (answer.kind === 'interim') return answer.endSeconds;
  return answer.kind === 'final' ? (answer.endSeconds ?? -1) : -1;
}
