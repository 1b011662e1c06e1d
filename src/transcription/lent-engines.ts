/** The engines of one request: another model may take the place of the one that it began with, which then ends it. */
import type { SpeechEngine } from '../engine/types.js';
import type { TextTranslator } from './language-support.js';

export interface LentEngines {
  engine: SpeechEngine;
  translator: TextTranslator | undefined;
  /** Once, when the request asks nothing more of them. */
  giveBack: () => void;
}

/** Those that serve now, which stay as they are until they are given back. */
export type LendEngines = () => LentEngines;

/** For a server whose engines never change. */
export function lendAlways(engine: SpeechEngine, translator: TextTranslator | undefined): LendEngines {
  return () => ({ engine, translator, giveBack: () => undefined });
}
