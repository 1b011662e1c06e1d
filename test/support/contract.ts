/**
 * Holds every answer that a server sends in the tests against the OpenAPI document, so that the two cannot drift: of
 * this process's servers as they are sent, of a server in a process of its own when it stops (served.ts). Loaded by
 * .mocharc.json for the whole suite: an answer that breaks the document fails the test that caused it.
 */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ErrorCode } from '../../src/errors.js';
import { ERROR_TABLE } from '../../src/http/errors/error-table.js';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { onAnswer, type SentAnswer, type UnseenAnswer } from './preload/sent-answers.js';
import './seed.js';

interface Header {
  required?: boolean;
  schema: object;
}
interface DocumentedResponse {
  headers?: Record<string, { $ref: string }>;
  content: Record<string, { schema: object }>;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
  components: { headers: Record<string, Header>; schemas: Record<string, object> };
}

export interface SeenResponse {
  method: string;
  path: string;
  status: number;
  headers: Map<string, string>;
  body: string;
}

const document = openApiDocument('test') as unknown as Document;
const ajv = new Ajv2020({ allErrors: true, strict: false, coerceTypes: true });
addFormats(ajv);
ajv.addSchema({ $id: 'document', ...document });

const validators = new Map<string, ValidateFunction>();

function validator(pointer: string): ValidateFunction {
  let validate = validators.get(pointer);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `document#${pointer}` });
    validators.set(pointer, validate);
  }
  return validate;
}

const JSON_BODY = 'application/json';
const EVENTS = 'text/event-stream';
const typeOf = ({ headers }: SeenResponse): string => (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';

const escape = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

const templates = Object.keys(document.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
}));

/** What is wrong with a response, or nothing. */
export function contractViolations(response: SeenResponse): string[] {
  const { method, path, status } = response;
  if (method === 'OPTIONS') return [];
  const template = templates.find(({ pattern }) => pattern.test(path))?.template;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = template === undefined ? undefined : document.paths[template]?.[verb];
  if (template === undefined || operation === undefined) return isPage(path) ? [] : plainError(response);
  const documented = operation.responses[String(status)];
  if (documented === undefined) return [`${method} ${template} has no documented status ${status}: ${response.body}`];
  const pointer = `/paths/${escape(template)}/${verb}/responses/${status}`;
  return [...headerViolations(documented, response), ...bodyViolations(documented, pointer, response)];
}

const isPage = (path: string): boolean => /^\/(docs|dashboard|share|favicon\.ico$|$)/.test(path);

/** Unknown paths and methods: the error shape all the same. */
function plainError(response: SeenResponse): string[] {
  if (response.method === 'HEAD') return [];
  const validate = validator(`/components/schemas/${errorShape(response)}`);
  const body = parse(response.body);
  if (!validate(body)) return [`${response.method} ${response.path}: ${ajv.errorsText(validate.errors)}`];
  return codeViolations(response, body);
}

function errorShape(response: SeenResponse): string {
  if (/^\/v1\/(listen|auth)/.test(response.path)) return 'DeepgramError';
  return isOpenAi(response) ? 'OpenAiError' : 'Error';
}

function headerViolations(documented: DocumentedResponse, response: SeenResponse): string[] {
  const violations: string[] = [];
  for (const [name, { $ref }] of Object.entries(documented.headers ?? {})) {
    const key = $ref.split('/').at(-1) ?? '';
    const header = document.components.headers[key];
    const value = response.headers.get(name.toLowerCase());
    if (value === undefined) {
      // A replayed answer did no work, so it has no timing to report; events begin before there is one.
      const isUntimed = response.headers.has('idempotency-replayed') || typeOf(response) === EVENTS;
      if (header?.required === true && !(name === 'Server-Timing' && isUntimed))
        violations.push(`${response.path} ${response.status}: no ${name}`);
      continue;
    }
    const validate = validator(`/components/headers/${key}/schema`);
    const typed = /^\d+$/.test(value) && JSON.stringify(header?.schema).includes('"integer"') ? Number(value) : value;
    if (!validate(typed)) violations.push(`${response.path} ${name}: ${ajv.errorsText(validate.errors)}`);
  }
  return violations;
}

function bodyViolations(documented: DocumentedResponse, pointer: string, response: SeenResponse): string[] {
  const type = typeOf(response);
  if (documented.content[type] === undefined) return [`${response.path}: undocumented content type "${type}"`];
  if (response.method === 'HEAD' || ![JSON_BODY, EVENTS].includes(type)) return [];
  const validate = validator(`${pointer}/content/${escape(type)}/schema`);
  if (type === EVENTS) return eventViolations(response, validate);
  const body = parse(response.body);
  if (!validate(body))
    return [`${response.path} ${response.status}: ${ajv.errorsText(validate.errors)} in ${response.body}`];
  return codeViolations(response, body);
}

/** Of the events that are whole: their name, in both lines, and their data. */
function eventViolations({ path, body }: SeenResponse, validate: ValidateFunction): string[] {
  const blocks = body.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    if (block.startsWith(':')) return [];
    const [, event, data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? [];
    const reported = parse(data) as { type?: string; error?: object } | null;
    const isNamed = event !== undefined && event === (reported?.error === undefined ? reported?.type : 'error');
    if (isNamed && validate(reported)) return [];
    return [`${path}: ${ajv.errorsText(validate.errors)} in the event ${block}`];
  });
}

const isOpenAi = ({ path }: SeenResponse): boolean => path.startsWith('/v1/');

function codeViolations(response: SeenResponse, body: unknown): string[] {
  // Their statuses are what the document has them under.
  if (isOpenAi(response)) return [];
  // A job that failed reports an error, and its event is delivered with success.
  if (response.status < 400 && response.path.startsWith('/api/v1/jobs/')) return [];
  const code = (body as { error?: { code?: ErrorCode } } | null)?.error?.code;
  if (code === undefined) return [];
  return ERROR_TABLE[code].status === response.status ? [] : [`${code} was sent with status ${response.status}`];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const violations: string[] = [];
let count = 0;

/** Holds an answer against the document; the test that runs fails if it breaks it. */
export function check(answer: SentAnswer | UnseenAnswer): void {
  if ('unseen' in answer) {
    violations.push(`${answer.unseen} was answered, and the answer was not seen`);
    return;
  }
  count += 1;
  violations.push(...contractViolations({ ...answer, headers: new Map(Object.entries(answer.headers)) }));
}

onAnswer(check);

/** What is wrong with the answers since the last call. */
export const takeViolations = (): string[] => violations.splice(0);

function failForViolations(): void {
  const found = takeViolations();
  if (found.length > 0) throw new Error(`answers that break the OpenAPI document:\n${found.join('\n')}`);
}

/** The last one: of servers that a file stops when its tests have ended. */
export const mochaHooks = { afterEach: failForViolations, afterAll: failForViolations };

/** Responses held against the document so far. */
export function responsesSeen(): number {
  return count;
}
