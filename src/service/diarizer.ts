/** Creates the diarizer from the configured speaker models, or gives the reason why there is none. */
import { FairDiarizer, type DiarizationObserver } from '../engine/speakers/fair-diarizer.js';
import type { NoDiarizer } from '../engine/types.js';
import type { ModelMemory } from './model-memory.js';
import type { Speakers } from './speaker-engine.js';

export interface DiarizerOptions {
  observer?: DiarizationObserver;
  /** The memory that it shares with other models. Default: no limit. */
  memory?: Pick<ModelMemory, 'makeRoom'>;
}

export function createDiarizer(speakers: Speakers, options: DiarizerOptions = {}): FairDiarizer | NoDiarizer {
  if (speakers.engine === null) return { unavailable: speakers.unavailable };
  const { engine, embedding, bytes } = speakers;
  const { observer, memory } = options;
  const loadable = async (): Promise<typeof engine> => {
    if (engine.stats().pid === null) await memory?.makeRoom(bytes);
    return engine;
  };
  return new FairDiarizer({
    engine: {
      diarize: async (file) => (await loadable()).diarize(file),
      voicesIn: async (samples, signal) => (await loadable()).voicesIn(samples, signal),
      close: () => engine.close(),
    },
    languages: embedding.languages,
    ...(observer === undefined ? {} : { observer }),
  });
}
