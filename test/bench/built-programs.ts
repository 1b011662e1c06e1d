/** Programs that stand for the ones of a CMake build, with their words and their answers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is recognised in every file. */
export interface ProgramOutput {
  language: string;
  text: string;
  /** Ids, and how near each was to another one. */
  tokens?: readonly (readonly [id: number, margin: number])[];
}

const PRELUDE = `#!${process.execPath}
const { writeFileSync } = require('node:fs');
const words = process.argv.slice(2);
const after = (flag) => words[words.indexOf(flag) + 1];
`;

export interface Programs {
  cli?: ProgramOutput;
  engine?: ProgramOutput;
  clips?: boolean;
  /** Behind what they recognised, programs write their words; the engine those that are no paths. */
  printsWords?: boolean;
  /** whisper-server, which ends at once. */
  server?: boolean;
  /** What parakeet-cli recognises in every file. */
  parakeet?: string;
}

/** whisper-cli answers what it was given, whatever the file; transcribe_windows and join_clips likewise. */
export function writePrograms(build: string, programs: Programs): void {
  mkdirSync(join(build, 'bin'), { recursive: true });
  const write = (path: string, body: string): void => writeFileSync(join(build, path), PRELUDE + body, { mode: 0o755 });
  const { cli, engine, clips = false, server = false, parakeet, printsWords = false } = programs;
  if (cli !== undefined) {
    const tokens = (cli.tokens ?? []).map(([id]) => ({ id }));
    const result = { result: { language: cli.language }, transcription: [{ text: cli.text, tokens }] };
    const spoken = printsWords ? "{ text: ' ' + words.join(' ') }" : '';
    write(
      join('bin', 'whisper-cli'),
      `const result = ${JSON.stringify(result)};
      result.transcription.push(${spoken});
      writeFileSync(after('-of') + '.json', JSON.stringify(result));`,
    );
  }
  if (engine !== undefined) {
    const { language, text, tokens = [] } = engine;
    const choices = tokens.map(([id, margin]) => ({ id, margin, runnerUp: -1 }));
    const line = { language, text, choices, languageMargin: null, audioContext: 1500 };
    const spoken = printsWords ? "' ' + words.filter((word) => !/[/]/.test(word)).join(' ')" : "''";
    write(
      'transcribe_windows',
      `const spoken = ${spoken};
      for (const word of words) if (/\\.(flac|wav)$/.test(word)) {
        const line = ${JSON.stringify(line)};
        console.log(JSON.stringify({ ...line, text: line.text + spoken }));
      }`,
    );
  }
  if (server) write(join('bin', 'whisper-server'), '');
  if (parakeet !== undefined) {
    write(
      join('bin', 'parakeet-cli'),
      `for (const word of words) if (/\\.(flac|wav)$/.test(word)) {
        console.error('\\nSegments (1):\\nSegment 0: [0 -> 100] ""\\nTokens [1]:');
        console.error('  [ 0] id=    7 frame=  1 dur_idx= 1 dur_val= 1 p=0.9000 plog=-0.1 t0=   8 t1=  16 word_start=true "▁${parakeet}"');
      }`,
    );
  }
  if (clips) write('join_clips', `writeFileSync(words[0], words.slice(1).join());`);
}
