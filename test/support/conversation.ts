/** Two synthetic voices that take turns, from the clips of the tests. */
import { join } from 'node:path';
import { binding, samplePath } from '../native/support.js';
import { pause, writeWav } from './speech.js';

const CLIPS = join(__dirname, '..', 'fixtures', 'audio', 'clips');
const PAUSE_SECONDS = 0.7;
const RATE = 16_000;
const BYTES = 2;

export interface MadeTurn {
  voice: 'A' | 'B';
  startSeconds: number;
  endSeconds: number;
}

export interface MadeConversation {
  path: string;
  durationSeconds: number;
  turns: MadeTurn[];
}

/** Writes a WAV file of so many rounds: A says its sentence twice, then B says several. */
export async function writeConversation(path: string, rounds = 2): Promise<MadeConversation> {
  const a = await pcmOf(join(CLIPS, 'seen1-en-04.flac'));
  const b = await pcmOf(samplePath('en-vorbis.ogg'));
  const parts: Buffer[] = [];
  const turns: MadeTurn[] = [];
  let at = 0;
  const say = (voice: 'A' | 'B', speech: Buffer): void => {
    const startSeconds = at;
    at += speech.length / BYTES / RATE;
    turns.push({ voice, startSeconds, endSeconds: at });
    parts.push(speech, pause(PAUSE_SECONDS));
    at += PAUSE_SECONDS;
  };
  for (let round = 0; round < rounds; round++) {
    say('A', Buffer.concat([a, a]));
    say('B', b);
  }
  return { path, durationSeconds: writeWav(path, parts), turns };
}

/** Who speaks at that time; in a pause, who spoke last. */
export function voiceAt({ turns }: MadeConversation, seconds: number): 'A' | 'B' {
  return turns.findLast(({ startSeconds }) => startSeconds <= seconds)?.voice ?? 'A';
}

/** 16-bit samples at 16 kHz. */
export async function pcmOf(path: string): Promise<Buffer> {
  const reader = await binding.openSamples(path);
  try {
    const parts: Buffer[] = [];
    for (let read = await reader.read(RATE); read.length > 0; read = await reader.read(RATE)) {
      parts.push(Buffer.from(Int16Array.from(read, (sample) => Math.round(sample * 32_767)).buffer));
    }
    return Buffer.concat(parts);
  } finally {
    reader.close();
  }
}
