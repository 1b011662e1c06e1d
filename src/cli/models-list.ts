import type { Command } from 'commander';
import type { DeviceInfo } from '../engine/binding.js';
import { loadBindingOfAllDevices } from '../engine/device-binding.js';
import { describeCard } from '../engine/devices.js';
import type { ModelEntry } from '../models/manifest.js';
import { packedBytes } from '../models/packed-weights.js';
import { isInstalled, modelBytes, modelPath } from '../models/store.js';
import { readSpeeds } from '../service/automatic-model/speed-file.js';
import { readContext } from '../service/context.js';
import { ownCommand } from '../package-root.js';
import { printRows } from './rows.js';
import { megabytes } from './sizes.js';

export function addList(models: Command): void {
  models
    .command('list')
    .option('--all', 'include all published models')
    .option('--json', 'print JSON')
    .description('list the recommended models, then the other installed ones')
    .action(listModels);
}

interface Listed {
  entry: ModelEntry;
  installed: boolean;
  /** Measured seconds of audio a second; null: not measured. */
  speed: number | null;
  /** Bytes of its packed weights. */
  packed: number;
}

function listModels({ all = false, json = false }: { all?: boolean; json?: boolean }): void {
  const { config, manifest, roots } = readContext();
  const speeds = readSpeeds(config);
  const models = manifest.models.map((entry) => ({
    entry,
    installed: isInstalled(roots, entry),
    speed: speeds?.[entry.name] ?? null,
    packed: entry.kind === 'speech' ? packedBytes(modelPath(roots, entry)) : 0,
  }));
  const first = models.filter(({ entry }) => entry.recommended === true);
  const others = models.filter((model) => !first.includes(model));
  const listed = [...first, ...others.filter(({ installed }) => installed || all)];
  if (json) {
    printRows(listed.map(jsonRow), true);
    return;
  }
  const hasPacked = listed.some(({ packed }) => packed > 0);
  printRows(
    listed.map((model) => tableRow(model, hasPacked)),
    false,
  );
  for (const { id, ...card } of graphicsCards()) console.error(`Graphics card ${id}: ${describeCard(card)}`);
  const more = models.length - listed.length;
  if (speeds === null)
    console.error(`No speed has been measured on this machine yet. Run: ${ownCommand} models measure`);
  if (more > 0) console.error(`${more} more models: ${ownCommand} models list --all`);
}

/** Those that a model can be loaded on. */
function graphicsCards(): DeviceInfo[] {
  try {
    const devices = loadBindingOfAllDevices().devices();
    return devices.filter(({ type }) => type !== 'processor');
  } catch {
    // The list of models needs no addon.
    return [];
  }
}

function jsonRow({ entry, installed, speed, packed }: Listed) {
  const bytes = modelBytes(entry);
  return {
    name: entry.name,
    kind: entry.kind,
    installed: yesOrNo(installed),
    size_mib: bytes === null ? null : Math.round(bytes / (1 << 20)),
    packed_mib: Math.round(packed / (1 << 20)),
    languages: languagesOf(entry),
    times_real_time: speed === null ? null : Number(speed.toFixed(1)),
    licence: entry.licence,
    demonstration: yesOrNo(entry.demonstration),
    recommended: yesOrNo(entry.recommended),
  };
}

/** The longest text of languages or licence that a table shows. */
const MOST_CHARACTERS = 12;

/** Fits a line of 80 to 100 columns, without the column of packed weights; that is shown where there are any. */
function tableRow({ entry, installed, speed, packed }: Listed, hasPacked: boolean) {
  const bytes = modelBytes(entry);
  return {
    name: entry.name,
    kind: entry.kind.replace(/^speaker-/, ''),
    size: bytes === null ? null : megabytes(bytes),
    ...(hasPacked ? { packed: packed === 0 ? null : megabytes(packed) } : {}),
    languages: shortLanguages(entry),
    speed: speed === null ? null : `${speed.toFixed(1)}x`,
    licence: entry.licence.length > MOST_CHARACTERS ? 'see --json' : entry.licence,
    status: statusOf(entry, installed),
  };
}

function statusOf({ demonstration, recommended }: ModelEntry, installed: boolean): string {
  if (demonstration === true) return 'demonstration';
  if (installed) return 'installed';
  return recommended === true ? 'recommended' : '';
}

function yesOrNo(value = false): string {
  return value ? 'yes' : 'no';
}

function languagesOf(entry: ModelEntry): string {
  if (entry.kind === 'translation') return `${entry.from.join(',')} -> ${entry.to.join(',')}`;
  if (entry.kind === 'vad' || entry.kind === 'speaker-segmentation') return '';
  if (entry.languages === 'any') return 'any';
  return entry.languages === 'whisper' ? 'multilingual' : entry.languages.join(',');
}

function shortLanguages(entry: ModelEntry): string {
  const text = languagesOf(entry);
  if (text.length <= MOST_CHARACTERS) return text;
  const languages = new Set(text.split(/,| -> /));
  return `${languages.size} languages`;
}
