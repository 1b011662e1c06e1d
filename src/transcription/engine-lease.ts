/** The engines of one request, from the first look at it to its last window. */
import type { EngineInfo, SpeechEngine } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import type { TextTranslator } from './language-support.js';

/** Transcribes with one model. */
export type SpeechOfModel = Pick<SpeechEngine, 'info' | 'transcribe' | 'recognise'>;

/** Who waits for a model to be loaded. */
export interface SpeechRequest {
  accountId: string;
  signal: AbortSignal;
}

/** Another model may take the place of the one that it began with, which then ends it. */
export interface EngineLease {
  /** Converts and measures: the engine of the default model, whichever model is asked for. */
  reader: Pick<SpeechEngine, 'convert' | 'measure'>;
  /** Of the model that is asked for, loaded or not. */
  info: EngineInfo;
  /**
   * The engine of that model. A model that is not loaded is loaded for it, so it is asked for only once the work is
   * paid for. Rejects with the signal's reason, or with `overloaded` where there is no memory for the model now.
   */
  speech: (request: SpeechRequest) => Promise<SpeechOfModel>;
  translator: TextTranslator | undefined;
  /** Once, when the request asks nothing more of them. */
  release: () => void;
}

/**
 * The engines for a model by its name; null: the default model. They stay as they are until they are released. Throws
 * VerbatimError `unsupported_model` for a name that is not installed.
 */
export type AcquireEngines = (model: string | null) => EngineLease;

/** A speech model that requests may name. */
export interface ListedSpeechModel {
  /** As the leases for it have it, loaded or not. */
  info: EngineInfo;
  /** Whether it is in memory. */
  loaded: boolean;
  /** Since when, milliseconds since 1970; null: it is not loaded. */
  since: number | null;
}

/** The installed speech models. */
export interface SpeechModelDirectory {
  /** The default model first. */
  list: () => readonly [ListedSpeechModel, ...ListedSpeechModel[]];
  /** null: none of this name is installed. */
  find: (name: string) => ListedSpeechModel | null;
}

/** For a server that has one model, which never changes. */
export function fixedEngines(engine: SpeechEngine, translator: TextTranslator | undefined): AcquireEngines {
  return (model) => {
    const { info } = engine;
    if (model !== null && model !== info.modelName) throw unsupportedModel(model, [info.modelName]);
    return { reader: engine, info, speech: () => Promise.resolve(engine), translator, release: () => undefined };
  };
}

/** `installed`: names of the speech models that can be asked for. */
export function unsupportedModel(name: string, installed: readonly string[]): VerbatimError {
  const message = `There is no speech model "${name}"; installed: ${installed.join(', ')}.`;
  return new VerbatimError('unsupported_model', message, { param: 'model' });
}
