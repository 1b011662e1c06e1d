/** What a file of the fake engine says. */
import { closeSync, openSync, readSync } from 'node:fs';
import { EngineError } from '../../src/engine/native-errors.js';

export const SPEECH_CHUNK = 'said';
export const RECORDING = 'recording of ';

export interface FakeAudio {
  seconds: number;
  language: string;
  text: string;
}

export function readAudio(path: string): FakeAudio {
  const line = firstLine(path);
  const [, seconds, language, text] = /^audio (\S+) (\S+) (.*)$/.exec(line) ?? [];
  if (line === 'broken') throw new EngineError('invalid_audio', 'The audio is broken.');
  if (seconds === undefined || language === undefined || text === undefined) {
    throw new EngineError('unsupported_audio_format', 'Not WAV, FLAC, MP3 or OGG.');
  }
  return { seconds: Number(seconds), language, text };
}

/** Only the start: some uploads of the tests are large. */
export function firstLine(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4096);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    const start = bytes.toString('latin1', 0, 4) === 'RIFF' ? bytes.indexOf(SPEECH_CHUNK) + 8 : 0;
    return bytes.toString('utf8', start, length).split('\n', 1)[0]!;
  } finally {
    closeSync(file);
  }
}
