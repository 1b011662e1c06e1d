/** Programs that CMake builds on demand: whisper.cpp's own command line, and the engine's windows. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Heard } from '../reports/transcripts.js';

/** Of whisper.cpp, built by targets of their names into bin/. */
export const WHISPER_PROGRAMS = ['whisper-server', 'whisper-cli'] as const;

export interface EngineLine extends Heard {
  /** Positions of the encoder. */
  audioContext: number;
  encoderPasses: number;
}

/** Throws an Error that says how to build what is missing. */
export function builtTool(build: string, target: string, path = target): string {
  const tool = join(build, path);
  if (existsSync(tool)) return tool;
  throw new Error(`${tool} is missing. Build it: cmake --build ${build} --target ${target}`);
}

export function whisperProgram(build: string, name: (typeof WHISPER_PROGRAMS)[number]): string {
  return builtTool(build, name, join('bin', name));
}

function runTool(command: string, words: readonly string[]): string {
  const run = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (run.status !== 0) throw new Error(`${command} failed: ${run.stderr}`);
  return run.stdout;
}

export interface DecodingWords {
  model: string;
  /** A code, or 'auto'. */
  language: string;
  beamSize: number;
}

/** transcribe_windows: each file as one window, all in one slot; lines in the order of the files. */
export function transcribeWindows(
  tool: string,
  { model, language, beamSize, ownLength }: DecodingWords & { ownLength: boolean },
  files: readonly string[],
): EngineLine[] {
  const words = [model, '--language', language, '--beam-size', String(beamSize)];
  const output = runTool(tool, [...words, ...(ownLength ? ['--own-length'] : []), ...files]);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EngineLine);
}

/** whisper-cli with its fall-back over temperatures; `audioContext` 0 is the full length. */
export function whisperCli(
  tool: string,
  { model, language, beamSize, audioContext }: DecodingWords & { audioContext: number },
  file: string,
  directory: string,
): Heard {
  const output = join(directory, 'result');
  const decoding = ['-l', language, '-bs', String(beamSize), '-bo', '5', '-ac', String(audioContext)];
  runTool(tool, ['-m', model, '-f', file, '-of', output, ...decoding, '-t', '1', '-np', '-oj']);
  const json = JSON.parse(readFileSync(`${output}.json`, 'utf8')) as {
    result: { language: string };
    transcription: { text: string }[];
  };
  return { language: json.result.language, text: json.transcription.map((segment) => segment.text).join('') };
}
