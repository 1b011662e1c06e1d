/** The package's directory, and what every command starts from: the configuration and the models. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, type Config } from './config.js';
import type { Manifest } from '../models/manifest.js';
import { readManifest } from '../models/read-manifest.js';
import type { StoreRoots } from '../models/store.js';
import { packageRoot } from '../package-root.js';

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Stands for the name of the speech model that ships with this package. */
const BUNDLED = 'bundled';

export function speechModelName(name: string, { defaultSpeechModel }: Manifest): string {
  return name === BUNDLED ? defaultSpeechModel : name;
}

export interface ServiceContext {
  config: Config;
  roots: StoreRoots;
  manifest: Manifest;
}

export function readContext(): ServiceContext {
  const config = readConfig(process.env, packageRoot);
  const roots = { packageRoot, modelsDir: config.modelsDir };
  const manifest = readManifest(packageRoot, config.modelsDir);
  const model = config.model === null ? null : speechModelName(config.model, manifest);
  return { config: Object.freeze({ ...config, model }), roots, manifest };
}
