/** The diarizer, made of the speaker models that the configuration has; where it has none, why. */
import { FairDiarizer, type DiarizationObserver } from '../engine/speakers/fair-diarizer.js';
import type { NoDiarizer } from '../engine/types.js';
import type { Speakers } from './speaker-engine.js';

export function createDiarizer(speakers: Speakers, observer?: DiarizationObserver): FairDiarizer | NoDiarizer {
  if (speakers.engine === null) return { unavailable: speakers.unavailable };
  return new FairDiarizer({
    engine: speakers.engine,
    languages: speakers.embedding.languages,
    ...(observer === undefined ? {} : { observer }),
  });
}
