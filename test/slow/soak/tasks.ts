/** What clients want of a server, as they and their networks ask for it, and the final answer that each got. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, FormData, request } from 'undici';
import { pick, type Random } from '../../../bench/load/random.js';
import { pause, pcmOfSample, sample, samples, wavOf } from '../../support/speech.js';
import type { WebhookListener } from '../../support/webhook-listener.js';

/** What a request is; the shares are of all requests. */
export const KINDS = [
  { kind: 'clip', share: 0.34 },
  { kind: 'words', share: 0.1 },
  { kind: 'translated', share: 0.1 },
  { kind: 'streamed', share: 0.1 },
  { kind: 'job', share: 0.1 },
  { kind: 'diarized', share: 0.06 },
  { kind: 'repeated', share: 0.06 },
  { kind: 'refused', share: 0.07 },
  { kind: 'hang-up', share: 0.06 },
  { kind: 'long', share: 0.01 },
] as const;
export type Kind = (typeof KINDS)[number]['kind'];

export interface SoakTask {
  kind: Kind;
  /** X-Request-Id of each attempt. */
  requestIds: string[];
  /** Of the last attempt; 0: nobody waited for it. */
  status: number;
  /** What was wrong with the answer; empty: nothing. */
  wrong: string;
  /** The cost that its answer reported. */
  credits: number;
}

export interface Clients {
  url: string;
  keys: readonly string[];
  random: Random;
  listener: WebhookListener;
}

interface Answer {
  status: number;
  text: string;
  headers: Record<string, string | string[] | undefined>;
}

type Fields = Readonly<Record<string, string>>;

/** An answer may take as long as the engine takes to come back. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** No connection is kept for another task. */
export const hangUpAll = (): Promise<void> => patient.close();
/** A client that gives up does so within this. */
const MAX_WAIT_MS = 1500;
const REPEAT_PAUSE_MS = 250;
const LONG_SECONDS = 150;
const NOT_AUDIO = Buffer.from('This is a text, and nobody says it.');

const clips = samples().map(({ path }) => readFileSync(path));
const english = readFileSync(sample('en-wav16.wav').path);
const spanish = readFileSync(sample('es-vbr.mp3').path);
const long = longFile();

/** Never rejects: what went wrong is reported. */
export async function runTask(kind: Kind, clients: Clients): Promise<SoakTask> {
  const task: SoakTask = { kind, requestIds: [], status: 0, wrong: '', credits: 0 };
  try {
    task.wrong = await DOERS[kind](new Client(clients, task));
  } catch (error) {
    task.wrong = String(error);
  }
  return task;
}

/** One of them, at one task. */
class Client {
  readonly #key: string;

  constructor(
    readonly clients: Clients,
    readonly task: SoakTask,
  ) {
    this.#key = pick(clients.random, clients.keys);
  }

  async send(
    path: string,
    fields: Fields,
    file: Buffer,
    more: { key?: string; timeoutMs?: number } = {},
  ): Promise<Answer> {
    const requestId = `soak-${this.task.kind}-${randomUUID()}`;
    this.task.requestIds.push(requestId);
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append(path.startsWith('/v1') ? 'file' : 'audio', new Blob([new Uint8Array(file)]), 'recording');
    const answer = await request(this.clients.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#key}`,
        'x-request-id': requestId,
        ...(more.key === undefined ? {} : { 'idempotency-key': more.key }),
      },
      body,
      dispatcher: patient,
      ...(more.timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(more.timeoutMs) }),
    });
    const text = await answer.body.text();
    this.task.status = answer.statusCode;
    return { status: answer.statusCode, text, headers: answer.headers };
  }

  /** What is wrong with the answer that these fields have. */
  async transcribe(fields: Fields, file: Buffer, wanted: RegExp): Promise<string> {
    const { status, text } = await this.send('/api/v1/transcribe', fields, file);
    return this.check(status, text, wanted);
  }

  check(status: number, text: string, wanted: RegExp): string {
    if (status !== 200 || !wanted.test(text)) return `${status} ${text.slice(0, 300)}`;
    this.task.credits = (JSON.parse(text) as { credits_used: number }).credits_used;
    return '';
  }

  get timeoutMs(): number {
    return 1 + Math.floor(this.clients.random() * MAX_WAIT_MS);
  }
}

const SPOKEN = /"text":"[^"]+"/;

/** What is wrong with the final answers; empty: nothing. */
const DOERS: Readonly<Record<Kind, (client: Client) => Promise<string>>> = {
  clip: (client) => client.transcribe({}, pick(client.clients.random, clips), SPOKEN),
  words: (client) =>
    client.transcribe({ timestamps: 'word' }, pick(client.clients.random, clips), /"words":\[\{"word"/),
  translated: (client) => client.transcribe({ language: 'es', translate_to: 'en' }, spanish, /"translation":\{/),
  diarized: (client) => client.transcribe({ language: 'en', diarize: 'true' }, english, /"speaker":"S1"/),
  long: (client) => client.transcribe({}, long, SPOKEN),
  streamed: async (client) => {
    const fields = { model: 'whisper-1', stream: 'true' };
    const { status, text } = await client.send('/v1/audio/transcriptions', fields, pick(client.clients.random, clips));
    client.task.credits = 1;
    return status === 200 && text.includes('"transcript.text.done"') ? '' : `${status} ${text.slice(-300)}`;
  },
  refused: async (client) => {
    const { random } = client.clients;
    const { status, text } = await client.send('/api/v1/transcribe', {}, pick(random, [NOT_AUDIO, emptyWav]));
    return [415, 422].includes(status) ? '' : `${status} ${text.slice(0, 300)}`;
  },
  'hang-up': async (client) => {
    const { timeoutMs } = client;
    await client
      .send('/api/v1/transcribe', {}, pick(client.clients.random, [...clips, long]), { timeoutMs })
      .catch(() => undefined);
    return '';
  },
  repeated: repeatUntilAnswered,
  job: runJob,
};

const emptyWav = wavOf(Buffer.alloc(0));

/** Hangs up, and asks again under the same key until it gets an answer; and once more, which gets the same. */
async function repeatUntilAnswered(client: Client): Promise<string> {
  const key = randomUUID();
  const file = pick(client.clients.random, clips);
  const attempt = (more: { timeoutMs?: number } = {}): Promise<Answer> =>
    client.send('/api/v1/transcribe', {}, file, { key, ...more });
  await attempt({ timeoutMs: client.timeoutMs }).catch(() => undefined);
  let reported = await attempt();
  for (; reported.status === 409; reported = await attempt()) await sleep(REPEAT_PAUSE_MS);
  const again = await attempt();
  if (again.headers['idempotency-replayed'] !== 'true' || again.text !== reported.text)
    return `not the same again: ${reported.text.slice(0, 150)}, ${again.text.slice(0, 150)}`;
  return client.check(reported.status, reported.text, SPOKEN);
}

/** Ends when the message of the job's end has come. */
async function runJob(client: Client): Promise<string> {
  const { random, listener } = client.clients;
  const { status, text } = await client.send('/api/v1/jobs', { webhook_url: listener.url }, pick(random, clips));
  if (status !== 202) return `${status} ${text.slice(0, 300)}`;
  const { id } = JSON.parse(text) as { id: string };
  client.task.credits = 1;
  for (;;) {
    const message = listener.received.find(({ body }) => body.includes(`"${id}"`));
    if (message !== undefined) return message.body.includes('"job.succeeded"') ? '' : message.body.slice(0, 300);
    await sleep(REPEAT_PAUSE_MS);
  }
}

/** Of speech without a pause that is long enough to cut at. */
function longFile(): Buffer {
  const part = Buffer.concat([pcmOfSample(), pause(0.1)]);
  const times = Math.ceil(LONG_SECONDS / (part.length / 32_000));
  return wavOf(Buffer.concat(Array.from({ length: times }, () => part)));
}
