import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { seededRandom } from '../load/random.js';
import {
  addedErrors,
  diarizationErrors,
  diarizationErrorRate,
  jaccardErrors,
  type DiarizationErrors,
} from '../speakers/diarization-error.js';
import { speakersOf } from '../speakers/scored-spans.js';
import { oneSpeaker, randomSpeakers } from '../speakers/trivial-answers.js';
import type { Table } from './report.js';
import { sum } from './statistics.js';

/** Seconds, on each side of a start and end: none, and what the field has long forgiven. */
const COLLARS = { strict: 0, forgiving: 0.25 };
const DRAWS = 20;

type ByCollar = Record<keyof typeof COLLARS, DiarizationErrors>;

/** Of one recording. */
export interface SpeakerScore {
  recording: string;
  speakers: { known: number; found: number };
  errors: ByCollar;
  /** Of each speaker of the reference, 0 to 1. */
  jaccard: number[];
  /** What a figure has to be better than: without a collar. */
  oneSpeaker: DiarizationErrors;
  randomSpeakers: DiarizationErrors[];
  /** The turns of the answer, all of one speaker. */
  hypothesisAsOne: DiarizationErrors;
}

export function scoreRecording(
  recording: string,
  reference: readonly SpeakerTurn[],
  hypothesis: readonly SpeakerTurn[],
): SpeakerScore {
  const random = seededRandom(1);
  const errorsOf = (answer: readonly SpeakerTurn[], collarSeconds = 0): DiarizationErrors =>
    diarizationErrors(reference, answer, collarSeconds);
  return {
    recording,
    speakers: { known: speakersOf(reference).length, found: speakersOf(hypothesis).length },
    errors: {
      strict: errorsOf(hypothesis, COLLARS.strict),
      forgiving: errorsOf(hypothesis, COLLARS.forgiving),
    },
    jaccard: [...jaccardErrors(reference, hypothesis).values()],
    oneSpeaker: errorsOf(oneSpeaker(reference)),
    hypothesisAsOne: errorsOf(oneSpeaker(hypothesis)),
    randomSpeakers: Array.from({ length: DRAWS }, () => errorsOf(randomSpeakers(reference, random))),
  };
}

/** A row a recording, and one of them all: of all their speech, and of all their speakers. */
export function speakerTables(scores: readonly SpeakerScore[]): Table[] {
  const rows = scores.map((score) => ({
    recording: score.recording,
    'speakers known, found': `${score.speakers.known}, ${score.speakers.found}`,
    ...figures([score]),
  }));
  const right = scores.filter(({ speakers }) => speakers.known === speakers.found).length;
  const all = { recording: 'all', 'speakers known, found': `right in ${right}/${scores.length}` };
  return [{ title: 'Recordings', rows: [...rows, { ...all, ...figures(scores) }] }];
}

function figures(scores: readonly SpeakerScore[]): Record<string, number> {
  const strict = addedErrors(scores.map(({ errors }) => errors.strict));
  const jaccard = scores.flatMap((score) => score.jaccard);
  const part = (seconds: number): number => percent(strict.total === 0 ? 0 : seconds / strict.total);
  return {
    'DER %': percent(diarizationErrorRate(strict)),
    'missed %': part(strict.missed),
    'false alarm %': part(strict.falseAlarm),
    'confusion %': part(strict.confusion),
    'DER %, collar 0.25 s': percent(diarizationErrorRate(addedErrors(scores.map(({ errors }) => errors.forgiving)))),
    'JER %': percent(jaccard.length === 0 ? 0 : sum(jaccard) / jaccard.length),
    'one speaker where it finds speech, DER %': percent(
      diarizationErrorRate(addedErrors(scores.map((score) => score.hypothesisAsOne))),
    ),
    'one speaker, DER %': percent(diarizationErrorRate(addedErrors(scores.map((score) => score.oneSpeaker)))),
    'random labels, DER %': percent(diarizationErrorRate(addedErrors(scores.flatMap((score) => score.randomSpeakers)))),
  };
}

/** One decimal place. */
function percent(share: number): number {
  return Number((100 * share).toFixed(1));
}
