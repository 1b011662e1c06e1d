/** A recording is chosen, dropped or recorded, sent, and shown with words that follow the audio. */
import { refreshBalance } from './balance.js';
import { startCaptions, type Captions } from './captions.js';
import { onDuration } from './duration.js';
import type { SentEvent } from './events.js';
import { priceOf, type RunPrices } from './price.js';
import { recordOnPress } from './recording.js';
import { send } from './sending.js';
import { directionOf, showTranscript, type RunAnswer } from './transcript.js';

interface Progress {
  done_seconds: number;
  seconds: number;
  credits: number;
}

/**
 * From this share of the windows on a run counts as nearly done: the steps behind them (speakers, translation) have no
 * progress.
 */
const NEARLY_DONE = 0.99;

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

const form = byId('try') as HTMLFormElement;
const audio = byId('audio') as HTMLAudioElement;
const submitButton = byId('submit') as HTMLButtonElement;
const cancelButton = byId('cancel') as HTMLButtonElement;
const bar = byId('progress') as HTMLProgressElement;
const sofar = byId('so-far');
const prices = JSON.parse(form.dataset['prices'] ?? '') as RunPrices;
const texts = JSON.parse(form.dataset['texts'] ?? '') as Record<string, string>;
const input = form.querySelector<HTMLInputElement>('input[type=file]');
let balance = Number(form.dataset['balance']);
/** Of the recording, as far as the browser knows: decoders differ by some milliseconds. */
let estimate: number | null = null;
/** Of the recording, as the server has measured it. */
let measured: number | null = null;
let chosen: File | null = null;
let running: AbortController | null = null;

function filledIn(name: string, values: Record<string, string | number> = {}): string {
  return (texts[name] ?? '').replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
}

function say(
  id: 'status' | 'amount' | 'failure' | 'price',
  name: string | null,
  values?: Record<string, string | number>,
): void {
  const text = name === null ? '' : filledIn(name, values);
  const element = byId(id);
  // A screen reader would read an unchanged text again.
  if (element.textContent !== text) element.textContent = text;
}

function choose(file: File): void {
  chosen = file;
  estimate = null;
  measured = null;
  URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(file);
  byId('player').hidden = false;
  byId('result').hidden = true;
  for (const id of ['status', 'failure'] as const) say(id, null);
  showPrice();
}

function showPrice(): void {
  if (chosen === null) return;
  const { name } = chosen;
  const seconds = measured ?? estimate;
  if (seconds === null) {
    say('price', 'unknownLength', { name });
    return;
  }
  const { credits, isAtMost } = priceOf(prices, seconds, new FormData(form));
  const text = measured === null ? 'estimated' : 'willCost';
  const priceText = filledIn(isAtMost ? `${text}AtMost` : text, {
    ...{ name, seconds: seconds.toFixed(1), credits },
  });
  const short = credits > balance ? ` ${filledIn('tooLittle', { balance })}` : '';
  byId('price').textContent = priceText + short;
}

/** The fields that are filled in; `num_speakers` only with `diarize`. */
function asked(file: File): FormData {
  const data = new FormData();
  const filled = new FormData(form);
  for (const [name, value] of filled) {
    if (name === 'num_speakers' && !filled.has('diarize')) continue;
    if (typeof value === 'string' && value !== '') data.append(name, value);
  }
  data.append('audio', file, file.name);
  return data;
}

function show(isRunning: boolean): void {
  submitButton.disabled = isRunning;
  cancelButton.hidden = !isRunning;
  bar.hidden = !isRunning;
  say('amount', null);
  sofar.textContent = '';
  byId('coming').hidden = true;
}

function sent(share: number): void {
  if (share < 1) {
    bar.value = share;
    say('status', 'uploading');
    say('amount', 'percent', { percent: Math.floor(100 * share) });
  } else {
    bar.removeAttribute('value');
    say('status', 'waiting');
    say('amount', null);
  }
}

function progressed({ done_seconds, seconds: all, credits }: Progress): void {
  if (measured === null) {
    measured = all;
    showPrice();
  }
  const share = Math.min(NEARLY_DONE, done_seconds / Math.max(all, 1));
  if (share >= NEARLY_DONE) bar.removeAttribute('value');
  else bar.value = share;
  say('status', share >= NEARLY_DONE ? 'finishing' : 'working', { seconds: all.toFixed(1), credits });
  say('amount', 'percent', { percent: Math.floor(100 * share) });
}

/** Empty: nothing. */
function chosenIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}

function came(text: string): void {
  const data = new FormData(form);
  const language = chosenIn(data, 'translate_to') || chosenIn(data, 'language');
  sofar.lang = language;
  sofar.dir = directionOf(language);
  byId('coming').hidden = false;
  sofar.append(text);
}

function showBalance(credits: number): void {
  balance = credits;
  byId('balance').textContent = credits.toLocaleString(form.dataset['language']);
}

function take({ name, data }: SentEvent): void {
  if (name === 'progress') progressed(data as Progress);
  if (name === 'delta') came((data as { text: string }).text);
  if (name !== 'done') return;
  const answer = data as RunAnswer;
  const { credits_used: credits, credits_remaining: left } = answer.transcription;
  showBalance(left);
  say('status', 'done', { credits, left });
  say('price', null);
  showTranscript(answer, { audio, texts, byId });
}

async function submit(): Promise<void> {
  if (chosen === null) {
    say('failure', 'nothingChosen');
    input?.focus();
    return;
  }
  const controller = new AbortController();
  running = controller;
  say('failure', null);
  byId('result').hidden = true;
  show(true);
  try {
    await send(form.action, asked(chosen), { signal: controller.signal, sent, event: take });
  } catch (error) {
    say('status', controller.signal.aborted ? 'cancelled' : null);
    const message = error instanceof Error && error.message !== '' ? error.message : (texts['broken'] ?? '');
    if (!controller.signal.aborted) say('failure', 'failed', { message });
    const isLast = (): boolean => running === null || running === controller;
    void refreshBalance(isLast, showBalance);
  } finally {
    running = null;
    const hadFocus = document.activeElement === cancelButton;
    show(false);
    // The element that had the focus is gone.
    if (hadFocus) submitButton.focus();
  }
}

let captions: Promise<Captions> | null = null;

/** Text alone is translated while one speaks; the recording's translation may come from its audio. */
function captionTarget(data: FormData): string {
  const target = chosenIn(data, 'translate_to');
  const targets = JSON.parse(form.dataset['liveTargets'] ?? '[]') as string[];
  return targets.includes(target) && target !== chosenIn(data, 'language') ? target : '';
}

function caption(stream: MediaStream): void {
  const data = new FormData(form);
  const language = chosenIn(data, 'language');
  const translateTo = captionTarget(data);
  byId('captions').hidden = false;
  byId('captions-translated').hidden = translateTo === '';
  const failed = (message: string): void => {
    say('failure', 'captionsFailed', { message: message === '' ? (texts['broken'] ?? '') : message });
  };
  captions = startCaptions(
    stream,
    {
      path: form.dataset['live'] ?? '',
      ...{ language, translateTo },
      ...{ text: byId('caption-text'), translation: byId('caption-translation') },
    },
    { balance: showBalance, failed, ended: () => (captions = null) },
  );
  captions.catch((error: unknown) => failed(error instanceof Error ? error.message : ''));
}

/** How many speak is asked of who wants to know who speaks. */
function showSpeakers(): void {
  const speakers = document.getElementById('speakers');
  if (speakers !== null) speakers.hidden = !new FormData(form).has('diarize');
}

form.hidden = false;
showSpeakers();
onDuration(audio, (known) => {
  estimate = known;
  showPrice();
});
form.addEventListener('change', (event) => {
  const file = event.target === input ? input?.files?.[0] : undefined;
  showSpeakers();
  if (file === undefined) showPrice();
  else choose(file);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (running === null) void submit();
});
cancelButton.addEventListener('click', () => running?.abort(new Error('cancelled')));
for (const name of ['dragenter', 'dragover'] as const) {
  form.addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.add('over');
  });
}
form.addEventListener('dragleave', () => form.classList.remove('over'));
form.addEventListener('drop', (event) => {
  event.preventDefault();
  form.classList.remove('over');
  const [file] = event.dataTransfer?.files ?? [];
  if (file !== undefined) choose(file);
});
recordOnPress(byId('record') as HTMLButtonElement, {
  begun: (stream) => {
    say('status', 'recording');
    if ((byId('wants-captions') as HTMLInputElement).checked) caption(stream);
  },
  done: (blob) => {
    void captions?.then((running) => running.stop());
    choose(new File([blob], texts['recorded'] ?? '', { type: blob.type }));
  },
  failed: (message) => {
    if (message === null) say('failure', 'notSecure');
    else say('failure', 'noMicrophone', { message });
  },
});
