/** The microphone: recorded, with its level and the time, and with captions where they are wanted. */
import { startCaptions, type Captions } from './captions.js';
import { showLevel } from './level.js';
import { byId, chosenIn, type Texts } from './page-parts.js';
import { recordOnPress } from './recording.js';

export interface MicrophoneUse {
  texts: Texts;
  say: (id: 'status' | 'failure', name: string | null, values?: Readonly<Record<string, string | number>>) => void;
  /** A recording is finished. */
  add: (file: File) => void;
  /** Credits that are left. */
  balance: (credits: number) => void;
  /** Of the form, those that are filled in. */
  fields: () => FormData;
  livePath: string;
  /** Languages that captions are translated into. */
  liveTargets: readonly string[];
}

export function useMicrophone(use: MicrophoneUse): void {
  const { texts, say, add } = use;
  let captions: Promise<Captions> | null = null;
  let hideLevel: () => void = () => undefined;
  recordOnPress(byId('record') as HTMLButtonElement, {
    begun: (stream) => {
      say('status', 'recording');
      byId('recording-now').hidden = false;
      hideLevel = showLevel(stream, byId('level') as HTMLMeterElement, byId('timer'));
      if ((byId('wants-captions') as HTMLInputElement).checked)
        captions = caption(stream, use, () => (captions = null));
    },
    done: (blob) => {
      hideLevel();
      byId('recording-now').hidden = true;
      void captions?.then((running) => running.stop());
      add(new File([blob], texts['recorded'] ?? '', { type: blob.type }));
    },
    failed: (message) => {
      if (message === null) say('failure', 'notSecure');
      else say('failure', 'noMicrophone', { message });
    },
  });
}

function caption(stream: MediaStream, use: MicrophoneUse, ended: () => void): Promise<Captions> {
  const { texts, say, balance, livePath } = use;
  const data = use.fields();
  const translateTo = captionTarget(data, use.liveTargets);
  byId('captions').hidden = false;
  byId('captions-translated').hidden = translateTo === '';
  const failed = (message: string): void => {
    say('failure', 'captionsFailed', { message: message === '' ? (texts['broken'] ?? '') : message });
  };
  const captions = startCaptions(
    stream,
    {
      ...{ path: livePath, language: chosenIn(data, 'language'), translateTo },
      ...{ text: byId('caption-text'), translation: byId('caption-translation') },
    },
    { balance, failed, ended },
  );
  captions.catch((error: unknown) => failed(error instanceof Error ? error.message : ''));
  return captions;
}

/** Text alone is translated while one speaks; the recording's translation may come from its audio. '': none. */
function captionTarget(data: FormData, targets: readonly string[]): string {
  const target = chosenIn(data, 'translate_to');
  return targets.includes(target) && target !== chosenIn(data, 'language') ? target : '';
}
