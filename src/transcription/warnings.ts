import type { EngineInfo, Transcript } from '../engine/types.js';
import { ownCommand } from '../package-root.js';

/** A warning to the client with an answer that is valid all the same. */
export type Warning = {
  code: 'demonstration_model' | 'not_kept';
  message: string;
};

/** The one command that installs a published model; without a name it takes the one that suits the machine. */
export const INSTALL_COMMAND = `${ownCommand} models pull`;

export const INSTALL_ADVICE = `"${INSTALL_COMMAND}" installs a published model that suits the machine.`;

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
