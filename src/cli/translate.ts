import { text as readAll } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { ConfigError } from '../service/config.js';
import type { TranslationOptions } from '../engine/binding.js';
import { readContext } from '../service/context.js';
import { finiteNumber, integerFrom, languageOption } from './options.js';
import { COMPUTE_TYPES, translateTokens, type ComputeType } from './translate-tokens.js';
import { createTranslationEngine } from '../service/translation-engine.js';

interface Options extends DecodingFlags {
  from?: string;
  to?: string;
  json?: boolean;
  model?: string;
  tokens?: boolean;
  compute: ComputeType;
  batch?: number;
}

interface DecodingFlags {
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
}

export function addTranslate(program: Command): void {
  const command = program
    .command('translate')
    .argument('[text]', 'text to translate; "-" or nothing reads it from standard input')
    .option('--from <xx>', 'language of the text')
    .option('--to <xx>', 'language to translate it into')
    .option('--json', 'print JSON')
    .description('translate text with the installed models, or token by token with --model DIR --tokens');
  const tokens = command
    .option('--model <dir>', 'a CTranslate2 model directory (with --tokens)')
    .option(
      '--tokens',
      'below the tokenizer: each input line is source tokens, and behind a tab the target prefix; ' +
        'each output line is JSON {"hypotheses": [[token, ...], ...], "scores": [...]}',
    );
  tokens
    .option('--beam <n>', 'beam size; 1 is greedy', integerFrom(1), 4)
    .option('--n-best <n>', 'hypotheses a line', integerFrom(1), 1)
    .option('--length-penalty <x>', 'exponent of the length that scores are divided by', finiteNumber, 1)
    .option('--coverage-penalty <x>', 'weight of the coverage penalty', finiteNumber, 0)
    .option('--patience <x>', 'beam x patience hypotheses finish a line', finiteNumber, 1)
    .option('--max-length <n>', 'longest hypothesis in tokens', integerFrom(1), 256)
    .option('--min-length <n>', 'shortest hypothesis in tokens', integerFrom(0), 1)
    .option('--repetition-penalty <x>', 'above 1: produced tokens become less likely', finiteNumber, 1)
    .option('--no-repeat-ngram <n>', 'no n-gram of this size twice', integerFrom(0), 0)
    .option('--disable-unk', 'never produce the unknown token')
    .addOption(
      new Option(
        '--compute <type>',
        'type the weights are computed in, whatever the file holds (float16: GPUs only)',
      )
        .choices(COMPUTE_TYPES)
        .default('auto'),
    )
    .option('--batch <n>', 'lines decoded together (default: all)', integerFrom(1))
    .action(translate);
}

async function translate(text: string | undefined, options: Options): Promise<void> {
  const input = text === undefined || text === '-' ? await readAll(process.stdin) : text;
  if (options.tokens === true) {
    if (options.model === undefined) throw new ConfigError('--model', '', 'a model directory, with --tokens');
    const { model, compute, batch } = options;
    await translateTokens(input, { directory: model, compute, batch, decoding: decodingOptions(options) });
    return;
  }
  if (options.model !== undefined) throw new ConfigError('--model', options.model, 'only with --tokens');
  await translateText(input.replace(/\r?\n$/, ''), options);
}

async function translateText(text: string, options: Options): Promise<void> {
  const from = languageOption('--from', options.from ?? '');
  const to = languageOption('--to', options.to ?? '');
  const { config, roots, manifest } = readContext();
  const engine = createTranslationEngine(config, roots, manifest);
  try {
    const translated = from === to ? text : await engine.translateText({ accountId: 'cli', text, from, to });
    const models = engine.routeOf(from, to);
    console.log(
      options.json === true ? JSON.stringify({ from, to, models, text: translated }, null, 2) : translated,
    );
  } finally {
    await engine.close();
  }
}

function decodingOptions(flags: DecodingFlags): TranslationOptions {
  return {
    beamSize: flags.beam,
    hypotheses: flags.nBest,
    lengthPenalty: flags.lengthPenalty,
    coveragePenalty: flags.coveragePenalty,
    patience: flags.patience,
    maxDecodingLength: flags.maxLength,
    minDecodingLength: Math.min(flags.minLength, flags.maxLength),
    repetitionPenalty: flags.repetitionPenalty,
    noRepeatNgramSize: flags.noRepeatNgram,
    disableUnk: flags.disableUnk === true,
  };
}
