/** verbatim.tuned.json: the settings that `verbatim bench tune` found for this machine and model. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.js';
import type { SpeechDecoder } from '../engine/speech/speech-models.js';
import type { Config } from './config.js';
import { COMPUTE_TYPES, MOST_BATCH, SPEECH_DECODERS } from './settings/device.js';
import { ownCommand } from '../package-root.js';
import { setVariables, type EnvironmentVariables } from './variables.js';

export interface TunedSettings {
  version: 1;
  model: { name: string; sha256: string };
  devices: string[];
  accelerator: Config['accelerator'];
  decoder: SpeechDecoder['kind'];
  /** 'auto' for whisper.cpp. */
  compute: Config['compute'];
  cpu: string;
  cores: number;
  slots: number;
  threads: number;
  /** Windows in flight in the batched decoder; null for whisper.cpp. */
  batch: number | null;
  /** Seconds of audio per second, with these settings and with the defaults. */
  rtfx: number;
  defaultRtfx: number;
  /** The median ratio of alternating measurements. */
  gain: number;
  tunedAt: string;
}

/** A file without these fields was written before windows could be decoded together, and is for whisper.cpp. */
type BatchedSettings = Pick<TunedSettings, 'decoder' | 'compute' | 'batch'>;

const BEFORE_BATCHES: BatchedSettings = { decoder: 'whisper.cpp', compute: 'auto', batch: null };

/** The format of the file. It says `acceleration`, so that older and newer versions can read each other's files. */
type StoredSettings = Omit<TunedSettings, 'accelerator' | keyof BatchedSettings> &
  Partial<BatchedSettings> & { acceleration: TunedSettings['accelerator'] };

export const TUNED_FILE = 'verbatim.tuned.json';

/** The path beside data/, in the directory where the service is started. */
export function tunedPath(directory = process.cwd()): string {
  return join(directory, TUNED_FILE);
}

/** null: nothing was tuned. Throws an Error that names the file if `tune` did not write its content. */
export function readTuned(path = tunedPath()): TunedSettings | null {
  if (!existsSync(path)) return null;
  const broken = (why: string): Error => new SetupError(`${path} ${why}. Remove it, or run: ${ownCommand} bench tune`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw broken('is not valid JSON');
  }
  if (!isStored(value))
    throw broken(
      'lacks version 1, model.name, model.sha256, devices, acceleration, cores, or slots and threads from ' +
        `1 to 256, or has an invalid decoder, compute or batch (1 to ${MOST_BATCH})`,
    );
  const { acceleration, ...rest } = value;
  return { ...BEFORE_BATCHES, ...rest, accelerator: acceleration };
}

export function writeTuned(settings: TunedSettings, path = tunedPath()): void {
  const { accelerator, ...rest } = settings;
  const stored: StoredSettings = { ...rest, acceleration: accelerator };
  writeFileSync(path, `${JSON.stringify(stored, null, 2)}\n`);
}

function isStored(value: unknown): value is StoredSettings {
  const { version, model, devices, acceleration, cores, slots, threads, gain } = (value ??
    {}) as Partial<StoredSettings>;
  const { decoder, compute, batch } = { ...BEFORE_BATCHES, ...(value ?? {}) };
  const inRange = (number: unknown): boolean =>
    Number.isInteger(number) && Number(number) >= 1 && Number(number) <= 256;
  return (
    version === 1 &&
    typeof model?.name === 'string' &&
    /^[0-9a-f]{64}$/.test(model.sha256) &&
    Array.isArray(devices) &&
    typeof acceleration === 'string' &&
    typeof cores === 'number' &&
    typeof gain === 'number' &&
    inRange(slots) &&
    inRange(threads) &&
    SPEECH_DECODERS.includes(decoder) &&
    COMPUTE_TYPES.includes(compute) &&
    (batch === null) === (decoder === 'whisper.cpp') &&
    (batch === null || (inRange(batch) && batch <= MOST_BATCH))
  );
}

/** The model and the machine for which the settings must have been tuned. */
export interface TunedFor {
  modelName: string;
  /** Called last, and only if everything else matches, because it reads the whole file. */
  modelSha256: () => Promise<string>;
  devices: readonly string[];
  decoder: SpeechDecoder;
  cores: number;
}

/** If one of these is set, the tuned settings are not used. */
const TUNED_VARIABLES = ['VERBATIM_SLOTS', 'VERBATIM_THREADS', 'VERBATIM_BATCH'] as const;

export type SettingVariables = Readonly<Partial<Record<(typeof TUNED_VARIABLES)[number], string>>>;

export function settingVariables(env: EnvironmentVariables): SettingVariables {
  return setVariables(TUNED_VARIABLES, env);
}

export interface AppliedSettings {
  config: Config;
  /** How the file was used, for the log. null: there is no file. */
  tuned: string | null;
}

/**
 * The configuration with the tuned slots, threads and batch. They were tuned together, so none of them is used if one
 * of these variables is set, or if the model, device or number of cores differs. A file of the same name with other
 * weights, or the same weights quantized differently, is another model.
 */
export async function withTuned(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  tuned: TunedSettings | null,
  now: TunedFor,
): Promise<AppliedSettings> {
  if (tuned === null) return { config, tuned: null };
  const reason = await whyNot(env, tuned, { ...now, accelerator: config.accelerator });
  if (reason !== null) return { config, tuned: `${TUNED_FILE} is not used: ${reason}` };
  const { slots, threads, batch, gain } = tuned;
  const flights = batch === null ? '' : `, ${batch} windows in flight`;
  return {
    config: Object.freeze({ ...config, slots, threads, batch }),
    tuned:
      `${TUNED_FILE}: ${slots} slots x ${threads} threads${flights}, ` +
      `${gain.toFixed(2)} x the defaults' throughput`,
  };
}

async function whyNot(
  env: Readonly<Record<string, string | undefined>>,
  tuned: TunedSettings,
  { accelerator, ...now }: TunedFor & Pick<Config, 'accelerator'>,
): Promise<string | null> {
  const set = TUNED_VARIABLES.find((name) => env[name]);
  if (set !== undefined) return `${set} is set`;
  const forWhat = (what: string, then: string | number, today: string | number): string | null =>
    then === today ? null : `it is for ${what} ${then}, not ${today}`;
  return (
    forWhat('the model', tuned.model.name, now.modelName) ??
    forWhat('VERBATIM_ACCEL', tuned.accelerator, accelerator) ??
    forWhat('the speech decoder', decoderOf(tuned), decoderOf(now.decoder)) ??
    forWhat('the device', tuned.devices.join(','), now.devices.join(',')) ??
    forWhat('a number of cores of', tuned.cores, now.cores) ??
    forWhat('a model file with SHA-256', short(tuned.model.sha256), short(await now.modelSha256()))
  );
}

/** 'whisper.cpp', or 'batched' with its number type. */
function decoderOf(settings: Pick<TunedSettings, 'decoder' | 'compute'> | SpeechDecoder): string {
  const kind = 'kind' in settings ? settings.kind : settings.decoder;
  return kind === 'batched' && 'compute' in settings ? `${kind} ${settings.compute}` : kind;
}

function short(sha256: string): string {
  return sha256.slice(0, 16);
}
