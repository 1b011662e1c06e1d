/** Recordings are chosen, dropped or recorded, sent one after the other, and shown with words that follow the audio. */
import { refreshBalance } from './balance.js';
import { useMicrophone } from './microphone.js';
import { byId, chosenIn, filledIn, write, type Texts } from './page-parts.js';
import { priceText } from './price-text.js';
import type { RunPrices } from './price.js';
import { rowOf, type RecordingRow } from './recording-row.js';
import { isAtWork, chosenRecording, runRecording, type ChosenRecording } from './recordings.js';
import { callCode } from './same-call.js';
import { directionOf, showTranscript } from './transcript.js';

const form = byId('try') as HTMLFormElement;
const audio = byId('audio') as HTMLAudioElement;
const submitButton = byId('submit') as HTMLButtonElement;
const sofar = byId('so-far');
const prices = JSON.parse(form.dataset['prices'] ?? '') as RunPrices;
const texts = JSON.parse(form.dataset['texts'] ?? '') as Texts;
const input = form.querySelector<HTMLInputElement>('input[type=file]');
const rows = new Map<ChosenRecording, RecordingRow>();
let balance = Number(form.dataset['balance']);
let shown: ChosenRecording | null = null;
let isRunning = false;

const say = (
  id: 'status' | 'failure',
  name: string | null,
  values: Readonly<Record<string, string | number>> = {},
): void => write(byId(id), name === null ? '' : filledIn(texts, name, values));

/** What a press of the button would send: what has no transcript yet, or else the one that is shown. */
function pending(): ChosenRecording[] {
  const open = [...rows.keys()].filter((one) => one.state !== 'done' && !isAtWork(one));
  return open.length > 0 || shown === null || isAtWork(shown) ? open : [shown];
}

/** The fields that are filled in; `num_speakers` only with `diarize`. */
function filledFields(): FormData {
  const data = new FormData();
  const filled = new FormData(form);
  for (const [name, value] of filled) {
    if (name === 'num_speakers' && !filled.has('diarize')) continue;
    if (typeof value === 'string' && value.trim() !== '') data.append(name, value);
  }
  return data;
}

function draw(): void {
  for (const [recording, row] of rows) row.draw(recording === shown);
  const waiting = pending();
  const isEmpty = rows.size === 0;
  byId('nothing').hidden = !isEmpty;
  byId('cancel-all').hidden = [...rows.keys()].filter(isAtWork).length < 2;
  submitButton.disabled = isRunning;
  // What ran last has its price in its row.
  const isPriced = waiting.length > 0 && waiting.every(({ state, answer }) => state !== 'done' || answer === null);
  const isAgain = waiting.length === 1 && waiting[0]?.state === 'done' && hasChanged(waiting[0]);
  if (isRunning) showRunningPrice();
  else
    write(
      byId('price'),
      isPriced || isAgain ? priceText(waiting, { texts, prices, balance, data: filledFields() }) : '',
    );
  showCode();
}

function hasChanged({ asked }: ChosenRecording): boolean {
  return asked !== null && fieldText(asked) !== fieldText(filledFields());
}

function fieldText(data: FormData): string {
  return JSON.stringify([...data]);
}

/** By the server's measure, once there is one. */
function showRunningPrice(): void {
  const current = [...rows.keys()].find(({ running }) => running !== null);
  if (current?.asked == null) return;
  write(byId('price'), priceText([current], { texts, prices, balance, data: current.asked }));
}

function showCode(): void {
  const fields: Record<string, string> = {};
  for (const [name, value] of filledFields()) if (typeof value === 'string') fields[name] = value;
  const fileName = (shown ?? [...rows.keys()].at(-1))?.file.name ?? texts['unchosen'] ?? '';
  const notes = { translation: texts['noTranslation'] ?? '', fields: texts['noFields'] ?? '' };
  const code = callCode({ origin: location.origin, fileName, fields }, notes);
  for (const [name, text] of Object.entries(code)) write(byId(`code-${name}`), text as string);
}

function add(file: File): void {
  const recording = chosenRecording(file, () => {
    if (rows.has(recording)) draw();
  });
  const row = rowOf(recording, texts, { show, end });
  rows.set(recording, row);
  byId('recordings').append(row.element);
  for (const id of ['status', 'failure'] as const) say(id, null);
  show(recording);
}

function show(recording: ChosenRecording | null): void {
  shown = recording;
  byId('player').hidden = recording === null;
  byId('result').hidden = true;
  if (recording !== null) {
    if (audio.src !== recording.url) audio.src = recording.url;
    showText(recording);
    if (recording.answer !== null) showAnswer(recording, recording.answer);
  }
  draw();
}

function showAnswer(recording: ChosenRecording, answer: NonNullable<ChosenRecording['answer']>): void {
  const saved = (): void => void (recording.isKept = true);
  showTranscript(answer, { audio, texts, byId, fileName: recording.file.name, saved });
}

/** The text so far, of the recording that is shown. */
function showText({ soFar, asked }: ChosenRecording): void {
  byId('coming').hidden = soFar === '';
  const language = asked === null ? '' : chosenIn(asked, 'translate_to') || chosenIn(asked, 'language');
  sofar.lang = language;
  sofar.dir = directionOf(language);
  write(sofar, soFar);
}

function end(recording: ChosenRecording): void {
  if (recording.running !== null) recording.running.abort(new Error('cancelled'));
  else if (recording.state === 'queued') recording.state = 'cancelled';
  else remove(recording);
  draw();
}

function remove(recording: ChosenRecording): void {
  const row = rows.get(recording);
  const next = row?.element.nextElementSibling ?? row?.element.previousElementSibling;
  row?.element.remove();
  rows.delete(recording);
  URL.revokeObjectURL(recording.url);
  if (shown === recording) show([...rows.keys()].at(-1) ?? null);
  (next?.querySelector<HTMLElement>('button') ?? input)?.focus();
}

function showBalance(credits: number): void {
  balance = credits;
  write(byId('balance'), credits.toLocaleString(form.dataset['language']));
}

function changed(recording: ChosenRecording): void {
  const { state, measured, held, answer } = recording;
  const values = { seconds: (measured ?? 0).toFixed(1), credits: held };
  if (state === 'uploading' || state === 'waiting' || state === 'working' || state === 'finishing') {
    say('status', state, values);
  }
  if (state === 'done' && answer !== null && recording.running !== null) {
    const { credits_used: credits, credits_remaining: left } = answer.transcription;
    showBalance(left);
    say('status', 'done', { credits, left });
    if (shown === recording || shown?.answer == null) show(recording);
  }
  if (shown === recording) showText(recording);
  draw();
}

async function submit(): Promise<void> {
  const waiting = pending();
  if (waiting.length === 0) {
    say('failure', 'nothingChosen');
    input?.focus();
    return;
  }
  say('failure', null);
  const data = filledFields();
  isRunning = true;
  for (const recording of waiting) recording.state = 'queued';
  for (const recording of waiting) if (recording.state === 'queued') await runOne(recording, data);
  isRunning = false;
  draw();
}

async function runOne(recording: ChosenRecording, data: FormData): Promise<void> {
  if (shown === null || shown.answer === null || shown === recording) show(recording);
  byId('result').hidden = shown === recording;
  const focused = (): Element | null => document.activeElement;
  await runRecording(form.action, recording, data, () => changed(recording));
  const wasCancelled = recording.state === 'cancelled';
  if (wasCancelled) say('status', 'cancelled');
  if (recording.state === 'failed') {
    say('status', null);
    const message = recording.message === '' ? (texts['broken'] ?? '') : recording.message;
    say('failure', 'failed', { message });
  }
  if (recording.state === 'done') return;
  void refreshBalance(() => !isRunning || recording.running === null, showBalance);
  // Its button does something else now.
  if (wasCancelled && rows.get(recording)?.element.contains(focused()) === true) focusSubmit();
}

function focusSubmit(): void {
  submitButton.disabled = false;
  submitButton.focus();
}

/** How many speak is asked of who wants to know who speaks. */
function showSpeakers(): void {
  const speakers = document.getElementById('speakers');
  if (speakers !== null) speakers.hidden = !new FormData(form).has('diarize');
}

byId('workbench').hidden = false;
showSpeakers();
draw();
form.addEventListener('input', ({ target }) => {
  if (target !== input) draw();
});
form.addEventListener('change', ({ target }) => {
  showSpeakers();
  if (target !== input) return;
  for (const file of input?.files ?? []) add(file);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!isRunning) void submit();
});
byId('cancel-all').addEventListener('click', () => {
  for (const recording of [...rows.keys()].reverse()) if (isAtWork(recording)) end(recording);
  focusSubmit();
});
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
  for (const file of event.dataTransfer?.files ?? []) add(file);
});
useMicrophone({
  ...{ texts, say, add, balance: showBalance, fields: filledFields },
  ...{ livePath: form.dataset['live'] ?? '', liveTargets: JSON.parse(form.dataset['liveTargets'] ?? '[]') as string[] },
});
// What was paid for and not saved would be lost.
addEventListener('beforeunload', (event) => {
  const isLost = (one: ChosenRecording): boolean => isAtWork(one) || (one.answer !== null && !one.isKept);
  if ([...rows.keys()].some(isLost)) event.preventDefault();
});
