/**
 * Style sheet, icon and browser modules, as the build left them. They lie under a hash of them all: browsers may keep
 * them for ever, and modules import one another by their plain names.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { VerbatimError } from '../../errors.js';
import { packageRoot } from '../../package-root.js';
import type { Handler } from '../app/route.js';
import { DASHBOARD } from './paths.js';

const DIRECTORY = join(packageRoot, 'dist', 'dashboard');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};
const FOREVER = 'public, max-age=31536000, immutable';
const A_DAY = 'public, max-age=86400';
const ICON = 'icon.svg';

interface Built {
  digest: string;
  files: ReadonlyMap<string, { type: string; bytes: Buffer }>;
}

export class DashboardAssets {
  static readonly path = `${DASHBOARD}/assets/:digest/:name`;
  #built: Built | null = null;

  constructor(private readonly directory = DIRECTORY) {}

  /** Throws an Error when there is no such file, or nothing was built. */
  url(name: string): string {
    const { digest, files } = this.#read();
    if (!files.has(name)) throw new Error(`The dashboard has no file ${name}; run: npm run build:ts`);
    return `${DASHBOARD}/assets/${digest}/${name}`;
  }

  readonly serve: Handler = (exchange) => {
    const { digest, files } = this.#read();
    const { digest: asked, name } = exchange.req.params;
    const file = typeof name === 'string' && asked === digest ? files.get(name) : undefined;
    if (file === undefined) throw new VerbatimError('not_found', 'There is nothing at this path.');
    exchange.send(200, file.type, file.bytes, { 'Cache-Control': FOREVER });
  };

  /** Where browsers look for it by themselves. */
  readonly icon: Handler = (exchange) => {
    const file = this.#read().files.get(ICON);
    if (file === undefined) throw new VerbatimError('not_found', 'There is nothing at this path.');
    exchange.send(200, file.type, file.bytes, { 'Cache-Control': A_DAY });
  };

  #read(): Built {
    return (this.#built ??= readBuilt(this.directory));
  }
}

function readBuilt(directory: string): Built {
  const hash = createHash('sha256');
  const files = new Map<string, { type: string; bytes: Buffer }>();
  for (const name of namesIn(directory)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const bytes = readFileSync(join(directory, name));
    files.set(name, { type, bytes });
    hash.update(`${name} ${bytes.length}\n`).update(bytes);
  }
  return { digest: hash.digest('hex').slice(0, 16), files };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (cause) {
    throw new Error(`${directory} cannot be read; run: npm run build:ts`, { cause });
  }
}
