import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readContext } from '../service/context.js';
import { translateLocally } from '../service/local-translation.js';
import { UsageError } from '../service/variables.js';
import { asLanguageCode } from './options.js';

interface Options {
  from?: string;
  to?: string;
  json?: boolean;
}

export function addTranslate(program: Command): void {
  program
    .command('translate')
    .argument('[text]', 'text to translate; "-" or nothing reads it from standard input')
    .option('--from <xx>', 'language of the text')
    .option('--to <xx>', 'language to translate it into')
    .option('--json', 'print JSON')
    .description('translate text with the installed models')
    .action(translate);
}

async function translate(argument: string | undefined, options: Options): Promise<void> {
  const from = asLanguageCode('--from', required('--from', options.from));
  const to = asLanguageCode('--to', required('--to', options.to));
  const context = readContext();
  const input = argument === undefined || argument === '-' ? await readAll(process.stdin) : argument;
  const { text, models } = await translateLocally({ text: input.replace(/\r?\n$/, ''), from, to }, context);
  console.log(options.json === true ? JSON.stringify({ from, to, models, text }, null, 2) : text);
}

function required(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is missing: translate --from en --to de "Good morning"`);
  return value;
}
