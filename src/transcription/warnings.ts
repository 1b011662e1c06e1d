import type { EngineInfo, Transcript } from '../engine/types.js';
import { ownCommand } from '../package-root.js';

/** A warning to the client with an answer that is valid all the same. */
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
  transcript: TextOfTranscript,
  { modelName, isDemonstration }: Pick<EngineInfo, 'modelName' | 'isDemonstration'>,
): Warning[] {
  if (!isDemonstration && transcript.unsureWindows === 0) return [];
  const what = `"${modelName}" is a demonstration model for synthetic voices and a phrase book`;
  return [{ code: 'demonstration_model', message: `${textLoss(transcript)}${what}. ${INSTALL_ADVICE}` }];
}

type TextOfTranscript = Pick<Transcript, 'text' | 'unsureWindows'>;

/** Whether there is less text than speech, as far as can be known. */
export function lacksText({ text, unsureWindows }: TextOfTranscript): boolean {
  return unsureWindows > 0 || text.trim() === '';
}

function textLoss(transcript: TextOfTranscript): string {
  if (!lacksText(transcript)) return 'The text may be wrong: ';
  return transcript.unsureWindows > 0
    ? 'Text was left out, since the model was not sure of it: '
    : 'No text was recognised: ';
}
