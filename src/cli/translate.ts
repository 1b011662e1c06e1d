import { text as readAll } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import type { TranslationInput, TranslationOptions } from '../engine/binding.js';
import { readContext } from '../service/context.js';
import { translateLocally, translateTokens, type TokenTranslation } from '../service/local-translation.js';
import { UsageError } from '../service/variables.js';
import { finiteNumber, integerFrom, asLanguageCode, refuseGiven } from './options.js';

const COMPUTE_TYPES = ['auto', 'float32', 'float16', 'bfloat16', 'int8'] as const;

interface TextFlags {
  from?: string;
  to?: string;
  json?: boolean;
}

interface TokenFlags {
  model?: string;
  beam: number;
  nBest: number;
  lengthPenalty: number;
  coveragePenalty: number;
  patience: number;
  maxLength: number;
  minLength: number;
  repetitionPenalty: number;
  noRepeatNgram: number;
  disableUnk?: boolean;
  compute: TokenTranslation['compute'];
  batch?: number;
}

type Options = TextFlags & TokenFlags & { tokens?: boolean };

const TOKENS_ONLY: readonly (keyof TokenFlags)[] = [
  'model',
  'beam',
  'nBest',
  'lengthPenalty',
  'coveragePenalty',
  'patience',
  'maxLength',
  'minLength',
  'repetitionPenalty',
  'noRepeatNgram',
  'disableUnk',
  'compute',
  'batch',
];
const TEXT_ONLY: readonly (keyof TextFlags)[] = ['from', 'to', 'json'];

export function addTranslate(program: Command): void {
  const command = program
    .command('translate')
    .argument('[text]', 'text to translate; "-" or nothing reads it from standard input')
    .option('--from <xx>', 'language of the text')
    .option('--to <xx>', 'language to translate it into')
    .option('--json', 'print JSON')
    .description('translate text with the installed models, or token by token with --model DIR --tokens')
    .option(
      '--tokens',
      'below the tokenizer: each input line is source tokens, and behind a tab the target prefix; ' +
        'each output line is JSON {"hypotheses": [[token, ...], ...], "scores": [...]}; with it, and not without:',
    )
    .option('--model <dir>', 'a CTranslate2 model directory');
  addDecoding(command).action(translate);
}

function addDecoding(command: Command): Command {
  return command
    .option('--beam <n>', 'beam size; 1 is greedy', integerFrom(1), 4)
    .option('--n-best <n>', 'hypotheses a line', integerFrom(1), 1)
    .option('--length-penalty <x>', 'exponent of the length that scores are divided by', finiteNumber, 1)
    .option('--coverage-penalty <x>', 'weight of the coverage penalty', finiteNumber, 0)
    .option('--patience <x>', 'beam x patience hypotheses finish a line', finiteNumber, 1)
    .option('--max-length <n>', 'longest hypothesis in tokens', integerFrom(1), 256)
    .option('--min-length <n>', 'shortest hypothesis in tokens', integerFrom(0), 1)
    .option('--repetition-penalty <x>', 'above 1: produced tokens become less likely', finiteNumber, 1)
    .addOption(noRepeatNgram())
    .option('--disable-unk', 'never produce the unknown token')
    .addOption(
      new Option(
        '--compute <type>',
        'type the weights are computed in, whatever the file holds; float16: GPU',
      )
        .choices(COMPUTE_TYPES)
        .default('auto'),
    )
    .option('--batch <n>', 'lines decoded together (default: all)', integerFrom(1));
}

/** Commander takes what begins with --no- for a negation; this is a name. */
function noRepeatNgram(): Option {
  const option = new Option('--no-repeat-ngram <n>', 'no n-gram of this size twice; 0: as many as come');
  option.negate = false;
  return option.argParser(integerFrom(0)).default(0);
}

async function translate(text: string | undefined, options: Options, command: Command): Promise<void> {
  if (options.tokens === true) refuseGiven(command, TEXT_ONLY, 'cannot be used with --tokens');
  else refuseGiven(command, TOKENS_ONLY, 'acts only with --tokens');
  const read = async (): Promise<string> =>
    text === undefined || text === '-' ? await readAll(process.stdin) : text;
  await (options.tokens === true ? printTokens(read, options) : printText(read, options));
}

async function printText(read: () => Promise<string>, options: TextFlags): Promise<void> {
  const from = asLanguageCode('--from', options.from ?? '');
  const to = asLanguageCode('--to', options.to ?? '');
  const context = readContext();
  const input = (await read()).replace(/\r?\n$/, '');
  const { text, models } = await translateLocally({ text: input, from, to }, context);
  console.log(options.json === true ? JSON.stringify({ from, to, models, text }, null, 2) : text);
}

async function printTokens(read: () => Promise<string>, flags: TokenFlags): Promise<void> {
  const { model: directory, compute, batch = null } = flags;
  if (directory === undefined) throw new UsageError('--tokens needs --model and a model directory.');
  const job = { directory, compute, batch, decoding: decodingOptions(flags) };
  const context = readContext();
  const inputs = linesOf(await read()).map(parseLine);
  for await (const results of translateTokens(inputs, job, context)) {
    for (const hypotheses of results) {
      const line = {
        hypotheses: hypotheses.map(({ tokens }) => tokens),
        scores: hypotheses.map(({ score }) => score),
      };
      console.log(JSON.stringify(line));
    }
  }
}

function decodingOptions(flags: TokenFlags): TranslationOptions {
  const { minLength, maxLength } = flags;
  if (minLength > maxLength) {
    throw new UsageError(`--min-length is "${minLength}"; allowed: at most --max-length, "${maxLength}".`);
  }
  return {
    beamSize: flags.beam,
    hypotheses: flags.nBest,
    lengthPenalty: flags.lengthPenalty,
    coveragePenalty: flags.coveragePenalty,
    patience: flags.patience,
    maxDecodingLength: maxLength,
    minDecodingLength: minLength,
    repetitionPenalty: flags.repetitionPenalty,
    noRepeatNgramSize: flags.noRepeatNgram,
    disableUnk: flags.disableUnk === true,
  };
}

/** An empty line is an empty sentence; the line end of the last line begins no other. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function parseLine(line: string): TranslationInput {
  const [source = '', prefix = ''] = line.split('\t', 2);
  const targetPrefix = tokensOf(prefix);
  return targetPrefix.length === 0
    ? { source: tokensOf(source) }
    : { source: tokensOf(source), targetPrefix };
}

// Only ASCII white space parts tokens: others, such as the no-break space, occur inside vocabularies.
function tokensOf(text: string): string[] {
  return text.split(/[ \t\r\n\f\v]+/).filter((token) => token !== '');
}
