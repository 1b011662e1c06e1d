/** Captions while one speaks: final text, behind it in grey what may still change, and beside it the translation. */
import { directionOf } from './transcript.js';

/** What http/dashboard/live-captions.ts sends. */
type CaptionMessage =
  | { type: 'partial' | 'final' | 'translated'; text: string; language: string }
  | { type: 'done'; credits_remaining: number }
  | { type: 'error'; message: string };

export interface CaptionEvents {
  balance: (credits: number) => void;
  failed: (message: string) => void;
  /** The session is over, whichever way. */
  ended: () => void;
}

export interface Captions {
  /** No more is said: what was said is still written. */
  stop: () => void;
}

const HIGHEST_RATE = 48_000;

export interface CaptionOptions {
  path: string;
  /** '': it is detected. */
  language: string;
  /** '': there is no translation. */
  translateTo: string;
  text: HTMLElement;
  translation: HTMLElement;
}

export async function startCaptions(
  stream: MediaStream,
  { path, language, translateTo, text, translation }: CaptionOptions,
  events: CaptionEvents,
): Promise<Captions> {
  const context = contextFor();
  await context.audioWorklet.addModule(new URL('microphone-samples.js', import.meta.url));
  const samples = new AudioWorkletNode(context, 'microphone-samples', { numberOfOutputs: 0 });
  const address = new URL(path, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const query = { rate: String(context.sampleRate), language, translate_to: translateTo };
  address.search = new URLSearchParams(query).toString();
  const socket = new WebSocket(address);
  const partial = document.createElement('span');
  partial.className = 'partial';
  text.replaceChildren(partial);
  translation.replaceChildren();
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    partial.textContent = '';
    void context.close();
    events.ended();
  };
  samples.port.addEventListener('message', ({ data }) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data as ArrayBuffer);
  });
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data as string) as CaptionMessage;
    if (message.type === 'done') events.balance(message.credits_remaining);
    else if (message.type === 'error') events.failed(message.message);
    else if (message.type === 'translated') append(message, translation);
    else write(message, text, partial);
  });
  // A refused handshake has no words in a browser.
  socket.addEventListener('close', ({ code }) => {
    if (code !== 1000 && !isOver) events.failed('');
    over();
  });
  samples.port.start();
  context.createMediaStreamSource(stream).connect(samples);
  return {
    stop: () => {
      void context.suspend();
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'stop' }));
      else socket.close();
    },
  };
}

function contextFor(): AudioContext {
  const context = new AudioContext();
  return context.sampleRate <= HIGHEST_RATE ? context : new AudioContext({ sampleRate: HIGHEST_RATE });
}

function write(
  { type, text, language }: CaptionMessage & { text: string; language: string },
  into: HTMLElement,
  partial: HTMLElement,
): void {
  into.lang = language;
  into.dir = directionOf(language);
  if (type === 'partial') {
    partial.textContent = text;
    return;
  }
  partial.textContent = '';
  if (text !== '') partial.before(`${text} `);
}

function append({ text, language }: { text: string; language: string }, into: HTMLElement): void {
  into.lang = language;
  into.dir = directionOf(language);
  into.append(`${text} `);
}
