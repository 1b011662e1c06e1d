import type { EngineInfo, EngineLoad, SpeechEngine } from '../engine/types.js';
import type { ModelTurns } from './model-turns.js';

/** The speech engine that serves now, whichever that is; requests hold a lease of one. */
export class ServingSpeech implements Pick<SpeechEngine, 'info' | 'stats'> {
  constructor(private readonly models: Pick<ModelTurns, 'serving' | 'atWork'>) {}

  get info(): EngineInfo {
    return this.models.serving.speech.info;
  }

  /** With the work that the model before still has to do. */
  stats(): EngineLoad {
    const all = this.models.atWork.map(({ speech }) => speech.stats());
    const sum = (of: (load: EngineLoad) => number): number => all.reduce((sum, one) => sum + of(one), 0);
    const { slots, realTimeFactor } = this.models.serving.speech.stats();
    return {
      // None while the one that serves is not there.
      slots: slots === 0 ? 0 : sum((load) => load.slots),
      busySlots: sum(({ busySlots }) => busySlots),
      windowsInFlight: sum(({ windowsInFlight }) => windowsInFlight),
      queuedWindows: sum(({ queuedWindows }) => queuedWindows),
      realTimeFactor,
    };
  }
}
