import { statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { ConfigError } from '../service/config.js';
import { loadBinding } from '../engine/binding.js';
import { importSpeechModel } from '../models/import.js';
import {
  importTranslationModel,
  isArchive,
  type ImportTranslationOptions,
} from '../models/import-translation.js';
import { readContext } from '../service/context.js';
import { languageOption } from './options.js';

interface ImportOptions {
  name?: string;
  windows: string;
  from?: string;
  to?: string;
  targetToken?: string;
  targetTokenPlace: 'source' | 'prefix';
  sourceToken?: string;
  codes?: string;
}

export function addImport(models: Command): void {
  models
    .command('import')
    .argument(
      '<path>',
      'a ggml Whisper model file (.bin), or a translation model: a CTranslate2 directory, .argosmodel or .zip',
    )
    .option('--name <name>', 'its name here (default: from the file name)')
    .option('--windows <policy>', 'window policy of a speech model: full or short', 'full')
    .option('--from <languages>', 'languages a translation model reads, with commas (default: its metadata)')
    .option('--to <languages>', 'languages it writes')
    .option('--target-token <template>', 'how it is told the target language, such as ">>{}<<" or "__{}__"')
    .addOption(
      new Option('--target-token-place <place>', 'first source token, or beginning of the translation')
        .choices(['source', 'prefix'])
        .default('source'),
    )
    .option('--source-token <template>', 'first source token with the source language, where it wants one')
    .option('--codes <codes>', "the model's own language codes, such as es=spa_Latn,en=eng_Latn")
    .description('take a model you already have into the models directory')
    .action(importModel);
}

async function importModel(path: string, options: ImportOptions): Promise<void> {
  if (statSync(path).isDirectory() || isArchive(path)) await importTranslation(path, options);
  else await importSpeech(path, options);
}

async function importSpeech(path: string, options: ImportOptions): Promise<void> {
  const { manifest, roots } = readContext();
  if (manifest.windowPolicies[options.windows] === undefined) {
    throw new Error(
      `--windows is "${options.windows}"; allowed: ${Object.keys(manifest.windowPolicies).join(', ')}.`,
    );
  }
  const entry = await importSpeechModel(path, {
    roots,
    ...(options.name === undefined ? {} : { name: options.name }),
    windows: options.windows,
    check: async (file) => {
      const model = await loadBinding().loadSpeechModel(file, { device: 'cpu' });
      const { languages } = model.info;
      model.close();
      return languages;
    },
  });
  console.log(`${entry.name} is imported; use it with VERBATIM_MODEL=${entry.name}`);
}

async function importTranslation(path: string, options: ImportOptions): Promise<void> {
  const { roots } = readContext();
  const { from, to, targetToken: template, targetTokenPlace: place, sourceToken, codes } = options;
  const entry = await importTranslationModel(path, {
    roots,
    ...(options.name === undefined ? {} : { name: options.name }),
    traits: {
      ...(from === undefined ? {} : { from: languageList('--from', from) }),
      ...(to === undefined ? {} : { to: languageList('--to', to) }),
      ...(template === undefined ? {} : { targetToken: { place, template } }),
      ...(sourceToken === undefined ? {} : { sourceToken }),
      ...(codes === undefined ? {} : { codes: codeMap(codes) }),
    },
    withModel: withTranslationModel,
  });
  console.log(`${entry.name} is imported: ${entry.from.join(',')} -> ${entry.to.join(',')}`);
}

/** Loads a directory of a translation model, to see whether it is one. */
export const withTranslationModel: ImportTranslationOptions['withModel'] = async (directory, look) => {
  const model = await loadBinding().loadTranslationModel(directory, { device: 'cpu' });
  try {
    look(model);
  } finally {
    model.close();
  }
};

function languageList(option: string, value: string): string[] {
  return value.split(',').map((code) => languageOption(option, code.trim()));
}

function codeMap(value: string): Record<string, string> {
  const pairs = value.split(',').map((pair) => pair.split('='));
  return Object.fromEntries(
    pairs.map(([language = '', code]) => {
      if (!code) throw new ConfigError('--codes', value, 'pairs such as es=spa_Latn,en=eng_Latn');
      return [languageOption('--codes', language.trim()), code.trim()];
    }),
  );
}
