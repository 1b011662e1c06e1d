/** What documents name is there: files, metrics, endpoints of the API and error codes. */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../src/errors.js';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { POSTGRES_MIGRATIONS } from '../../src/ledger/postgres/migrations/index.js';
import { MIGRATIONS } from '../../src/ledger/sqlite/migrations/index.js';
import { packageRoot } from '../../src/package-root.js';
import { documents, documentText } from '../support/documents/blocks.js';
import { parseCommand } from '../support/documents/command-line.js';
import { callsOf } from '../support/documents/dry-shell.js';
import { TestServer } from '../support/server.js';

const codeSpans = (document: string): string[] =>
  [...documentText(document).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);

const all = documents().map((document) => ({ document, spans: codeSpans(document) }));

/** Folders of this project; with these a path begins. */
const PATH = /^(?:src|native|test|bench|packaging|models|docs|lint|\.ci)\/[\w./-]+$/;
/** Made by a build or a download, or of another project. */
const MADE = /^(?:models\/convert-parakeet|models\/ggml|src\/client\/dist)/;

/** WebSockets, which OpenAPI does not describe. */
const WEBSOCKETS = ['GET /v1/realtime', 'GET /v1/realtime/translations', 'GET /v1/listen'];

/** What the parser says of a command that is named without what it takes. */
const UNFINISHED = /^Usage: |missing required argument|required option .* not specified/;

async function refusalOf(words: readonly string[]): Promise<string | null> {
  try {
    await parseCommand(words);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('Documents name', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.dispose());

  it('files that there are', () => {
    // A folder of the engine's sources may stand for itself, as `speech/families` in a page on native/engine.
    const missing = all.flatMap(({ document, spans }) =>
      spans
        .filter((span) => PATH.test(span) && !MADE.test(span) && !existsSync(join(packageRoot, span)))
        .map((span) => `${document}: ${span}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('commands that the parser takes, and scripts that there are', async () => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const refused: string[] = [];
    for (const { document, spans } of all)
      for (const span of spans) {
        const [, script] = /^npm run ([\w:]+)/.exec(span) ?? [];
        if (script !== undefined && !(script in scripts)) refused.push(`${document}: ${span}`);
        if (!/^(?:npx )?verbatim [a-z]/.test(span)) continue;
        for (const { words } of callsOf(span, { skipsOthers: true })) {
          const why = await refusalOf(words[0] === 'verbatim' ? words.slice(1) : words);
          if (why !== null && !UNFINISHED.test(why)) refused.push(`${document}: ${span}: ${why}`);
        }
      }
    expect(refused).to.deep.equal([]);
  });

  it('metrics that there are', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const metrics = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    expect(metrics).to.have.length.above(20);
    const named = all.flatMap(({ document, spans }) =>
      spans.filter((span) => /^verbatim_[a-z_]+$/.test(span)).map((span) => ({ document, span })),
    );
    expect(named).to.have.length.above(20);
    expect(named.filter(({ span }) => !metrics.includes(span))).to.deep.equal([]);
  });

  it('endpoints that there are', () => {
    const { paths } = openApiDocument('0') as { paths: Record<string, Record<string, unknown>> };
    const known = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`),
    );
    const named = all.flatMap(({ document, spans }) =>
      spans.flatMap((span) => {
        const [, method, path] = /^(GET|POST|PATCH|PUT|DELETE) (\/(?:api\/v1|v1)\/[^?\s]*)/.exec(span) ?? [];
        if (method === undefined || path === undefined || path.includes('…')) return [];
        return [{ document, name: `${method} ${path.replaceAll(/\{[^}]+\}|\bID\b/g, '{}')}` }];
      }),
    );
    expect(named).to.have.length.above(10);
    expect(named.filter(({ name }) => ![...known, ...WEBSOCKETS].includes(name))).to.deep.equal([]);
  });

  it('the versions of the schemas to which an upgrade brings a database', () => {
    const page = documentText('docs/upgrade.md').replaceAll(/\s+/g, ' ');
    const [, sqlite, postgres] = /SQLite comes to schema version (\d+), PostgreSQL to version (\d+)/.exec(page) ?? [];
    expect([sqlite, postgres].map(Number)).to.deep.equal([MIGRATIONS.length, POSTGRES_MIGRATIONS.length]);
  });

  it('error codes that there are, where a status stands before them', () => {
    const named = all.flatMap(({ document }) =>
      [...documentText(document).matchAll(/\b[45]\d\d `([a-z_]+)`/g)].map(([, code = '']) => ({ document, code })),
    );
    expect(named).to.have.length.above(10);
    // OpenAI's endpoints have some codes of their own.
    const openAi = ['insufficient_quota', 'invalid_file_format', 'rate_limit_exceeded'];
    expect(named.filter(({ code }) => ![...ERROR_CODES, ...openAi].includes(code))).to.deep.equal([]);
  });
});
