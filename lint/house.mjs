/**
 * What issue 28's table compares, of commits: `node lint/house.mjs 165f44b HEAD` prints a Markdown table. Every tree is
 * formatted by this one's settings first, so that lines are counted at one width.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { imports, wayTo } from './no-import-circle.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GENERATED = 'src/client/schema.ts';
const ROOMS = ['engine', 'ledger', 'transcription', 'http', 'service', 'cli', 'models', 'jobs', 'webhooks'];

function exported(commit) {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-house-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  for (const settings of ['.prettierrc.json', '.prettierignore', '.clang-format'])
    cpSync(join(ROOT, settings), join(directory, settings));
  const prettier = join(ROOT, 'node_modules/prettier/bin/prettier.cjs');
  const folders = ['src', 'bench', 'test'].map((folder) => `${folder}/**/*.ts`);
  execFileSync(process.execPath, [prettier, '--write', '--log-level', 'error', ...folders], { cwd: directory });
  const native = filesIn(directory, 'native', /\.(cc|h)$/).map(({ name }) => name);
  execFileSync('clang-format', ['-i', ...native], { cwd: directory });
  return directory;
}

/** With how many lines each has. */
function filesIn(root, folder, pattern) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => pattern.test(name) && name !== GENERATED && statSync(join(root, name)).isFile())
    .map((name) => ({ name, lines: readFileSync(join(root, name), 'utf8').split('\n').length - 1 }));
}

/** Groups of files that import one another, by whatever way; types count. */
function circles(root, files) {
  const inCircles = files
    .map(({ name }) => join(root, name))
    .filter((file) => imports(file).some((target) => wayTo(target, file) !== null));
  const groups = inCircles.map((file) =>
    inCircles.filter((other) => wayTo(file, other) !== null && wayTo(other, file) !== null),
  );
  return new Set(groups.map((group) => group.join())).size;
}

function figuresOf(commit) {
  const root = exported(commit);
  try {
    const sources = filesIn(root, 'src', /\.ts$/);
    const folders = [
      ['native', filesIn(root, 'native', /\.(cc|h)$/)],
      ['bench', filesIn(root, 'bench', /\.ts$/)],
      ['test', filesIn(root, 'test', /\.ts$/)],
    ];
    const lines = (files) => files.reduce((sum, file) => sum + file.lines, 0);
    const counted = (files) => `${lines(files).toLocaleString('en')} in ${files.length}`;
    const within = (folder) => sources.filter(({ name }) => name.startsWith(`src/${folder}/`));
    const largest = sources
      .filter(({ name }) => !/texts\.ts$/.test(name))
      .sort((one, other) => other.lines - one.lines)
      .slice(0, 3);
    const flat = within('http').filter(({ name }) => name.split('/').length === 3).length;
    const whisper = readdirSync(join(root, 'native/engine/speech/whisper')).filter((name) => name.includes('.')).length;
    return [
      ['src without the generated schema, lines in files', counted(sources)],
      ...ROOMS.map((room) => [`src/${room}`, counted(within(room))]),
      ...folders.map(([folder, files]) => [folder, counted(files)]),
      [
        'largest files of src, tables of texts left out',
        largest.map(({ name, lines }) => `${name} ${lines}`).join(', '),
      ],
      ['files directly in src/http and in native/engine/speech/whisper', `${flat} and ${whisper}`],
      ['circles of imports in src, types included', String(circles(root, sources))],
    ];
  } finally {
    rmSync(root, { recursive: true });
  }
}

const commits = process.argv.slice(2);
const columns = commits.map(figuresOf);
const rows = (columns[0] ?? []).map(([title], index) => [title, ...columns.map((column) => column[index][1])]);
const table = [['', ...commits], ['---', ...commits.map(() => '---:')], ...rows];
process.stdout.write(table.map((cells) => `| ${cells.join(' | ')} |\n`).join(''));
