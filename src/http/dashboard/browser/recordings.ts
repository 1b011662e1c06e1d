/** The recordings that were chosen, one after the other sent and answered. */
import { onDuration } from './duration.js';
import { eta } from './eta.js';
import { send } from './sending.js';
import type { SentEvent } from './events.js';
import type { RunAnswer } from './transcript.js';

export type RecordingState =
  'ready' | 'queued' | 'uploading' | 'waiting' | 'working' | 'finishing' | 'done' | 'failed' | 'cancelled';

export interface ChosenRecording {
  file: File;
  url: string;
  state: RecordingState;
  /** Seconds, as far as the browser knows: decoders differ by some milliseconds. */
  estimate: number | null;
  /** Seconds, as the server has measured them. */
  measured: number | null;
  /** Of the step that runs; null: it is not known. */
  share: number | null;
  etaSeconds: number | null;
  /** Credits. */
  held: number;
  /** What it failed of. */
  message: string;
  soFar: string;
  answer: RunAnswer | null;
  /** The fields that it was sent with. */
  asked: FormData | null;
  /** A file of its transcript was saved. */
  isKept: boolean;
  running: AbortController | null;
}

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
const AT_WORK: readonly RecordingState[] = ['queued', 'uploading', 'waiting', 'working', 'finishing'];

export function isAtWork({ state }: ChosenRecording): boolean {
  return AT_WORK.includes(state);
}

export function chosenRecording(file: File, changed: (recording: ChosenRecording) => void): ChosenRecording {
  const recording: ChosenRecording = {
    ...{ file, url: URL.createObjectURL(file), state: 'ready', estimate: null, measured: null },
    ...{ share: null, etaSeconds: null, held: 0, message: '', soFar: '', answer: null, asked: null },
    ...{ isKept: false, running: null },
  };
  const probe = new Audio();
  onDuration(probe, (seconds) => {
    recording.estimate = seconds;
    changed(recording);
  });
  probe.preload = 'metadata';
  probe.src = recording.url;
  return recording;
}

/** Sends it and waits for the answer. `changed`: something of it is to be drawn; never rejects. */
export async function runRecording(
  url: string,
  recording: ChosenRecording,
  data: FormData,
  changed: () => void,
): Promise<void> {
  const controller = new AbortController();
  const form = new FormData();
  for (const [name, value] of data) form.append(name, value);
  form.append('audio', recording.file, recording.file.name);
  const change = (to: Partial<ChosenRecording>): void => {
    Object.assign(recording, to);
    changed();
  };
  const left = eta();
  change({ running: controller, asked: data, state: 'uploading', share: 0, message: '', soFar: '', answer: null });
  try {
    await send(url, form, {
      signal: controller.signal,
      sent: (share) => change(share < 1 ? { share } : { state: 'waiting', share: null }),
      event: (event) => take(recording, event, left, change),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (controller.signal.aborted) change({ state: 'cancelled' });
    else change({ state: 'failed', message });
  } finally {
    change({ running: null, share: null, etaSeconds: null });
  }
}

function take(
  recording: ChosenRecording,
  { name, data }: SentEvent,
  left: (share: number) => number | null,
  change: (to: Partial<ChosenRecording>) => void,
): void {
  if (name === 'delta') change({ soFar: recording.soFar + (data as { text: string }).text });
  if (name === 'done') {
    const answer = data as RunAnswer;
    change({ state: 'done', answer, isKept: answer.kept_at !== undefined, soFar: '' });
  }
  if (name !== 'progress') return;
  const { done_seconds: done, seconds: measured, credits: held } = data as Progress;
  const share = Math.min(NEARLY_DONE, done / Math.max(measured, 1));
  if (share >= NEARLY_DONE) change({ state: 'finishing', measured, held, share: null, etaSeconds: null });
  else change({ state: 'working', measured, held, share, etaSeconds: left(share) });
}
