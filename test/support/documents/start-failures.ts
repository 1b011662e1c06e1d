/** The messages with which a start can end, read from the sources. */
import * as ts from 'typescript';
import { failureOf } from '../../../src/cli/words.js';
import type { NativeErrorCode } from '../../../src/engine/binding.js';
import { EngineError } from '../../../src/engine/native-errors.js';
import { readContext } from '../../../src/service/context.js';
import { createSpeakerEngine } from '../../../src/service/speaker-engine.js';
import { ConfigError } from '../../../src/service/variables.js';
import { everyNode, sourcesWith, literalText } from './source-texts.js';

/** Errors of these classes say what is wrong with the installation, wherever they are thrown. */
const OF_SETUP = ['SetupError', 'UsageError'];
/** Files whose plain errors end a start. */
const OF_START = [
  ...['database', 'private-file', 'secret', 'migrate'].map((name) => `ledger/sqlite/${name}.ts`),
  ...['ledger', 'secret', 'migrate'].map((name) => `ledger/postgres/${name}.ts`),
  ...['ledger/schema-version.ts', 'service/file-lock.ts', 'service/speaker-engine.ts', 'engine/binding.ts'],
];
export interface StartFailure {
  message: string;
  /** Where it comes from. */
  source: string;
}

/** `…` stands for what a message is filled with. */
export function startFailures(): StartFailure[] {
  return [...thrown(), ...mapped(), ...ofSpeakers()].filter(({ message }) => message.replaceAll('…', '').trim() !== '');
}

function thrown(): StartFailure[] {
  const found: StartFailure[] = [];
  for (const source of sourcesWith(['Error('])) {
    const classes = [...OF_SETUP, ...(OF_START.includes(source.fileName) ? ['Error'] : [])];
    everyNode(source, (node) => {
      if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && classes.includes(node.expression.text))
        found.push({ message: literalText(node.arguments?.[0]), source: source.fileName });
    });
  }
  return found;
}

/** What the command line makes of errors of the system and of the engine. */
function mapped(): StartFailure[] {
  const of = (error: unknown): StartFailure => ({ message: failureOf(error).message ?? '', source: 'cli/words.ts' });
  const system = (code: string, syscall: string): StartFailure =>
    of(Object.assign(new Error(code), { code, syscall, path: '…', address: '…', port: '…', hostname: '…' }));
  return [
    of(new ConfigError('…', '…', '…')),
    ...['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].map((code) => system(code, 'listen')),
    system('ENOTFOUND', 'getaddrinfo'),
    ...['EACCES', 'ENOSPC', 'EROFS'].map((code) => system(code, 'mkdir')),
    ...['ENOENT', 'EACCES', 'EISDIR'].map((code) => system(code, 'open')),
    ...ENGINE_CODES.map((code) => of(new EngineError(code, '…'))),
  ];
}

/** Where a speaker model is named that is not there, or whose runtime is not. */
function ofSpeakers(): StartFailure[] {
  const { roots, manifest } = readContext();
  const failure = (speakerSegmentation: string): StartFailure => {
    const settings = { speakers: 'auto', speakerSegmentation, speakerEmbedding: null } as const;
    try {
      createSpeakerEngine(settings, { ...roots, modelsDir: '/nonexistent' }, manifest, { hasRuntime: () => false });
    } catch (error) {
      return { message: (error as Error).message, source: 'service/speaker-engine.ts' };
    }
    throw new Error(`"${speakerSegmentation}" is there.`);
  };
  return ['pyannote-segmentation-3.0', manifest.defaultSpeakerSegmentation].map(failure);
}

/** The others are of a file or a request; the message of `invalid_argument` is that of a setting. */
const ENGINE_CODES: readonly NativeErrorCode[] = [
  ...(['invalid_model', 'device_unavailable', 'out_of_memory', 'io_error', 'internal_error'] as const),
];
