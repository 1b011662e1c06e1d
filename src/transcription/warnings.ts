import type { SpeechEngine, Transcript } from '../engine/types.js';
import { ownCommand } from '../package-root.js';

/** What a client should know of an answer that is none the less valid. */
export type Warning = {
  code: 'demonstration_model';
  message: string;
};

/** A published model that runs on a small machine, to be had in place of a demonstration one. */
export const SUGGESTED_MODEL = 'base';

/** The one command that installs it, and how it is chosen. */
export const INSTALL_ADVICE =
  `Install a published model with "${ownCommand} models pull ${SUGGESTED_MODEL}" ` +
  `and start with VERBATIM_MODEL=${SUGGESTED_MODEL}.`;

/** Of an answer with this transcript; mostly none. */
export function warningsOf(
  { unsureWindows }: Pick<Transcript, 'unsureWindows'>,
  { modelName }: Pick<SpeechEngine, 'modelName'>,
): Warning[] {
  if (unsureWindows === 0) return [];
  const message =
    `Text was left out: "${modelName}" is a demonstration model for synthetic voices and a phrase book, and was not ` +
    `sure of what is said here. ${INSTALL_ADVICE}`;
  return [{ code: 'demonstration_model', message }];
}
