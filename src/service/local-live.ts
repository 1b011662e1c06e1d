/** A live session on this machine without a server, an account or a charge, for `verbatim live`. */
import { LiveAbilities } from '../live/abilities.js';
import type { SessionEvent } from '../live/events.js';
import { InputMemory } from '../live/input-memory.js';
import { audioOptions, type LiveFormat, type LiveSettings } from '../live/options.js';
import { LiveSession } from '../live/session.js';
import { SlotUse } from '../live/slot-use.js';
import { systemTimers } from '../timers.js';
import type { ServiceContext } from './context.js';
import { createDiarizer } from './diarizer.js';
import { liveAudioSource } from './live-audio.js';
import { createSpeakerEngine } from './speaker-engine.js';
import { loadEngine } from './speech-engine.js';
import { createTranslationEngine } from './translation-engine.js';

export interface LocalLive {
  session: LiveSession;
  /** The name of the model, and whether it is the demonstration. */
  info: { modelName: string; isDemonstration: boolean };
  close: () => Promise<void>;
}

export interface LocalLiveOptions {
  format: LiveFormat;
  settings: LiveSettings;
  emit: (event: SessionEvent) => void;
}

const ACCOUNT = 'local';
/** Nobody else waits for this machine, and nobody pays. */
const FREE = { paidSeconds: Infinity, payMinute: () => Promise.resolve() };
const UNMEASURED = { begin: () => () => undefined };
const UNPACED = { delayMs: () => 0 };

/** Loads the configured speech model. Rejects as LiveAbilities.check() throws. */
export async function startLocalLive(
  { config, roots, manifest }: ServiceContext,
  { format, settings, emit }: LocalLiveOptions,
): Promise<LocalLive> {
  const translator = createTranslationEngine(config, roots, manifest);
  const speakers = createSpeakerEngine(config, roots, manifest);
  const diarizer = createDiarizer(speakers);
  const engine = await loadEngine(config, roots, manifest);
  const closeEngines = async (): Promise<void> => {
    await engine.close();
    await translator.close();
    await speakers.engine?.close();
  };
  try {
    new LiveAbilities({ info: engine.info, translator }, diarizer).check(settings);
    const source = await liveAudioSource(config, roots, manifest);
    const session = new LiveSession({
      audio: source.open(audioOptions(format, settings, engine.info.windowSeconds)),
      ...{ format, settings, engine, emit, meter: FREE, rate: UNPACED, memory: new InputMemory() },
      ...{ translator, diarizer, extraWork: UNMEASURED },
      ...{ accountId: ACCOUNT, requestId: ACCOUNT, maxSeconds: Infinity, timers: systemTimers },
      signal: new AbortController().signal,
      observer: { finalResult: () => undefined, partialResult: () => undefined, partialShed: () => undefined },
      room: () => 1,
      slotUse: new SlotUse(() => engine.stats().slots),
    });
    const close = async (): Promise<void> => {
      session.leave();
      source.close();
      await closeEngines();
    };
    return { session, info: engine.info, close };
  } catch (error) {
    await closeEngines();
    throw error;
  }
}
