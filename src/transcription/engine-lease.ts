/** The engines of one request: another model may take the place of the one that it began with, which then ends it. */
import type { SpeechEngine } from '../engine/types.js';
import type { TextTranslator } from './language-support.js';

export interface EngineLease {
  engine: SpeechEngine;
  translator: TextTranslator | undefined;
  /** Once, when the request asks nothing more of them. */
  release: () => void;
}

/** The engines that serve now, which stay as they are until they are released. */
export type AcquireEngines = () => EngineLease;

/** For a server whose engines never change. */
export function fixedEngines(engine: SpeechEngine, translator: TextTranslator | undefined): AcquireEngines {
  return () => ({ engine, translator, release: () => undefined });
}
