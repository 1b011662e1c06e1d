/** The OpenAPI document itself: valid, complete, and true to its own examples. */
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import type { ErrorCode } from '../../../src/errors.js';
import { ERROR_TABLE } from '../../../src/http/errors/error-table.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { call, transcribe } from '../../support/requests.js';
import { bearer, TestServer } from '../../support/server.js';

type Json = Record<string, unknown>;

/** A place in the document that says what a value looks like. */
interface Described {
  at: string;
  schema: object;
  examples: unknown[];
}

const document = openApiDocument('1.2.3');
const ajv = new Ajv2020({ strict: false });
addFormats(ajv);
ajv.addSchema({ $id: 'document', ...document });

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Calls `visit` for every object of the document. */
function walk(value: unknown, check: (node: Json, at: string) => void, at = '#'): void {
  if (!isObject(value)) return;
  check(value, at);
  for (const [name, child] of Object.entries(value)) {
    walk(child, check, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

/** Media types, headers and parameters: whatever has a schema. */
function described(): Described[] {
  const places: Described[] = [];
  walk(document, (node, at) => {
    if (!isObject(node['schema']) || at.includes('/example')) return;
    const many = isObject(node['examples']) ? Object.values(node['examples']) : [];
    const values = many.map((example) => (example as { value: unknown }).value);
    places.push({
      at,
      schema: node['schema'],
      examples: 'example' in node ? [node['example'], ...values] : values,
    });
  });
  return places;
}

/** The leaves of the shapes: every field that is neither an object nor a list of objects. */
function fields(): { at: string; schema: Json }[] {
  const leaves: { at: string; schema: Json }[] = [];
  walk((document['components'] as Json)['schemas'], (node, at) => {
    if (!isObject(node['properties'])) return;
    for (const [name, schema] of Object.entries(node['properties'] as Record<string, Json>)) {
      const items = schema['items'] as Json | undefined;
      if (schema['properties'] !== undefined || items?.['properties'] !== undefined) continue;
      leaves.push({ at: `${at}/properties/${name}`, schema });
    }
  });
  return leaves;
}

function expectValid(schema: object, value: unknown, at: string): void {
  const resolved = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
  const validate = ajv.compile(resolved);
  expect(validate(value), `${at}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { Validator } = await import('@seriousme/openapi-schema-validator');
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.valid, JSON.stringify(result.errors)).to.equal(true);
    expect(validator.version).to.equal('3.1');
    const broken = { ...structuredClone(document), paths: { me: { get: {} } } };
    expect((await new Validator().validate(broken)).valid).to.equal(false);
  });

  it('gives an example of every body, header and parameter, and each holds', () => {
    const places = described();
    expect(places).to.have.length.above(50);
    for (const { at, schema, examples } of places) {
      expect(examples, at).not.to.have.length(0);
      for (const example of examples) expectValid(schema, example, at);
    }
  });

  it('gives an example of every field, and each holds', () => {
    const leaves = fields();
    expect(leaves).to.have.length.above(40);
    for (const { at, schema } of leaves) {
      const { examples } = schema as { examples?: unknown[] };
      expect(examples, at).to.be.an('array').that.is.not.empty;
      for (const example of examples!) expectValid(schema, example, at);
    }
  });

  it('has every error code, with its own status', () => {
    const statuses = new Map<string, Set<number>>();
    walk(document, (node, at) => {
      const status = /\/(\d{3})\/content\//.exec(at)?.[1];
      const { code } = (node['error'] ?? {}) as { code?: ErrorCode };
      if (code === undefined || !at.endsWith('/value') || at.includes('/~1v1~1')) return;
      // A job that failed reports an error, and its event is delivered with success.
      if ('progress' in node) return;
      statuses.set(code, (statuses.get(code) ?? new Set()).add(Number(status ?? ERROR_TABLE[code].status)));
    });
    for (const [code, { status }] of Object.entries(ERROR_TABLE)) {
      if (code === 'model_not_found') continue;
      expect([...(statuses.get(code) ?? [])], code).to.deep.equal([status]);
    }
  });

  it('names, summarises and tags every operation', () => {
    const operations = Object.values(document['paths'] as Record<string, Json>)
      .flatMap((item) => [item['get'], item['post'], item['patch'], item['delete']])
      .filter(isObject);
    expect(operations).to.have.length(42);
    const known = (document['tags'] as { name: string }[]).map(({ name }) => name);
    for (const operation of operations) {
      expect(operation).to.include.keys('operationId', 'summary', 'tags', 'responses');
      expect(known).to.include.members(operation['tags'] as string[]);
    }
    expect(new Set(operations.map((operation) => operation['operationId'])).size).to.equal(42);
  });

  it('shows of malformed requests what the server says of them', async () => {
    const server = await TestServer.start();
    const customer = await server.customer();
    const manage = { headers: { ...bearer(customer.managementKey), 'content-type': 'application/json' } };
    const answers = {
      '/api/v1/transcribe/post': await transcribe(server, { key: customer.key, parts: [] }),
      '/api/v1/usage/get': await call(server, '/api/v1/usage?days=0', manage),
      '/api/v1/keys/post': await call(server, '/api/v1/keys', {
        ...manage,
        method: 'POST',
        body: '{"name":" "}',
      }),
    };
    for (const [operation, { status, error }] of Object.entries(answers)) {
      expect(status, operation).to.equal(400);
      const [, path, method] = /^(.*)\/(\w+)$/.exec(operation)!;
      const { responses } = (document['paths'] as Record<string, Record<string, { responses: Json }>>)[path!]![
        method!
      ]!;
      const shown = JSON.stringify(responses['400']);
      expect(shown).to.include(JSON.stringify({ message: error!.message, param: error!.param }).slice(1, -1));
    }
    await server.dispose();
  });

  it('has every variant of a path that the server knows, and no other', async () => {
    const server = await TestServer.start();
    for (const [template, item] of Object.entries(document['paths'] as Record<string, Json>)) {
      const path = template.replace('{id}', 'key_1').replace('{model}', 'base').replace('{share}', 'share_1');
      const { headers } = await call(server, path, { method: 'OPTIONS' });
      const known = ['get', 'post', 'patch', 'delete'].filter((method) => method in item);
      const allowed = headers.get('allow')!.toLowerCase().split(', ');
      expect(
        allowed.filter((method) => !['head', 'options'].includes(method)),
        path,
      ).to.deep.equal(known);
    }
    await server.dispose();
  });
});

describe('/openapi.json and /docs', () => {
  let server: TestServer;

  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.dispose());

  it('serve the document', async () => {
    const { status, body, headers } = await call(server, '/openapi.json');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(openApiDocument('0.0.0-test'))));
  });

  it('serve a page whose parts all come from this server', async () => {
    const { status, text, headers } = await call(server, '/docs');
    expect(status).to.equal(200);
    expect(headers.get('content-security-policy')).to.match(/^default-src 'none'; script-src 'self'/);
    const parts = [...text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)].map(([, url]) => url!);
    const types = { css: /^text\/css/, js: /^text\/javascript/, ico: /^image\/svg/ } as const;
    expect(parts).to.have.length(6);
    for (const url of parts) {
      const part = await call(server, url);
      expect(part.status, url).to.equal(200);
      expect(part.headers.get('content-type')).to.match(types[url.split('.').at(-1) as keyof typeof types]);
      expect(part.text.length).to.be.above(50);
    }
    expect(text).not.to.match(/https?:\/\//);
  });

  it('serve the page in the theme that was chosen on the dashboard, and lead there', async () => {
    const plain = await call(server, '/docs');
    expect(plain.text).to.contain('<html lang="en">').and.to.contain('href="/dashboard"');
    const dark = await call(server, '/docs', { headers: { cookie: 'verbatim-theme=dark' } });
    expect(dark.text).to.contain('<html lang="en" data-theme="dark">');
    const other = await call(server, '/docs', { headers: { cookie: 'verbatim-theme=blue' } });
    expect(other.text).to.contain('<html lang="en">');
  });
});
