/** The words of live sessions beside those of the same recordings, each transcribed in one piece. */
import type { SpokenClip } from '../load/clips.js';
import { WordErrorRate, wordErrors } from '../reports/wer.js';
import type { FedSession } from './session.js';
import type { Track } from './track.js';

/** Percent; null where the clips have no reference texts. */
export interface LiveWords {
  live: number | null;
  inOnePiece: number | null;
  /** Of the live words, those that differ from the words in one piece. */
  difference: number;
}

export interface SpokenSession {
  track: Pick<Track, 'clips'>;
  session: FedSession;
}

/** `textOf`: of a clip's path, in one piece. */
export function liveWords(sessions: readonly SpokenSession[], textOf: ReadonlyMap<string, string>): LiveWords {
  const [live, inOnePiece, difference] = [new WordErrorRate(), new WordErrorRate(), new WordErrorRate()];
  let hasReferences = true;
  for (const { track, session } of sessions) {
    const spoken = finalText(session);
    const whole = track.clips.map(({ path }) => textOf.get(path) ?? '').join(' ');
    difference.add(wordErrors(whole, spoken));
    const references = track.clips.map((clip) => (clip as Partial<SpokenClip>).text);
    if (references.includes(undefined)) {
      hasReferences = false;
      continue;
    }
    live.add(wordErrors(references.join(' '), spoken));
    inOnePiece.add(wordErrors(references.join(' '), whole));
  }
  return {
    live: hasReferences ? live.percent : null,
    inOnePiece: hasReferences ? inOnePiece.percent : null,
    difference: difference.percent,
  };
}

export function finalText({ results }: Pick<FedSession, 'results'>): string {
  return results
    .flatMap(({ answer }) => (answer.kind === 'final' && answer.text !== '' ? [answer.text] : []))
    .join(' ');
}
