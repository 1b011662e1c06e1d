/**
 * Includes in native/ flow one way, as imports in src/ do (eslint.config.mjs): what a room may include is listed here,
 * and
 * `npm run lint:native` and the tests hold every file to it. Prints what is wrong when it is run by itself.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** What the rooms of Whisper build on. */
const BELOW_WHISPER = [
  'engine',
  'engine/accelerator',
  'engine/audio',
  'engine/audio/cutting',
  'engine/transformer',
  'engine/transformer/kernels',
  'engine/transformer/cpu',
  'engine/transformer/gpu',
  'engine/speech',
  'engine/speech/alignment',
];
/** From the bottom up. */
const WHISPER_ROOMS = ['model', 'encoder', 'decoding', 'alignment', 'windows'].map(
  (folder) => `engine/speech/whisper/${folder}`,
);

/**
 * The engine's rooms, from the bottom up: a room includes itself and those named, each of which stands above it in this
 * table.
 */
const ENGINE: Readonly<Record<string, readonly string[]>> = {
  'engine/accelerator': [],
  'engine/accelerator/onednn': ['engine/accelerator'],
  engine: ['engine/accelerator'],
  'engine/audio/decoding': ['engine'],
  'engine/audio/containers': ['engine', 'engine/audio/decoding'],
  'engine/audio': ['engine', 'engine/audio/decoding', 'engine/audio/containers'],
  'engine/audio/cutting': ['engine', 'engine/audio'],
  'engine/audio/live': ['engine', 'engine/audio', 'engine/audio/cutting'],
  'engine/transformer': ['engine'],
  'engine/transformer/kernels': [],
  'engine/transformer/search': ['engine', 'engine/transformer', 'engine/transformer/kernels'],
  'engine/transformer/cpu': ['engine', 'engine/accelerator', 'engine/transformer', 'engine/transformer/kernels'],
  'engine/transformer/gpu': ['engine', 'engine/transformer'],
  'engine/speech': ['engine', 'engine/accelerator', 'engine/audio', 'engine/audio/cutting', 'engine/transformer'],
  'engine/speech/random_models': ['engine', 'engine/speech'],
  'engine/speech/silero': [
    'engine',
    'engine/audio/cutting',
    'engine/transformer',
    'engine/transformer/kernels',
    'engine/speech',
  ],
  'engine/speech/alignment': ['engine/audio', 'engine/audio/cutting', 'engine/speech'],
  ...Object.fromEntries(WHISPER_ROOMS.map((room, i) => [room, [...BELOW_WHISPER, ...WHISPER_ROOMS.slice(0, i)]])),
  'engine/speech/whisper': [...BELOW_WHISPER, ...WHISPER_ROOMS],
  'engine/speech/whisper_cpp': [
    'engine',
    'engine/accelerator',
    'engine/audio',
    'engine/audio/cutting',
    'engine/transformer',
    'engine/speech',
    'engine/speech/alignment',
    ...WHISPER_ROOMS,
  ],
  'engine/speech/parakeet': [
    'engine',
    'engine/accelerator',
    'engine/audio',
    'engine/audio/cutting',
    'engine/transformer',
    'engine/transformer/kernels',
    'engine/transformer/cpu',
    'engine/speech',
    'engine/speech/alignment',
  ],
  'engine/speech/families': [
    'engine',
    'engine/accelerator',
    'engine/transformer',
    'engine/transformer/cpu',
    'engine/speech',
    'engine/speech/whisper',
    'engine/speech/whisper_cpp',
    'engine/speech/parakeet',
  ],
  'engine/translation/files': ['engine'],
  'engine/translation/ct2': ['engine', 'engine/transformer', 'engine/translation/files'],
  'engine/translation': [
    'engine',
    'engine/transformer',
    'engine/transformer/search',
    'engine/translation/files',
    'engine/translation/ct2',
  ],
  'engine/translation/backends/ggml': [
    'engine',
    'engine/transformer',
    'engine/transformer/kernels',
    'engine/transformer/search',
    'engine/transformer/cpu',
    'engine/transformer/gpu',
    'engine/translation',
  ],
  'engine/translation/backends': [
    'engine',
    'engine/transformer',
    'engine/translation',
    'engine/translation/backends/ggml',
  ],
};
const EVERY_ENGINE_ROOM = Object.keys(ENGINE);
/** With their folders. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  addon: EVERY_ENGINE_ROOM,
  // Compiled into whisper.cpp's Vulkan backend.
  vulkan: [],
  testing: EVERY_ENGINE_ROOM,
  bench: [...EVERY_ENGINE_ROOM, 'testing'],
  fuzz: [...EVERY_ENGINE_ROOM, 'testing'],
  test: [...EVERY_ENGINE_ROOM, 'testing', 'bench'],
};
export const ROOMS = { ...ENGINE, ...OTHERS };

/** Libraries, and the rooms that know them. */
const LIBRARIES: readonly (readonly [header: RegExp, rooms: readonly string[]])[] = [
  [/^(napi|node|node_api|js_native_api|js_native_api_types|v8|uv)([-./]|$)/, ['addon']],
  [/^sndfile/, ['engine/audio/decoding', 'testing', 'bench', 'test']],
  [/^mpg123/, ['engine/audio/containers']],
  [/^soxr/, ['engine/audio']],
  [/^kiss_fft/, ['engine/speech/whisper/encoder', 'engine/speech/parakeet']],
  [/^vulkan/, ['engine', 'vulkan']],
  [/^whisper/, ['engine/speech', 'engine/speech/whisper/model', 'engine/speech/whisper_cpp', 'addon', 'bench', 'test']],
  [/^parakeet/, ['engine/speech', 'engine/speech/parakeet', 'bench', 'test']],
  [
    /^ggml/,
    [
      'engine/accelerator',
      'engine/accelerator/onednn',
      'engine',
      'engine/speech',
      'engine/speech/whisper/model',
      'engine/speech/whisper/encoder',
      'engine/speech/whisper/decoding',
      'engine/speech/whisper_cpp',
      'engine/transformer/cpu',
      'engine/transformer/gpu',
      'bench',
      'test',
    ],
  ],
  [/^(oneapi|dnnl)/, ['engine/accelerator/onednn', 'bench']],
  [/^ctranslate2/, ['engine/translation/backends', 'bench']],
  [/^sentencepiece/, ['engine/translation']],
  [/^nlohmann/, ['engine/translation/files', 'bench', 'test']],
  [/^doctest/, ['test']],
];

/** One sentence for every include that its room may not have; `root`: what holds native/. */
export function wrongIncludes(root: string): string[] {
  return sources(join(root, 'native')).flatMap((file) =>
    includesOf(readFileSync(join(root, 'native', file), 'utf8')).flatMap((include) => {
      const wrong = include.own ? wrongOwn(root, file, include.path) : wrongLibrary(file, include.path);
      return wrong === null ? [] : [`native/${file}: ${wrong}`];
    }),
  );
}

/** Paths below native/. */
function sources(native: string): string[] {
  return readdirSync(native, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(cc|h)$/.test(file))
    .sort();
}

interface Include {
  path: string;
  /** In quotes: a file of ours. */
  own: boolean;
}

function includesOf(text: string): Include[] {
  return [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]/gm)].map(([, quote, path]) => ({
    path: path ?? '',
    own: quote === '"',
  }));
}

/** null for a folder of the engine without a row: a new room says what it may include. */
function roomOf(file: string): string | null {
  const [top = ''] = file.split('/');
  const room = top === 'engine' ? posix.dirname(file) : top;
  return Object.hasOwn(ROOMS, room) ? room : null;
}

function wrongOwn(root: string, file: string, path: string): string | null {
  const room = roomOf(file);
  if (room === null) return `${posix.dirname(file)} has no row in test/native/rooms.ts`;
  if (path.split('/').includes('..')) return `"${path}" leads upwards; name it from its room's root`;
  const found = resolve(root, file, path);
  if (found === null) return `"${path}" is no file of native/ (libraries stand in angle brackets)`;
  const other = roomOf(found);
  const allowed = ROOMS[room] ?? [];
  if (other === room || (other !== null && allowed.includes(other))) return null;
  return `"${path}" lies in ${other ?? 'a room without a row'}; ${room} may include from: ${allowed.join(', ')}`;
}

/** Where the compiler may find it, from the nearest; below native/. */
function resolve(root: string, file: string, path: string): string | null {
  const [top = ''] = file.split('/');
  const bases = [posix.dirname(file), top, 'engine', '', 'bench', 'test', 'addon', 'fuzz'];
  const candidates = bases.map((base) => posix.join(base, path));
  return candidates.find((candidate) => existsSync(join(root, 'native', candidate))) ?? null;
}

function wrongLibrary(file: string, path: string): string | null {
  const room = roomOf(file);
  const [, knowing] = LIBRARIES.find(([header]) => header.test(path)) ?? [];
  if (knowing === undefined || (room !== null && knowing.includes(room))) return null;
  return `<${path}> is known to ${knowing.join(', ')} alone`;
}

if (require.main === module) {
  const wrong = wrongIncludes(join(__dirname, '..', '..'));
  for (const line of wrong) process.stderr.write(`${line}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
