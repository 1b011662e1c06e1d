/** A recording is chosen, dropped or recorded, sent, and shown with words that follow the audio. */
import { recordOnPress } from './recording.js';
import { send } from './sending.js';
import { showTranscript, type TriedAnswer } from './transcript.js';

interface Prices {
  creditsPerMinute: number;
  translationCreditsPerMinute: number;
  diarizationCreditsPerMinute: number;
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

const form = byId('try') as HTMLFormElement;
const audio = byId('audio') as HTMLAudioElement;
const button = byId('submit') as HTMLButtonElement;
const progress = byId('progress') as HTMLProgressElement;
const prices = JSON.parse(form.dataset['prices'] ?? '') as Prices;
const texts = JSON.parse(form.dataset['texts'] ?? '') as Record<string, string>;
const input = form.querySelector<HTMLInputElement>('input[type=file]');
/** Of the recording, as far as the browser can tell. */
let seconds: number | null = null;
let chosen: File | null = null;

function say(
  id: 'status' | 'failure',
  name: string | null,
  values: Record<string, string | number> = {},
): void {
  const text = name === null ? '' : (texts[name] ?? '');
  byId(id).textContent = text.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
}

function choose(file: File): void {
  chosen = file;
  seconds = null;
  URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(file);
  byId('result').hidden = true;
  say('failure', null);
  tellPrice();
}

function tellPrice(): void {
  if (chosen === null) return;
  const { name } = chosen;
  if (seconds === null) {
    say('status', 'unknownLength', { name });
    return;
  }
  const data = new FormData(form);
  const target = data.get('translate_to') ?? '';
  const perMinute =
    prices.creditsPerMinute +
    (target !== '' && target !== data.get('language') ? prices.translationCreditsPerMinute : 0) +
    (data.has('diarize') ? prices.diarizationCreditsPerMinute : 0);
  const credits = Math.max(1, Math.ceil(seconds / 60)) * perMinute;
  say('status', 'willCost', { name, seconds: seconds.toFixed(1), credits });
}

async function submit(): Promise<void> {
  const file = chosen;
  if (file === null) {
    input?.focus();
    return;
  }
  const data = new FormData();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' && value !== '') data.append(name, value);
  }
  data.append('audio', file, file.name);
  say('failure', null);
  button.disabled = true;
  progress.hidden = false;
  try {
    const answer = await send<TriedAnswer>(form.action, data, (percent) => {
      if (percent < 100) {
        progress.value = percent;
        say('status', 'uploading', { percent });
      } else {
        progress.removeAttribute('value');
        say('status', 'working');
      }
    });
    const { credits_used: credits, credits_remaining: left } = answer.transcription;
    say('status', 'done', { credits, left });
    showTranscript(answer, { audio, texts, byId });
  } catch (error) {
    say('status', null);
    const message = error instanceof Error && error.message !== '' ? error.message : (texts['broken'] ?? '');
    say('failure', 'failed', { message });
  } finally {
    button.disabled = false;
    progress.hidden = true;
  }
}

form.hidden = false;
audio.addEventListener('loadedmetadata', () => {
  // A recording that has just been made does not tell its length.
  seconds = Number.isFinite(audio.duration) ? audio.duration : null;
  tellPrice();
});
form.addEventListener('change', (event) => {
  const file = event.target === input ? input?.files?.[0] : undefined;
  if (file === undefined) tellPrice();
  else choose(file);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void submit();
});
for (const name of ['dragenter', 'dragover'] as const) {
  form.addEventListener(name, (event) => event.preventDefault());
}
form.addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  if (file !== undefined) choose(file);
});
recordOnPress(byId('record') as HTMLButtonElement, {
  begun: () => say('status', 'recording'),
  done: (blob) => choose(new File([blob], texts['recorded'] ?? '', { type: blob.type })),
  failed: (message) => say('failure', 'noMicrophone', { message }),
});
