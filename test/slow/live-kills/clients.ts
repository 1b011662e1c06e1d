/** The clients of the test of kills: each speaks in one session, and keeps what came of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { at24kHz, pieces } from '../../support/live-audio.js';
import { bearer } from '../../support/server.js';
import { SocketClient, type SocketEvent } from '../../support/socket-client.js';
import { until } from '../../support/until.js';
import type { SessionKind, Speaker } from './speakers.js';

/** What a client was answered. */
export interface SpokenOutcome {
  /** Of each item; of Deepgram's protocol all final texts as one. */
  texts: string[];
  /** Of audio that was sent. */
  seconds: number;
  /** Results that came while the session ran. */
  events: number;
  /** What no client should see. */
  problems: string[];
}

export interface SpeakingPlace {
  url: string;
  key: string;
  /** Whether pieces are sent at the speed of speech; else as fast as the server takes them. */
  isPaced: boolean;
}

/** Longer than any session takes, however busy the machine is. */
const WATCHDOG_MS = 300_000;
const PIECE_SECONDS = 0.1;
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const BUFFER = 'input_audio_buffer';
const SILENCE_MS = 400;

/** Speaks to the end, and waits for all results. */
export function speak(speaker: Speaker, place: SpeakingPlace): Promise<SpokenOutcome> {
  return SPEAK[speaker.kind](speaker, place);
}

const SPEAK: Record<SessionKind, (speaker: Speaker, place: SpeakingPlace) => Promise<SpokenOutcome>> = {
  'openai turns': (speaker, place) => speakToOpenAi(speaker, place, false),
  'openai commits': (speaker, place) => speakToOpenAi(speaker, place, true),
  'deepgram turns': (speaker, place) => speakToDeepgram(speaker, place, false),
  'deepgram flushes': (speaker, place) => speakToDeepgram(speaker, place, true),
};

async function speakToOpenAi(
  { language, parts }: Speaker,
  place: SpeakingPlace,
  commits: boolean,
): Promise<SpokenOutcome> {
  const url = `${place.url}/v1/realtime?intent=transcription`;
  const client = await SocketClient.connect(url, [], { headers: bearer(place.key) });
  const turns = commits ? null : { type: 'server_vad', silence_duration_ms: SILENCE_MS };
  const input = { transcription: { language }, turn_detection: turns };
  client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
  await client.next('session.updated');
  const feed = new Feed(place.isPaced, 24_000, (piece) => {
    client.send({ type: `${BUFFER}.append`, audio: piece.toString('base64') });
  });
  for (const part of parts) {
    await feed.send(at24kHz(part));
    if (commits) client.send({ type: `${BUFFER}.commit` });
  }
  // It has nothing to commit, and says so when all audio before was worked on.
  if (!commits) client.send({ type: `${BUFFER}.commit` });
  const committed = (): number => client.of(`${BUFFER}.committed`).length;
  const results = (): number =>
    client.of(`${TRANSCRIPTION}.completed`).length + client.of(`${TRANSCRIPTION}.failed`).length;
  const isAllWorked = (): boolean => (commits ? committed() === parts.length : client.of('error').length > 0);
  await wait(client, () => isAllWorked() && results() === committed());
  const wasOpen = client.closed === null;
  client.close();
  return {
    texts: client.of(`${TRANSCRIPTION}.completed`).map(({ transcript }) => String(transcript)),
    seconds: feed.seconds,
    events: client.events.length,
    problems: [...(wasOpen ? [] : [closing(client)]), ...openAiProblems(client)],
  };
}

function openAiProblems(client: SocketClient): string[] {
  const errors = client.of('error').map(({ error }) => (error as { code: string }).code);
  const deltas = new Map<unknown, string>();
  for (const { item_id: id, delta } of client.of(`${TRANSCRIPTION}.delta`)) {
    deltas.set(id, (deltas.get(id) ?? '') + String(delta));
  }
  return [
    ...errors.filter((code) => code !== `${BUFFER}_commit_empty`),
    ...client.of(`${TRANSCRIPTION}.failed`).map((event) => JSON.stringify(event['error'])),
    ...client
      .of(`${TRANSCRIPTION}.completed`)
      .filter(({ item_id: id, transcript }) => (deltas.get(id) ?? '') !== transcript)
      .map(({ transcript }) => `its deltas are not "${String(transcript)}"`),
  ];
}

async function speakToDeepgram(
  { language, parts }: Speaker,
  place: SpeakingPlace,
  flushes: boolean,
): Promise<SpokenOutcome> {
  const query = new URLSearchParams({
    ...{ encoding: 'linear16', sample_rate: '16000', language, punctuate: 'true', interim_results: 'true' },
    endpointing: flushes ? 'false' : String(SILENCE_MS),
  });
  const url = `${place.url}/v1/listen?${query.toString()}`;
  const client = await SocketClient.connect(url, [], { headers: { authorization: `Token ${place.key}` } });
  const feed = new Feed(place.isPaced, 16_000, (piece) => client.socket.send(piece));
  for (const part of parts) {
    await feed.send(part);
    if (flushes) client.send({ type: 'Finalize' });
  }
  client.send({ type: 'CloseStream' });
  await wait(client, () => client.closed !== null);
  const finals = client.of('Results').filter((result) => result['is_final'] === true);
  const texts = finals.map(transcriptOf).filter((text) => text !== '');
  return {
    texts: [texts.join(' ')],
    seconds: feed.seconds,
    events: client.events.length,
    problems: [
      ...(client.closed?.code === 1000 && client.types.at(-1) === 'Metadata' ? [] : [closing(client)]),
      ...client.of('Error').map((event) => JSON.stringify(event)),
      ...gapsOf(finals, feed.seconds),
    ],
  };
}

function transcriptOf({ channel }: SocketEvent): string {
  return (channel as { alternatives: { transcript: string }[] }).alternatives[0]?.transcript ?? '';
}

/** Where final ranges do not follow one another from 0 to the end. */
function gapsOf(finals: readonly SocketEvent[], seconds: number): string[] {
  let end = 0;
  const gaps: string[] = [];
  for (const { start, duration } of finals) {
    if (Math.abs(Number(start) - end) > 0.002) gaps.push(`a range begins at ${Number(start)} s behind one to ${end} s`);
    end = Number(start) + Number(duration);
  }
  return Math.abs(end - seconds) > 0.002 ? [...gaps, `ranges end at ${end} s of ${seconds} s`] : gaps;
}

function closing({ closed, types }: SocketClient): string {
  return `the connection ended with ${closed?.code ?? 'nothing'} ${closed?.reason ?? ''} behind ${types.slice(-3).join()}`;
}

async function wait(client: SocketClient, isDone: () => boolean): Promise<void> {
  const what = (): string => `the results; the last events: ${client.types.slice(-5).join()}`;
  await until(() => isDone() || client.closed !== null, 'all results', WATCHDOG_MS).catch((cause: unknown) => {
    throw new Error(what(), { cause });
  });
}

class Feed {
  #bytes = 0;
  #begun: number | null = null;

  constructor(
    private readonly isPaced: boolean,
    private readonly rate: number,
    private readonly write: (piece: Buffer) => void,
  ) {}

  get seconds(): number {
    return this.#bytes / 2 / this.rate;
  }

  async send(pcm: Buffer): Promise<void> {
    this.#begun ??= performance.now();
    for (const piece of pieces(pcm, Math.round(PIECE_SECONDS * this.rate) * 2)) {
      this.#bytes += piece.length;
      const due = this.#begun + this.seconds * 1000;
      if (this.isPaced) await sleep(Math.max(0, due - performance.now()));
      this.write(piece);
    }
  }
}
