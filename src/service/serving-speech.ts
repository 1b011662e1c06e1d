import type { LaneDivision } from '../engine/lane-division.js';
import type { EngineInfo, EngineLoad, SpeechEngine } from '../engine/types.js';
import type { EngineApart } from './engine-apart.js';
import type { ModelTurns } from './model-turns.js';

export interface AllEngines {
  /**
   * The engines in memory: the default model's, the previous default's while it has requests, and those of other
   * models.
   */
  atWork: () => readonly EngineApart[];
  division: Pick<LaneDivision, 'leftSeconds'>;
}

/** The speech engine that serves by default at the moment. Requests hold a lease of one engine. */
export class ServingSpeech implements Pick<SpeechEngine, 'info' | 'stats'> {
  constructor(
    private readonly models: Pick<ModelTurns, 'serving'>,
    private readonly all: AllEngines,
  ) {}

  get info(): EngineInfo {
    return this.models.serving.speech.info;
  }

  /** The load of all engines. They share the slots of the default model. */
  stats(): EngineLoad {
    const loads = this.all.atWork().map(({ speech }) => speech.stats());
    const sum = (of: (load: EngineLoad) => number): number => loads.reduce((sum, one) => sum + of(one), 0);
    return {
      slots: this.models.serving.speech.stats().slots,
      busySlots: sum(({ busySlots }) => busySlots),
      windowsInFlight: sum(({ windowsInFlight }) => windowsInFlight),
      queuedWindows: sum(({ queuedWindows }) => queuedWindows),
      realTimeFactor: this.realTimeFactor,
    };
  }

  /**
   * The mean real-time factor of all models that have audio to transcribe, weighted by their remaining audio. If none
   * has, the factor of the default model.
   */
  get realTimeFactor(): number {
    const left = this.all.division.leftSeconds();
    let seconds = 0;
    let processing = 0;
    for (const engine of this.all.atWork()) {
      const audio = left.get(engine) ?? 0;
      seconds += audio;
      processing += audio * engine.speech.stats().realTimeFactor;
    }
    return seconds > 0 ? processing / seconds : this.models.serving.speech.stats().realTimeFactor;
  }
}
