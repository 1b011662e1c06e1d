/** whisper.cpp's own parakeet-cli, and what it reports for every token. */
import { spawnSync } from 'node:child_process';

export interface ParakeetToken {
  id: number;
  /** With the space before it, where it begins a word. */
  text: string;
  /** Seconds. */
  start: number;
  end: number;
  /** To four decimals. */
  probability: number;
}

const MOST_BYTES = 2 ** 28;
const SEGMENTS = /^Segments \(\d+\):$/m;
const TOKEN = /^ {2}\[ *\d+\] id= *(\d+) .* p=(\S+) plog=\S+ t0= *(-?\d+) t1= *(-?\d+) word_start=\w+ "(.*)"$/gm;

/** On one thread of the processor: tokens by file. Throws an Error unless every file was transcribed. */
export function parakeetCli(tool: string, model: string, files: readonly string[]): ParakeetToken[][] {
  const words = ['-m', model, '-ng', '-t', '1', '-np', '-ps', ...files];
  const run = spawnSync(tool, words, { encoding: 'utf8', maxBuffer: MOST_BYTES });
  if (run.status !== 0) throw new Error(`${tool} failed: ${run.stderr}`);
  const [, ...answers] = run.stderr.split(SEGMENTS);
  if (answers.length !== files.length) {
    throw new Error(`${tool} transcribed ${answers.length} of ${files.length} files: ${run.stderr.slice(0, 1000)}`);
  }
  return answers.map((lines) => [...lines.matchAll(TOKEN)].map(tokenOf));
}

/** Without the unknown piece. */
export function textOfTokens(tokens: readonly ParakeetToken[]): string {
  return tokens.map(({ id, text }) => (id === 0 ? '' : text)).join('');
}

function tokenOf([, id, probability, from, to, piece = '']: RegExpExecArray): ParakeetToken {
  const seconds = (hundredths: string | undefined): number => Number(hundredths) / 100;
  return {
    ...{ id: Number(id), text: piece.replaceAll('▁', ' ') },
    ...{ start: seconds(from), end: seconds(to), probability: Number(probability) },
  };
}
