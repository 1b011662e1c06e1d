/** What attackers do with a connection until they are stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import { at24kHz, pieces, spokenPcm } from '../../support/live-audio.js';
import type { SocketClient } from '../../support/socket-client.js';

export interface Attack {
  name: string;
  connections: number;
  /** Of the server, MiB: for what it may hold of all of them. */
  mostMebibytes: number;
  /** Goes on until the signal. */
  attack: (client: SocketClient, signal: AbortSignal) => Promise<void>;
}

const BUFFER = 'input_audio_buffer';
const MEBIBYTE = 2 ** 20;
const LONGEST = 15 * MEBIBYTE;
/** Of what an attacker may have on its way: its own memory is not what is attacked. */
const MOST_BUFFERED = 2 * MEBIBYTE;

const append = (audio: string): string => JSON.stringify({ type: `${BUFFER}.append`, audio });

export const ATTACKS: readonly Attack[] = [
  {
    ...{ name: 'that send nothing', connections: 300, mostMebibytes: 100 },
    attack: (_client, signal) => untilAborted(signal),
  },
  {
    ...{ name: 'that read nothing while answers are due', connections: 300, mostMebibytes: 1500 },
    attack: async (client, signal) => {
      client.socket.pause();
      const speech = append(at24kHz(spokenPcm()).toString('base64'));
      const prompt = 'of a long answer '.repeat(50);
      const input = { transcription: { prompt } };
      const update = JSON.stringify({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
      await flood(client, signal, [speech, ...Array.from({ length: 50 }, () => update)]);
    },
  },
  {
    ...{ name: 'of base64 that is none', connections: 8, mostMebibytes: 250 },
    attack: (client, signal) => flood(client, signal, [append('A'.repeat(MEBIBYTE) + '%')]),
  },
  {
    ...{ name: 'of events of 15 MiB', connections: 8, mostMebibytes: 800 },
    attack: async (client, signal) => {
      const audio = append('A'.repeat(LONGEST));
      await flood(client, signal, [audio, `{"type":"${'x'.repeat(LONGEST)}"}`]);
    },
  },
  {
    ...{ name: 'of audio at 100 times speed', connections: 8, mostMebibytes: 250 },
    attack: async (client, signal) => {
      const second = [...pieces(at24kHz(spokenPcm({ silenceSeconds: 0.5 })), 48_000)];
      const messages = second.map((piece) => append(piece.toString('base64')));
      await flood(client, signal, messages, 10);
    },
  },
  {
    ...{ name: 'of ten thousand events a second', connections: 8, mostMebibytes: 250 },
    attack: (client, signal) =>
      flood(
        client,
        signal,
        Array.from({ length: 100 }, () => '{"type":"none"}'),
        10,
      ),
  },
];

/** All messages again and again; `everyMs`: no faster than one round of them in this time. */
async function flood(
  client: SocketClient,
  signal: AbortSignal,
  messages: readonly string[],
  everyMs = 0,
): Promise<void> {
  const isOver = (): boolean => signal.aborted || client.closed !== null;
  while (!isOver()) {
    for (const message of messages) {
      while (client.socket.bufferedAmount > MOST_BUFFERED && !isOver()) await sleep(5);
      if (isOver()) return;
      client.socket.send(message);
    }
    // What was answered is not what is attacked, either.
    client.events.length = 0;
    await sleep(everyMs);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
