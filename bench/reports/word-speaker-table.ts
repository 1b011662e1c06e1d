import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { seededRandom } from '../load/random.js';
import type { RecognisedRecording } from '../speakers/spoken-words.js';
import {
  judgedByText,
  judgedByTurns,
  rightOfOneSpeaker,
  rightOfRandomSpeakers,
  rightWords,
  wordsOfTurns,
  type SpokenTurn,
} from '../speakers/word-speakers.js';
import type { Table } from './report.js';
import { sum } from './statistics.js';

const DRAWS = 20;

/** Of one recording, in words. */
export interface WordScore {
  recording: string;
  spoken: number;
  /** That have a speaker. */
  judged: number;
  right: number;
  /** What a figure has to be better than, of all that were spoken. */
  rightOfOneSpeaker: number;
  /** Mean of several draws. */
  rightOfRandomSpeakers: number;
}

/** Scores words that the service recognised, or the spoken words as the found turns assign them. */
export function scoreWords(
  recording: string,
  turns: readonly SpokenTurn[],
  answer: readonly SpeakerTurn[] | RecognisedRecording,
): WordScore {
  const words = wordsOfTurns(turns);
  const judged = 'words' in answer ? judgedByText(words, answer.words) : judgedByTurns(words, answer);
  const random = seededRandom(1);
  const draws = Array.from({ length: DRAWS }, () => rightOfRandomSpeakers(turns, random));
  return {
    ...{ recording, spoken: words.length, judged: judged.length, right: rightWords(judged) },
    rightOfOneSpeaker: rightOfOneSpeaker(words),
    rightOfRandomSpeakers: sum(draws) / DRAWS,
  };
}

/** A row a recording, and one of all their words. */
export function wordSpeakerTable(scores: readonly WordScore[]): Table {
  const rows = scores.map((score) => ({ recording: score.recording, ...figures([score]) }));
  return { title: 'Words', rows: [...rows, { recording: 'all', ...figures(scores) }] };
}

function figures(scores: readonly WordScore[]): Record<string, number | null> {
  const total = (of: Exclude<keyof WordScore, 'recording'>): number => sum(scores.map((score) => score[of]));
  const [spoken, judged] = [total('spoken'), total('judged')];
  return {
    words: spoken,
    judged,
    'right %': percent(total('right'), judged),
    'one speaker, right %': percent(total('rightOfOneSpeaker'), spoken),
    'random labels, right %': percent(total('rightOfRandomSpeakers'), spoken),
  };
}

/** null of no words. */
function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Number(((100 * part) / whole).toFixed(1));
}
