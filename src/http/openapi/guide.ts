/** /docs/guide: the manual of this version as a site, as `npm run build:guide` made it. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { VerbatimError } from '../../errors.js';
import { packageRoot } from '../../package-root.js';
import type { Exchange } from '../app/exchange.js';
import { GUIDE } from '../app/guide-path.js';
import type { Route } from '../app/route.js';

/** Written by the build: hashes of the only scripts that stand within a page. */
const SCRIPTS = 'inline-scripts.json';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};
/** Their names have a hash of what is in them. */
const ASSETS = 'assets/';
const FOREVER = 'public, max-age=31536000, immutable';

/** `directory`: of the built site. Where nothing was built, everything under /docs/guide is 404. */
export function guideRoutes(directory = join(packageRoot, 'dist', 'guide')): Route[] {
  const files = filesIn(directory);
  const headers = { 'Content-Security-Policy': policyOf(directory, files), 'X-Frame-Options': 'DENY' };
  const serve = (exchange: Exchange, path: string): Promise<void> => {
    const name = [path, `${path}.html`, `${path}/index.html`].find((candidate) => files.has(candidate));
    if (name === undefined) throw new VerbatimError('not_found', 'There is nothing at this path.');
    return exchange.file(directory, name, TYPES[extname(name)] ?? '', {
      ...headers,
      'Cache-Control': name.startsWith(ASSETS) ? FOREVER : 'no-cache',
    });
  };
  return [
    { path: GUIDE, methods: { GET: (exchange) => exchange.seeOther(`${GUIDE}/`) } },
    { path: `${GUIDE}/`, methods: { GET: (exchange) => serve(exchange, 'index.html') } },
    { path: `${GUIDE}/*path`, methods: { GET: (exchange) => serve(exchange, pathIn(exchange)) } },
  ];
}

function pathIn({ req }: Exchange): string {
  const { path } = req.params as { path?: string[] };
  return (path ?? []).join('/');
}

/** What may be served, so that no path leads out of the directory. */
function filesIn(directory: string): ReadonlySet<string> {
  try {
    const names = readdirSync(directory, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const served = files.filter((file) => extname(file) in TYPES).map((file) => file.slice(directory.length + 1));
    return new Set(served.filter((name) => name !== SCRIPTS));
  } catch {
    return new Set();
  }
}

function policyOf(directory: string, files: ReadonlySet<string>): string {
  const hashes = files.size === 0 ? [] : (JSON.parse(readFileSync(join(directory, SCRIPTS), 'utf8')) as string[]);
  return [
    ["default-src 'none'; script-src 'self'", ...hashes.map((hash) => `'${hash}'`)].join(' '),
    "style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
}
