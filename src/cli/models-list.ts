import type { Command } from 'commander';
import type { ModelEntry } from '../models/manifest.js';
import { isInstalled, modelBytes } from '../models/store.js';
import { readContext } from '../service/context.js';
import { ownCommand } from '../package-root.js';
import { printRows } from './rows.js';

export function addList(models: Command): void {
  models
    .command('list')
    .option('--all', 'with every published model')
    .option('--json', 'print JSON')
    .description('the recommended models, then the other installed ones')
    .action(listModels);
}

interface Listed {
  entry: ModelEntry;
  installed: boolean;
}

function listModels({ all = false, json = false }: { all?: boolean; json?: boolean }): void {
  const { manifest, roots } = readContext();
  const models = manifest.models.map((entry) => ({ entry, installed: isInstalled(roots, entry) }));
  const first = models.filter(({ entry }) => entry.recommended === true);
  const others = models.filter((model) => !first.includes(model));
  const listed = [...first, ...others.filter(({ installed }) => installed || all)];
  if (json) {
    printRows(listed.map(jsonRow), true);
    return;
  }
  printRows(listed.map(tableRow), false);
  const more = models.length - listed.length;
  if (more > 0) console.error(`${more} more models: ${ownCommand} models list --all`);
}

function jsonRow({ entry, installed }: Listed) {
  return {
    ...rowOf({ entry, installed }),
    languages: languagesOf(entry),
    licence: entry.licence,
    demonstration: yesOrNo(entry.demonstration),
    recommended: yesOrNo(entry.recommended),
  };
}

/** In a line of a terminal that is not very wide. */
function tableRow({ entry, installed }: Listed) {
  const notes = { recommended: entry.recommended, demonstration: entry.demonstration };
  return {
    ...rowOf({ entry, installed }),
    languages: shortened(languagesOf(entry)),
    licence: entry.licence,
    note: Object.entries(notes)
      .flatMap(([note, isTrue]) => (isTrue === true ? [note] : []))
      .join(', '),
  };
}

function rowOf({ entry, installed }: Listed) {
  return { name: entry.name, kind: entry.kind, installed: yesOrNo(installed), size_mib: sizeMib(entry) };
}

function yesOrNo(value = false): string {
  return value ? 'yes' : 'no';
}

function sizeMib(entry: ModelEntry): number | null {
  const bytes = modelBytes(entry);
  return bytes === null ? null : Math.round(bytes / (1 << 20));
}

function languagesOf(entry: ModelEntry): string {
  if (entry.kind === 'translation') return `${entry.from.join(',')} -> ${entry.to.join(',')}`;
  if (entry.kind === 'vad' || entry.kind === 'speaker-segmentation') return '';
  if (entry.languages === 'any') return 'any';
  return entry.languages === 'whisper' ? 'multilingual' : entry.languages.join(',');
}

const MOST_LANGUAGES = 8;

function shortened(languages: string): string {
  const count = languages.split(',').length;
  return count > MOST_LANGUAGES ? `${count} languages` : languages;
}
