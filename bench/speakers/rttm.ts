/**
 * Rich Transcription Time Marked files (NIST RT-09 evaluation plan, appendix A): who speaks when, as others publish it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';

/** SPEAKER, recording, channel, start, duration, text, kind, speaker. */
const FEWEST_FIELDS = 8;

/** Of each recording, in the order of the lines. Throws an Error that names the line. */
export function parseRttm(text: string): Map<string, SpeakerTurn[]> {
  const recordings = new Map<string, SpeakerTurn[]>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const fields = line.trim().split(/\s+/);
    // Other types say what is not scored here; a comment begins with two semicolons.
    if (fields[0] !== 'SPEAKER') continue;
    const turn = turnOf(fields, `line ${index + 1}`);
    const recording = fields[1] ?? '';
    const turns = recordings.get(recording) ?? [];
    recordings.set(recording, turns);
    if (turn !== null) turns.push(turn);
  }
  return recordings;
}

/** null where it lasts no time. */
function turnOf(fields: readonly string[], place: string): SpeakerTurn | null {
  if (fields.length < FEWEST_FIELDS)
    throw new Error(`${place} has ${fields.length} fields; allowed: ${FEWEST_FIELDS} or more.`);
  const startSeconds = secondsOf(fields[3], `${place}: the start`);
  const seconds = secondsOf(fields[4], `${place}: the duration`);
  return seconds === 0 ? null : { startSeconds, endSeconds: startSeconds + seconds, speaker: fields[7] ?? '' };
}

function secondsOf(field: string | undefined, what: string): number {
  const seconds = field !== undefined && /^[\d.]/.test(field) ? Number(field) : NaN;
  if (Number.isFinite(seconds)) return seconds;
  throw new Error(`${what} is "${field ?? ''}"; allowed: seconds, 0 or more.`);
}

/**
 * All *.rttm of a directory. Throws an Error that names the file; also when there is none, or two describe one
 * recording.
 */
export function readRttmDirectory(directory: string): Map<string, SpeakerTurn[]> {
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.rttm')) : [];
  if (names.length === 0) throw new Error(`${directory} holds no .rttm files.`);
  const recordings = new Map<string, SpeakerTurn[]>();
  for (const name of names.sort()) {
    for (const [recording, turns] of parsedFile(join(directory, name))) {
      if (recordings.has(recording)) throw new Error(`${directory}: two files are of the recording "${recording}".`);
      recordings.set(recording, turns);
    }
  }
  return recordings;
}

function parsedFile(path: string): Map<string, SpeakerTurn[]> {
  try {
    return parseRttm(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** As other programs read it. */
export function toRttm(recording: string, turns: readonly SpeakerTurn[]): string {
  const lines = turns.map(({ startSeconds, endSeconds, speaker }) => {
    const times = [startSeconds, endSeconds - startSeconds].map((seconds) => seconds.toFixed(3));
    return `SPEAKER ${recording} 1 ${times.join(' ')} <NA> <NA> ${speaker} <NA> <NA>\n`;
  });
  return lines.join('');
}
