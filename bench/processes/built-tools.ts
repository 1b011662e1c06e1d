/** Programs that CMake builds on demand: whisper.cpp's own command line, and the engine's windows. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpeechModelInfo } from '../../src/engine/binding.js';
import type { TokenChoice } from '../reports/near-ties.js';
import type { WrittenTranscript } from '../reports/transcripts.js';

/** Of whisper.cpp, built by targets of their names into bin/. */
export const WHISPER_PROGRAMS = ['whisper-server', 'whisper-cli', 'parakeet-cli'] as const;
export type WhisperProgram = (typeof WHISPER_PROGRAMS)[number];

/** By the family of a model: those that decode it. */
export const PROGRAMS_OF: Readonly<Record<SpeechModelInfo['family'], readonly WhisperProgram[]>> = {
  whisper: ['whisper-server', 'whisper-cli'],
  parakeet: ['parakeet-cli'],
};

export interface EngineLine extends WrittenTranscript {
  /** Positions of the encoder. */
  audioContext: number;
  /** Empty unless they are asked for. */
  choices: readonly TokenChoice[];
  /** Nats between the likeliest language and the next; null where it was given. */
  languageMargin: number | null;
  /** Of the text. */
  tokens: readonly (readonly [id: number, probability: number])[];
  seconds: number;
  /** Empty unless they are asked for. */
  words: readonly { text: string; start: number; end: number; probability: number }[];
}

/** The transcript of whisper-cli, and the ids of all its tokens. */
export interface CliLine extends WrittenTranscript {
  tokens: readonly number[];
}

/** Throws an Error that says how to build what is missing. */
export function builtTool(build: string, target: string, path = target): string {
  const tool = join(build, path);
  if (existsSync(tool)) return tool;
  throw new Error(`${tool} is missing. Build it: cmake --build ${build} --target ${target}`);
}

export function whisperProgram(build: string, name: WhisperProgram): string {
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

/** Decoders that transcribe_windows has, by the names of VERBATIM_SPEECH_DECODER. */
export const DECODERS = ['whisper.cpp', 'batched'] as const;
export type DecoderName = (typeof DECODERS)[number];

/** How a text is decoded that rounding alone may change: the first one counts, whatever it is worth. */
interface PlainWords {
  /** No other temperature, and no window is silent. */
  plain?: boolean;
}

export interface EngineWords extends DecodingWords, PlainWords {
  ownLength: boolean;
  decoder?: DecoderName;
  /** Of the batched decoder. */
  compute?: string;
  /** With word times. */
  words?: boolean;
}

/** transcribe_windows: each file as one window; lines in the order of the files. */
export function transcribeWindows(
  tool: string,
  { model, language, beamSize, ownLength, plain = false, decoder, compute, words: timed = false }: EngineWords,
  files: readonly string[],
): EngineLine[] {
  const words = [model, '--language', language, '--beam-size', String(beamSize)];
  if (ownLength) words.push('--own-length');
  if (timed) words.push('--words');
  if (plain) words.push('--plain', '--explain');
  if (decoder !== undefined) words.push('--decoder', decoder);
  if (compute !== undefined) words.push('--compute', compute);
  const output = runTool(tool, [...words, ...files]);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EngineLine);
}

/**
 * whisper-cli, with its fall-back over temperatures unless it is to decode plainly; `audioContext` 0 is the full
 * length. Without flash attention where it decodes plainly: with it, whisper.cpp attends to padding at lengths that are
 * no multiple of 256 positions, the full one among them.
 */
export function whisperCli(
  tool: string,
  { model, language, beamSize, audioContext, plain = false }: DecodingWords & PlainWords & { audioContext: number },
  file: string,
  directory: string,
): CliLine {
  const output = join(directory, 'result');
  const decoding = ['-l', language, '-bs', String(beamSize), '-bo', '5', '-ac', String(audioContext)];
  if (plain) decoding.push('-nf', '-tp', '0', '-nth', '1', '-nfa');
  runTool(tool, ['-m', model, '-f', file, '-of', output, ...decoding, '-t', '1', '-np', '-ojf']);
  const json = JSON.parse(readFileSync(`${output}.json`, 'utf8')) as {
    result: { language: string };
    transcription: { text: string; tokens?: { id: number }[] }[];
  };
  return {
    language: json.result.language,
    text: json.transcription.map((segment) => segment.text).join(''),
    tokens: json.transcription.flatMap(({ tokens = [] }) => tokens.map(({ id }) => id)),
  };
}
