/** Where the package lies, and what every command starts from: the configuration and the models that it names. */
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

export interface ServiceContext {
  config: Config;
  roots: StoreRoots;
  manifest: Manifest;
}

export function readContext(): ServiceContext {
  const config = readConfig(process.env, packageRoot);
  const roots = { packageRoot, modelsDir: config.modelsDir };
  return { config, roots, manifest: readManifest(packageRoot, config.modelsDir) };
}
