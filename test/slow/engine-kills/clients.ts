/** What clients want of the service, each in a way of its own, and what they get. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventReader, joinedDeltas } from '../../support/event-reader.js';
import { form, type Part } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { sample } from '../../support/speech.js';

export type WayOfAsking = 'plain' | 'translated' | 'streamed' | 'job';

export interface KindOfWork {
  way: WayOfAsking;
  file: string;
}

/** One request and its answer. */
export interface AnsweredWork extends KindOfWork {
  requestId: string;
  /** performance.now() */
  from: number;
  to: number;
  status: number;
  /** The transcript, and its translation; of a refusal its body. */
  text: string;
}

const FILES = ['en-wav16.wav', 'de-flac.flac', 'es-vbr.mp3', 'en-vorbis.ogg', 'fr-cbr-stereo.mp3'];
const WAYS: readonly WayOfAsking[] = ['plain', 'translated', 'streamed', 'job'];
/** Between two looks at a job. */
const LOOK_MS = 100;

export const KINDS_OF_WORK: readonly KindOfWork[] = WAYS.flatMap((way) => FILES.map((file) => ({ way, file })));

export function nameOfWork({ way, file }: KindOfWork): string {
  return `${way} ${file}`;
}

const audio = new Map(FILES.map((file) => [file, readFileSync(sample(file).path)]));

export async function carryOutWork(url: string, key: string, kind: KindOfWork): Promise<AnsweredWork> {
  const requestId = randomUUID();
  const from = performance.now();
  const headers = { ...bearer(key), 'x-request-id': requestId };
  const bytes = audio.get(kind.file)!;
  const { status, text } = await WORK[kind.way]({ url }, headers, bytes);
  return { ...kind, requestId, from, to: performance.now(), status, text };
}

interface Answer {
  status: number;
  text: string;
}

type Work = (server: { url: string }, headers: Record<string, string>, audio: Buffer) => Promise<Answer>;

const WORK: Record<WayOfAsking, Work> = {
  plain: (server, headers, bytes) => transcribed(server, headers, [['audio', bytes]]),
  translated: (server, headers, bytes) =>
    transcribed(server, headers, [
      ['audio', bytes],
      ['translate_to', 'en'],
      ['timestamps', 'word'],
    ]),
  streamed: async (server, headers, bytes) => {
    const parts: Part[] = [
      ['file', bytes],
      ['model', 'whisper-1'],
      ['stream', 'true'],
    ];
    const init = { headers, body: form(parts) };
    const reader = await EventReader.open(server, '/v1/audio/transcriptions', init);
    const events = await reader.rest();
    const done = events.find(({ event }) => event === 'transcript.text.done');
    if (done === undefined) return { status: 500, text: JSON.stringify(events.at(-1) ?? null) };
    return { status: reader.response.status, text: `${joinedDeltas(events)}|${String(done.data['text'])}` };
  },
  job: async (server, headers, bytes) => {
    const init = { method: 'POST', headers, body: form([['audio', bytes]]) };
    const made = await fetch(`${server.url}/api/v1/jobs`, init);
    const { id } = (await made.json()) as { id: string };
    if (made.status !== 202) return { status: made.status, text: 'The job was refused.' };
    for (;;) {
      const { status, result, error } = await jobNow(server, headers, id);
      if (status === 'succeeded') return { status: 200, text: result?.text ?? '' };
      if (status === 'failed') return { status: 500, text: JSON.stringify(error) };
      await sleep(LOOK_MS);
    }
  },
};

async function transcribed(
  server: { url: string },
  headers: Record<string, string>,
  parts: readonly Part[],
): Promise<Answer> {
  const init = { method: 'POST', headers, body: form(parts) };
  const response = await fetch(`${server.url}/api/v1/transcribe`, init);
  const body = await response.text();
  if (response.status !== 200) return { status: response.status, text: body };
  const { text, translation } = JSON.parse(body) as { text: string; translation?: { text: string } };
  return { status: 200, text: `${text}|${translation?.text ?? ''}` };
}

interface JobNow {
  status: string;
  result?: { text: string };
  error?: unknown;
}

async function jobNow(server: { url: string }, headers: Record<string, string>, id: string): Promise<JobNow> {
  const { authorization } = headers;
  const response = await fetch(`${server.url}/api/v1/jobs/${id}`, {
    headers: { authorization: authorization! },
  });
  return (await response.json()) as JobNow;
}
