/** A live session: audio in, text out while it is spoken. It speaks Deepgram's protocol at /v1/listen. */

export interface LiveInput {
  /** Of the samples; default linear16: 16 bits, the low byte first. */
  encoding?: 'linear16' | 'linear32' | 'mulaw' | 'alaw';
  /** Hz, from 8,000 to 48,000; default 16,000. */
  sampleRate?: number;
  /** From 1 to 8, which are mixed; default 1. */
  channels?: number;
  /** The name of an installed speech model; default: the server's default model. */
  model?: string;
  /** Default: English. `multi` detects the language of each utterance. */
  language?: string;
  /** Whether results come while an utterance goes on; default: no. */
  interim?: boolean;
  /** Whether the text has punctuation; default: yes. */
  punctuate?: boolean;
  /** The silence that ends an utterance, milliseconds; less than 300 counts as 300. */
  silenceMs?: number;
  /** Whether words of final results say who speaks, which has a surcharge; default: no. */
  diarize?: boolean;
}

export interface LiveWord {
  word: string;
  /** Seconds from the start of the session. */
  start: number;
  end: number;
  /** From 0 to 1. */
  confidence: number;
  /** Counted from 0, in the order in which the voices came. */
  speaker?: number;
}

export type LiveTranscriptionEvent =
  | { type: 'speech_started'; at: number }
  /** `interim`: may change. `final`: never does. `endsUtterance`: a pause has ended the utterance. */
  | { type: 'interim' | 'final'; start: number; end: number; text: string; words: LiveWord[]; endsUtterance: boolean };

/** The session ended before all audio was worked on, or did not begin. */
export class LiveTranscriptionError extends Error {
  override readonly name = 'LiveTranscriptionError';
  constructor(
    message: string,
    /** Of the WebSocket. */
    readonly closeCode: number,
  ) {
    super(message);
  }
}

interface ServerMessage {
  type: string;
  description?: string;
  timestamp?: number;
  start?: number;
  duration?: number;
  is_final?: boolean;
  speech_final?: boolean;
  channel?: { alternatives: { transcript: string; words: (LiveWord & { punctuated_word?: string })[] }[] };
}

const FINISHED = 1000;
/** Bytes that were sent and have not left, over which send() waits. */
const MOST_UNSENT_BYTES = 2 ** 20;
const LOOK_MS = 20;

/** What a session uses of a WebSocket, of a browser or of a library. */
export interface LiveSocket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  close(code?: number): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'close', listener: (event: { code: number }) => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

const OPEN = 1;

/** Iterate over it for its events, up to finish(). Throws LiveTranscriptionError where the session breaks. */
export class LiveTranscription implements AsyncIterable<LiveTranscriptionEvent> {
  readonly #socket: LiveSocket;
  readonly #events: LiveTranscriptionEvent[] = [];
  readonly #opened: Promise<void>;
  #end: { error: LiveTranscriptionError | null } | null = null;
  #description: string | null = null;
  #wake: () => void = () => undefined;

  /** `socket`: to the address of liveAddress(), with the key of an account. */
  constructor(socket: LiveSocket) {
    this.#socket = socket;
    this.#socket.binaryType = 'arraybuffer';
    this.#opened = new Promise((resolve) => {
      this.#socket.addEventListener('open', () => resolve());
      this.#socket.addEventListener('close', () => resolve());
    });
    this.#socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as ServerMessage));
    this.#socket.addEventListener('close', ({ code }) => this.#closed(code));
  }

  /** Resolves when there is room for more. */
  async send(samples: Uint8Array): Promise<void> {
    await this.#opened;
    if (this.#socket.readyState !== OPEN) return;
    this.#socket.send(samples);
    while (this.#socket.bufferedAmount > MOST_UNSENT_BYTES && this.#end === null) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Ends the running utterance now. */
  async flush(): Promise<void> {
    await this.#control('Finalize');
  }

  /** No more audio comes: the events that are left follow. */
  async finish(): Promise<void> {
    await this.#control('CloseStream');
  }

  /** Ends the session without waiting for its results. */
  close(): void {
    this.#end ??= { error: null };
    this.#wake();
    this.#socket.close(FINISHED);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveTranscriptionEvent, void, undefined> {
    try {
      for (;;) {
        yield* this.#events.splice(0);
        if (this.#events.length > 0) continue;
        if (this.#end !== null) break;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#end.error !== null) throw this.#end.error;
    } finally {
      this.close();
    }
  }

  async #control(type: string): Promise<void> {
    await this.#opened;
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify({ type }));
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'Error') this.#description = message.description ?? null;
    const event = eventOf(message);
    if (event === null) return;
    this.#events.push(event);
    this.#wake();
  }

  #closed(code: number): void {
    const message = this.#description ?? 'The live session was refused, or its connection was lost.';
    this.#end ??= { error: code === FINISHED ? null : new LiveTranscriptionError(message, code) };
    this.#wake();
  }
}

/** Where a session with these settings is opened. */
export function liveAddress(input: LiveInput, baseUrl: string): URL {
  const address = new URL('/v1/listen', baseUrl);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const { encoding = 'linear16', sampleRate = 16_000, channels = 1, model, language, silenceMs } = input;
  const { interim = false, punctuate = true, diarize = false } = input;
  address.search = new URLSearchParams({
    ...{ encoding, sample_rate: String(sampleRate), channels: String(channels), vad_events: 'true' },
    ...{ interim_results: String(interim), punctuate: String(punctuate) },
    ...(diarize ? { diarize: 'true' } : {}),
    ...(model === undefined ? {} : { model }),
    ...(language === undefined ? {} : { language }),
    ...(silenceMs === undefined ? {} : { endpointing: String(silenceMs) }),
  }).toString();
  return address;
}

function eventOf({
  type,
  timestamp,
  start = 0,
  duration = 0,
  channel,
  ...flags
}: ServerMessage): LiveTranscriptionEvent | null {
  if (type === 'SpeechStarted') return { type: 'speech_started', at: timestamp ?? 0 };
  const [alternative] = channel?.alternatives ?? [];
  if (type !== 'Results' || alternative === undefined) return null;
  const words = alternative.words.map(({ word, punctuated_word: written, ...times }) => ({
    word: written ?? word,
    start: times.start,
    end: times.end,
    confidence: times.confidence,
    ...(times.speaker === undefined ? {} : { speaker: times.speaker }),
  }));
  return {
    ...{ type: flags.is_final === true ? 'final' : 'interim', start, end: start + duration },
    ...{ text: alternative.transcript, words, endsUtterance: flags.speech_final === true },
  };
}
