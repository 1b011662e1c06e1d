import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import prettier from 'eslint-config-prettier';
import glossary from './lint/glossary.mjs';
import noImportCircle from './lint/no-import-circle.mjs';

/**
 * Imports flow one way: main -> cli -> service -> http -> {live, jobs, library, webhooks, models} -> transcription -> {engine, ledger}; models stands on
 * engine alone, webhooks on the ledger, and the client on nothing. Each room may import from the rooms named behind it, and from src/errors.
 */
const ROOMS = {
  engine: [],
  ledger: [],
  models: ['engine'],
  transcription: ['engine', 'ledger'],
  live: ['engine', 'ledger', 'transcription'],
  jobs: ['engine', 'ledger', 'transcription'],
  library: ['engine', 'ledger', 'transcription'],
  webhooks: ['ledger'],
  http: ['engine', 'ledger', 'models', 'transcription', 'live', 'jobs', 'library', 'webhooks'],
  service: ['engine', 'ledger', 'models', 'transcription', 'live', 'jobs', 'library', 'webhooks', 'http'],
  cli: ['engine', 'ledger', 'models', 'transcription', 'live', 'jobs', 'library', 'webhooks', 'http', 'service'],
  client: [],
};
/** The folders of src/http, and which of them each may import. */
const HTTP_FOLDERS = {
  schema: [],
  errors: ['schema'],
  limits: [],
  monitoring: [],
  connections: ['schema', 'errors', 'limits', 'monitoring'],
  upload: ['connections'],
  app: ['schema', 'errors', 'limits', 'monitoring', 'connections', 'upload'],
  auth: ['limits', 'app'],
  websocket: ['schema', 'connections', 'app', 'auth'],
  realtime: ['schema', 'errors', 'app', 'auth', 'openai', 'websocket'],
  wyoming: ['schema', 'limits', 'connections', 'app', 'auth'],
  deepgram: ['schema', 'errors', 'app', 'auth', 'upload', 'transcripts', 'websocket'],
  transcripts: ['schema', 'errors', 'limits', 'upload', 'app', 'auth'],
  api: ['schema', 'errors', 'app', 'auth', 'transcripts'],
  share: ['schema', 'errors', 'app', 'dashboard'],
  openai: ['schema', 'errors', 'upload', 'app', 'auth', 'transcripts', 'api'],
  openapi: ['schema', 'errors', 'app', 'transcripts', 'api', 'openai', 'realtime', 'deepgram'],
  dashboard: ['schema', 'errors', 'limits', 'app', 'auth', 'transcripts', 'api', 'websocket'],
};
/** Packages that only these rooms know. */
const PACKAGES = {
  express: 'http',
  typebox: ['http', 'models'],
  busboy: 'http',
  ws: 'http',
  'better-sqlite3': 'ledger',
  pg: 'ledger',
  'ipaddr.js': 'webhooks',
  standardwebhooks: 'webhooks',
  commander: 'cli',
  'csv-stringify': 'library',
  docx: 'library',
  'content-disposition': 'http',
  eld: 'engine',
  'onnxruntime-node': 'engine',
};

/** What is forbidden to the files of a room; `also` adds to it for one of its folders. */
const forbidden = (room, known, files = '**', also = []) => ({
  files: [`src/${room}/${files}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: [
              ...Object.keys(ROOMS)
                .filter((other) => other !== room && !known.includes(other))
                .map((other) => `**/${other}/**`),
              ...Object.keys(PACKAGES).filter((name) => ![PACKAGES[name]].flat().includes(room)),
              '**/main.js',
              '**/bench/**',
              ...also,
            ],
            message: `src/${room}/${files} may import from: ${[...known, 'errors'].join(', ')}.`,
          },
        ],
      },
    ],
  },
});

export default tseslint.config(
  { ignores: ['**/dist/', 'build*/', 'node_modules/', 'data/', 'models/', 'test/fixtures/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs', 'lint/*.mjs', 'src/http/dashboard/browser/*.mjs'] },
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-console': 'error',
      'object-shorthand': ['error', 'properties'],
      'no-useless-rename': 'error',
    },
  },
  {
    files: ['src/**', 'bench/**', 'test/**'],
    plugins: { verbatim: { rules: { glossary } } },
    rules: { 'verbatim/glossary': 'error' },
  },
  {
    files: ['src/**'],
    plugins: { circles: { rules: { 'no-import-circle': noImportCircle } } },
    rules: { 'circles/no-import-circle': 'error' },
  },
  {
    files: ['**/*.ts', '**/*.mjs'],
    // Generated.
    ignores: ['src/client/schema.ts'],
    rules: { 'max-lines': ['error', { max: 350 }] },
  },
  ...Object.entries(ROOMS).map(([room, known]) => forbidden(room, known)),
  // The two engines meet in what both share, not in each other.
  forbidden('engine', ROOMS.engine, 'speech/**', ['**/translation/**']),
  forbidden('engine', ROOMS.engine, 'translation/**', ['**/speech/**']),
  forbidden('engine', ROOMS.engine, 'media/**', ['**/speech/**', '**/translation/**']),
  // What every resource of HTTP stands on knows none of them: service/ hands the routes to the application.
  ...Object.entries(HTTP_FOLDERS).map(([folder, known]) => {
    const others = Object.keys(HTTP_FOLDERS).filter((other) => other !== folder && !known.includes(other));
    return forbidden(
      'http',
      ROOMS.http,
      `${folder}/**`,
      others.map((other) => `../${other}/**`),
    );
  }),
  {
    files: ['src/**'],
    // The addon's OpenMP reads its own variable, which must be set before it is loaded.
    ignores: ['src/service/**', 'src/main.ts', 'src/engine/binding.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/service reads the environment.' },
      ],
    },
  },
  {
    files: ['bench/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['**/test/**'], message: 'What measures does not stand on what tests.' }] },
      ],
    },
  },
  {
    files: ['src/cli/**', 'src/service/serve.ts', 'src/main.ts', 'bench/**', 'test/slow/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['**/*.mjs'], ...tseslint.configs.disableTypeChecked },
  prettier,
  // Which prettier's own settings switch off: strings are not wrapped by it.
  {
    files: ['src/**'],
    // Generated.
    ignores: ['src/client/schema.ts'],
    rules: { 'max-len': ['error', { code: 120 }] },
  },
);
