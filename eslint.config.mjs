import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import prettier from 'eslint-config-prettier';

/**
 * Imports flow one way: cli, main -> http -> services -> {engine, ledger}; engine and ledger know neither
 * each other nor Express; only the composition root reads the configuration.
 */
const forbid = (files, patterns, message) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: patterns, message }] }] },
});

export default tseslint.config(
  { ignores: ['dist/', 'build*/', 'node_modules/', 'data/', 'models/', 'test/fixtures/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['*.mjs'] } } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-console': 'error',
    },
  },
  forbid(
    ['src/engine/**'],
    [
      '**/ledger/**',
      '**/http/**',
      '**/services/**',
      '**/cli/**',
      '**/config',
      '**/config.js',
      'express',
      'busboy',
    ],
    'engine/ knows neither the ledger nor the shell above it.',
  ),
  forbid(
    ['src/ledger/**'],
    [
      '**/engine/**',
      '**/http/**',
      '**/services/**',
      '**/cli/**',
      '**/config',
      '**/config.js',
      'express',
      'busboy',
    ],
    'ledger/ knows neither the engine nor the shell above it.',
  ),
  forbid(
    ['src/services/**'],
    ['**/http/**', '**/cli/**', '**/config', '**/config.js', 'express', 'busboy'],
    'services/ sits below HTTP and gets its settings as arguments.',
  ),
  forbid(
    ['src/http/**'],
    ['**/cli/**', '**/config', '**/config.js', '**/main', '**/main.js'],
    'http/ gets its settings as arguments.',
  ),
  { files: ['src/cli/**', 'src/main.ts', 'bench/**'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['**/*.mjs'], ...tseslint.configs.disableTypeChecked },
  prettier,
);
