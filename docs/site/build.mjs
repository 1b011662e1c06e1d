/**
 * The manual as a site of its own, in dist/guide: `npm run build:guide`. The documents are copied to build/guide, with
 * links as the site needs them, and VitePress makes pages of them. Nothing of it comes from a network.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { sidebarOf } from './sidebar.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const staged = join(root, 'build', 'guide');
const guide = join(root, 'dist', 'guide');
/** Takes the place of dist/guide when it is whole. */
const out = join(root, 'build', 'guide-pages');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const markdownIn = (folder, pattern = /\.md$/) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => posix.join(folder, name));

/** From the root of the repository. Some are left out where only a part of it is copied, as in a container. */
const DOCUMENTS = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'models/README.md', 'src/client/README.md'],
  ...markdownIn('docs'),
  ...markdownIn('bench', /^RESULTS.*\.md$/),
].filter((path) => existsSync(join(root, path)));

/** Where a file of the repository is in the site. SECURITY.md and docs/security.md must not be one. */
function placeOf(path) {
  if (path === 'README.md') return 'index.md';
  return path.includes('/') ? path.replace(/^docs\//, '') : `project/${path}`;
}

/** A link as the site needs it; null: it leads to what the site does not have. */
function linkFrom(document, target) {
  if (/^([a-z]+:|#|\/)/.test(target)) return target;
  const [file, anchor] = target.split('#');
  const path = posix.normalize(posix.join(posix.dirname(document), file));
  const isImage = /\.(png|svg|gif|webp|jpg)$/.test(path);
  if (isImage && existsSync(join(root, path))) cpSync(join(root, path), join(staged, placeOf(path)));
  else if (!DOCUMENTS.includes(path)) return null;
  const way = posix.relative(posix.dirname(placeOf(document)), placeOf(path));
  return `${way.startsWith('.') ? way : `./${way}`}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Links outside of blocks of code; one that leads to nothing of the site becomes its text. */
function inSite(document, text) {
  const parts = text.split(/(^```[^]*?^```$)/m);
  const linked = (part) =>
    part
      .replaceAll(/(!?)\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^)\s]+)\)/g, (_, image, label, target) => {
        const link = linkFrom(document, target);
        return link === null ? label : `${image}[${label}](${link})`;
      })
      .replaceAll(/\b(src|srcset|href)="([^"]+)"/g, (_, name, target) => {
        return `${name}="${linkFrom(document, target) ?? target}"`;
      });
  return parts.map((part, index) => (index % 2 === 1 ? part : linked(part))).join('');
}

function stage() {
  rmSync(staged, { recursive: true, force: true });
  const pages = DOCUMENTS.map((document) => ({ document, place: placeOf(document) }));
  for (const { document, place } of pages) {
    const text = readFileSync(join(root, document), 'utf8');
    mkdirSync(dirname(join(staged, place)), { recursive: true });
    writeFileSync(join(staged, place), inSite(document, text));
  }
  const settings = join(staged, '.vitepress');
  cpSync(join(here, 'theme'), join(settings, 'theme'), { recursive: true });
  cpSync(join(here, 'config.mjs'), join(settings, 'config.mjs'));
  const titles = Object.fromEntries(
    pages.map(({ place }) => [place, /^# (.+)$/m.exec(readFileSync(join(staged, place), 'utf8'))?.[1] ?? place]),
  );
  writeFileSync(join(settings, 'site.json'), JSON.stringify({ version, sidebar: sidebarOf(titles) }));
}

const pagesBuilt = () =>
  readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(out, name));

/** Of the theme; style.css has what they say. */
function dropStyleAttributes() {
  for (const page of pagesBuilt())
    writeFileSync(page, readFileSync(page, 'utf8').replaceAll(/ style="(--vp-vh:0px|position:relative);"/g, ''));
}

/** The server permits these scripts and no other inline ones. */
function inlineScripts() {
  const scripts = pagesBuilt().flatMap((page) => [
    ...readFileSync(page, 'utf8').matchAll(/<script(?![^>]*\bsrc=)[^>]*>([^]*?)<\/script>/g),
  ]);
  return [...new Set(scripts.map(([, script]) => `sha256-${hashOf(script, 'base64')}`))].sort();
}

function hashOf(text, encoding) {
  return createHash('sha256').update(text).digest(encoding);
}

/** Of all that the site is made from. */
function hashOfInputs() {
  const files = [...DOCUMENTS, ...markdownIn('docs', /\.(png|svg|gif|webp)$/), ...markdownIn('docs/site', /\.\w+$/)];
  const hashes = files.map((file) => `${file} ${hashOf(readFileSync(join(root, file)), 'hex')}`);
  return hashOf([version, ...hashes].join('\n'), 'hex');
}

const inputs = hashOfInputs();
const MARKER = 'made-from.txt';
if (!existsSync(join(guide, MARKER)) || readFileSync(join(guide, MARKER), 'utf8') !== inputs) {
  process.env.NODE_ENV = 'production';
  stage();
  rmSync(out, { recursive: true, force: true });
  await build(staged, { outDir: out });
  dropStyleAttributes();
  writeFileSync(join(out, 'inline-scripts.json'), JSON.stringify(inlineScripts()));
  writeFileSync(join(out, MARKER), inputs);
  rmSync(guide, { recursive: true, force: true });
  mkdirSync(dirname(guide), { recursive: true });
  renameSync(out, guide);
}
