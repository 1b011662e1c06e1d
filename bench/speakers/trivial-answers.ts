/** Answers that know when somebody speaks and nothing of who: what a figure has to be better than. */
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { pick, type Random } from '../load/random.js';
import { speakersOf } from './scored-spans.js';

/** One person speaks all turns. */
export function oneSpeaker(reference: readonly SpeakerTurn[]): SpeakerTurn[] {
  return reference.map((turn) => ({ ...turn, speaker: 'S1' }));
}

/** As many people as there are, and each turn anybody's. */
export function randomSpeakers<T extends SpeakerTurn>(reference: readonly T[], random: Random): T[] {
  const speakers = speakersOf(reference);
  return reference.map((turn) => ({ ...turn, speaker: pick(random, speakers) }));
}
