import { statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { isVoiceActivityFile } from '../models/import.js';
import { isOnnxFile, speakerModelKind } from '../models/import-speakers.js';
import { isArchive } from '../models/import-translation.js';
import { readContext } from '../service/context.js';
import {
  importSpeakers,
  importSpeech,
  importTranslation,
  importVoiceActivity,
  type TranslationImport,
} from '../service/model-store.js';
import { ConfigError } from '../service/variables.js';
import { asLanguageCode, numberFrom0To10, positiveNumber, refuseGiven } from './options.js';

interface SpeechFlags {
  windows?: string;
  translates?: boolean;
  languages?: string;
}

interface TranslationFlags {
  from?: string;
  to?: string;
  targetToken?: string;
  targetTokenPlace: 'source' | 'prefix';
  sourceToken?: string;
  codes?: string;
}

interface EmbeddingFlags {
  threshold?: number;
  minSeconds?: number;
}

type Options = SpeechFlags & TranslationFlags & EmbeddingFlags & { name?: string };

const SPEECH_ONLY: readonly (keyof SpeechFlags)[] = ['windows', 'translates', 'languages'];
const TRANSLATION_ONLY: readonly (keyof TranslationFlags)[] = [
  'from',
  'to',
  'targetToken',
  'targetTokenPlace',
  'sourceToken',
  'codes',
];

const EMBEDDING_ONLY: readonly (keyof EmbeddingFlags)[] = ['threshold', 'minSeconds'];

export function addImport(models: Command): void {
  const command = models
    .command('import')
    .argument(
      '<path>',
      'a ggml file (.bin) of a Whisper or Parakeet model or of Silero VAD; a speaker model (.onnx); or a ' +
        'translation model: a CTranslate2 directory, .argosmodel or .zip',
    )
    .option('--name <name>', 'name of the imported model (default: from the file name)')
    .option(
      '--windows <policy>',
      'window policy of a speech model: full, short or pauses (default: full; for Parakeet, pauses)',
    )
    .option(
      '--languages <languages>',
      'languages of a speech model, separated by commas (default: all that its file lists; Parakeet files ' +
        'list none)',
    )
    .option(
      '--translates',
      'this multilingual speech model was trained to translate into English (tiny to large-v3 are, turbo is not)',
    );
  addTraits(command)
    .option(
      '--threshold <number>',
      'of a speaker embedding: how different one more voice must be (higher: fewer speakers)',
      numberFrom0To10,
    )
    .option(
      '--min-seconds <s>',
      'of a speaker embedding: a voice with less speech than this is counted as another speaker',
      positiveNumber,
    )
    .description('import the file of a model that you already have')
    .action(importModel);
}

function addTraits(command: Command): Command {
  return command
    .option(
      '--from <languages>',
      'source languages of a translation model, separated by commas (default: its metadata)',
    )
    .option('--to <languages>', 'target languages of a translation model')
    .option('--target-token <template>', 'form of the target language token, such as ">>{}<<" or "__{}__"')
    .addOption(
      new Option(
        '--target-token-place <place>',
        'position of --target-token: the first source token, or the start of the translation',
      )
        .choices(['source', 'prefix'])
        .default('source'),
    )
    .option('--source-token <template>', 'form of the source language token, if the model expects one first')
    .option('--codes <codes>', "the model's own language codes, such as es=spa_Latn,en=eng_Latn");
}

async function importModel(path: string, options: Options, command: Command): Promise<void> {
  const name = options.name === undefined ? {} : { name: options.name };
  if (statSync(path).isDirectory() || isArchive(path)) return importTranslator(path, name, options, command);
  if (isOnnxFile(path)) return importVoices(path, name, options, command);
  if (isVoiceActivityFile(path)) {
    const others = ['name', ...SPEECH_ONLY, ...TRANSLATION_ONLY, ...EMBEDDING_ONLY] as const;
    refuseGiven(command, others, 'is for speech and translation models, and this is a voice activity model');
    const { name: installed } = await importVoiceActivity(path, readContext());
    console.log(`${installed} is imported; VERBATIM_VAD=auto and VERBATIM_VAD=silero use it`);
    return;
  }
  refuseGiven(command, TRANSLATION_ONLY, 'is for translation models, and this is a speech model');
  refuseGiven(command, EMBEDDING_ONLY, 'is for speaker embeddings, and this is a speech model');
  const { windows, translates = false } = options;
  const context = readContext();
  const policies = Object.keys(context.manifest.windowPolicies);
  if (windows !== undefined && !policies.includes(windows))
    throw new ConfigError('--windows', windows, policies.join(', '));
  const languages = options.languages === undefined ? undefined : languageList('--languages', options.languages);
  const entry = await importSpeech(path, { ...name, windows, translates, languages }, context);
  console.log(`${entry.name} is imported; use it with VERBATIM_MODEL=${entry.name}`);
}

interface Named {
  name?: string;
}

async function importTranslator(path: string, name: Named, options: Options, command: Command): Promise<void> {
  refuseGiven(command, SPEECH_ONLY, 'is for speech models, and this is a translation model');
  refuseGiven(command, EMBEDDING_ONLY, 'is for speaker embeddings, and this is a translation model');
  if (options.targetToken === undefined) refuseGiven(command, ['targetTokenPlace'], 'needs --target-token');
  const entry = await importTranslation(path, { ...name, traits: traitsOf(options) }, readContext());
  console.log(`${entry.name} is imported: ${entry.from.join(',')} -> ${entry.to.join(',')}`);
}

async function importVoices(path: string, name: Named, options: Options, command: Command): Promise<void> {
  refuseGiven(command, SPEECH_ONLY, 'is for speech models, and this is a speaker model');
  refuseGiven(command, TRANSLATION_ONLY, 'is for translation models, and this is a speaker model');
  if (speakerModelKind(path) === 'speaker-segmentation')
    refuseGiven(command, EMBEDDING_ONLY, 'is for speaker embeddings, and this is a speaker segmentation');
  const { threshold, minSeconds } = options;
  const traits = {
    ...(threshold === undefined ? {} : { threshold }),
    ...(minSeconds === undefined ? {} : { minSeconds }),
  };
  const entry = await importSpeakers(path, { ...name, traits }, readContext());
  const variable = entry.kind.replace('-', '_').toUpperCase();
  console.log(`${entry.name} is imported; use it with VERBATIM_${variable}=${entry.name}`);
}

function traitsOf(options: TranslationFlags): NonNullable<TranslationImport['traits']> {
  const { from, to, targetToken: template, targetTokenPlace: place, sourceToken, codes } = options;
  return {
    ...(from === undefined ? {} : { from: languageList('--from', from) }),
    ...(to === undefined ? {} : { to: languageList('--to', to) }),
    ...(template === undefined ? {} : { targetToken: { place, template } }),
    ...(sourceToken === undefined ? {} : { sourceToken }),
    ...(codes === undefined ? {} : { codes: codeMap(codes) }),
  };
}

function languageList(option: string, value: string): string[] {
  return value.split(',').map((code) => asLanguageCode(option, code.trim()));
}

function codeMap(value: string): Record<string, string> {
  const pairs = value.split(',').map((pair) => pair.split('='));
  return Object.fromEntries(
    pairs.map(([language = '', code]) => {
      if (!code) throw new ConfigError('--codes', value, 'pairs such as es=spa_Latn,en=eng_Latn');
      return [asLanguageCode('--codes', language.trim()), code.trim()];
    }),
  );
}
