import { statSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import { Option, type Command } from 'commander';
import { ConfigError } from '../config.js';
import { loadBinding } from '../engine/binding.js';
import { importSpeechModel } from '../models/import.js';
import {
  importTranslationModel,
  isArchive,
  type ImportTranslationOptions,
} from '../models/import-translation.js';
import { findModel, type ModelEntry } from '../models/manifest.js';
import { pullModel } from '../models/pull.js';
import { isInstalled, modelFiles, verifyModel } from '../models/store.js';
import { cliContext, printRows } from './context.js';
import { languageOption } from './options.js';

const HUB = 'https://huggingface.co';

export function addModels(program: Command): void {
  const models = program.command('models').description('list, download, import and verify models');
  models
    .command('list')
    .description('every model of the manifest and every imported one')
    .option('--json', 'print JSON')
    .action(listModels);
  models
    .command('pull')
    .argument('<name>', 'a name that `verbatim models list` shows')
    .description(
      'download a model; resumes, and verifies the checksum (HF_ENDPOINT, HF_TOKEN and proxies are respected)',
    )
    .action(pull);
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
  models
    .command('verify')
    .argument('[name]', 'one model (default: every installed one)')
    .option('--json', 'print JSON')
    .description('check sizes and checksums of installed models')
    .action(verifyModels);
}

function listModels(options: { json?: boolean }): void {
  const { manifest, roots } = cliContext();
  const rows = manifest.models.map((entry) => ({
    name: entry.name,
    kind: entry.kind,
    installed: isInstalled(roots, entry) ? 'yes' : 'no',
    size_mib: sizeMib(entry),
    languages: languagesOf(entry),
    licence: entry.licence,
  }));
  printRows(rows, options.json === true);
}

function sizeMib(entry: ModelEntry): number | null {
  const sizes = modelFiles(entry).map((file) => file.size);
  return sizes.includes(undefined)
    ? null
    : Math.round(sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) / (1 << 20));
}

function languagesOf(entry: ModelEntry): string {
  if (entry.kind === 'translation') return `${entry.from.join(',')} -> ${entry.to.join(',')}`;
  return entry.languages === 'whisper' ? 'multilingual' : entry.languages.join(',');
}

async function pull(name: string): Promise<void> {
  const { manifest, roots } = cliContext();
  const entry = findModel(manifest, name);
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{file} [{bar}] {percentage}% {value}/{total} MiB', stream: process.stderr })
    : null;
  let shown = '';
  try {
    const fetched = await pullModel(entry, {
      roots,
      endpoint: process.env['HF_ENDPOINT'] || HUB,
      token: process.env['HF_TOKEN'] ?? null,
      onProgress: (file, received, total) => {
        if (shown !== file) bar?.start(Math.ceil((total ?? 0) / (1 << 20)), 0, { file });
        shown = file;
        bar?.update(Math.floor(received / (1 << 20)));
      },
      withModel: withTranslationModel,
    });
    bar?.stop();
    console.log(fetched ? `${name} is installed and verified` : `${name} is installed and verified already`);
  } finally {
    bar?.stop();
  }
}

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

async function importModel(path: string, options: ImportOptions): Promise<void> {
  if (statSync(path).isDirectory() || isArchive(path)) await importTranslation(path, options);
  else await importSpeech(path, options);
}

async function importSpeech(path: string, options: ImportOptions): Promise<void> {
  const { manifest, roots } = cliContext();
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
  const { roots } = cliContext();
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
  console.log(`${entry.name} is imported: ${languagesOf(entry)}`);
}

const withTranslationModel: ImportTranslationOptions['withModel'] = async (directory, look) => {
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

async function verifyModels(name: string | undefined, options: { json?: boolean }): Promise<void> {
  const { manifest, roots } = cliContext();
  const entries =
    name === undefined
      ? manifest.models.filter((entry) => isInstalled(roots, entry))
      : [findModel(manifest, name)];
  const rows = [];
  for (const entry of entries) {
    for (const result of await verifyModel(roots, entry)) {
      rows.push({ name: entry.name, file: result.file, result: result.ok ? 'ok' : result.problem });
    }
  }
  printRows(rows, options.json === true);
  if (rows.some((row) => row.result !== 'ok')) process.exitCode = 1;
}
