/** The tables of docs/api.md, from the OpenAPI document that the service serves. */
import { ERROR_CODES } from '../../src/errors.js';
import { ERROR_TABLE } from '../../src/http/errors/error-table.js';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { asProse, markdownTable, type Parts } from './marked-parts.js';
import { fieldTable, shapeNames, type Schema } from './schema-table.js';

interface Described {
  description: string;
}
type Content = Record<string, { schema?: Reference & Schema }>;
interface Reference {
  $ref?: string;
}
interface Parameter extends Described {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}
interface Header extends Described {
  schema: Schema;
}
interface Response extends Described {
  content?: Content;
  headers?: Record<string, Reference>;
}
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Reference[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
}
interface Document {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation> & { parameters: Reference[] }>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
  };
}
interface Endpoint extends Operation {
  /** Such as `GET /api/v1/me`. */
  title: string;
  allParameters: Parameter[];
}

const METHODS = ['get', 'post', 'patch', 'delete'];
/** Of every request or answer; the page says so once. */
const COMMON = ['X-Request-Id'];

export function apiParts(): Parts {
  const document = JSON.parse(JSON.stringify(openApiDocument('0'))) as Document;
  const endpoints = endpointsOf(document);
  const writer = new EndpointWriter(document);
  return {
    'all endpoints': markdownTable(
      ['Endpoint', 'What it does'],
      endpoints.map(({ title, summary }) => [`[\`${title}\`](#${anchor(title)})`, summary]),
    ),
    errors: markdownTable(
      ['Status', 'Code', 'When', 'Example of a message'],
      ERROR_CODES.map((code) => {
        const { status, meaning, message } = ERROR_TABLE[code];
        return [String(status), `\`${code}\``, meaning, asProse(message)];
      }),
    ),
    headers: markdownTable(
      ['Header', 'Description'],
      Object.values(headersByName(document)).map(({ name, description }) => [`\`${name}\``, description]),
    ),
    ...Object.fromEntries(
      document.tags.map(({ name }) => [
        `endpoints ${name}`,
        endpoints
          .filter(({ tags }) => tags.includes(name))
          .map((endpoint) => writer.section(endpoint))
          .join('\n\n'),
      ]),
    ),
  };
}

function endpointsOf({ paths, components, tags }: Document): Endpoint[] {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const allParameters = [...item.parameters, ...(operation.parameters ?? [])]
        .map((reference) => resolve(components.parameters, reference))
        .filter(({ name }) => !COMMON.includes(name));
      return [{ ...operation, title: `${method.toUpperCase()} ${path}`, allParameters }];
    }),
  );
  return tags.flatMap(({ name }) => all.filter((endpoint) => endpoint.tags.includes(name)));
}

/** Headers of answers, which responses call by the names under which they are sent. */
function headersByName({ paths, components }: Document): (Header & { name: string })[] {
  const found = new Map<string, Header & { name: string }>();
  for (const item of Object.values(paths))
    for (const method of METHODS)
      for (const response of Object.values(item[method]?.responses ?? {}))
        for (const [name, reference] of Object.entries(response.headers ?? {}))
          found.set(name, { name, ...resolve(components.headers, reference) });
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name));
}

/** Writes endpoints in order: a shape's fields stand where it comes first, and are linked from then on. */
class EndpointWriter {
  readonly #schemas: Record<string, Schema>;
  readonly #written = new Set<string>();

  constructor(document: Document) {
    const used = new Set(JSON.stringify(document.paths).match(/(?<=#\/components\/schemas\/)\w+/g));
    this.#schemas = Object.fromEntries(Object.entries(document.components.schemas).filter(([name]) => used.has(name)));
  }

  section({ title, summary, description, allParameters, requestBody, responses }: Endpoint): string {
    return [
      `### ${title}`,
      asProse(`${summary}.${description === undefined ? '' : ` ${description}`}`),
      ...(allParameters.length === 0 ? [] : ['Parameters:', parameterTable(allParameters)]),
      ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
        this.#body(`Request (\`${type}\`)`, schema, true),
      ),
      ...Object.entries(responses)
        .filter(([status]) => status.startsWith('2') || (status === '503' && !isError(responses[status])))
        .flatMap(([status, response]) => this.#answer(status, response)),
      ...errorLine(responses),
    ].join('\n\n');
  }

  #answer(status: string, { description, content = {} }: Response): string[] {
    const shaped = Object.entries(content).filter(([, { schema }]) => schema?.$ref !== undefined);
    const plain = Object.keys(content).filter((type) => !shaped.some(([other]) => other === type));
    return [
      `Answer ${status}: ${asProse(description)}`,
      ...shaped.flatMap(([type, { schema }]) => this.#body(`As \`${type}\``, schema, false)),
      ...(plain.length === 0 ? [] : [`As ${plain.map((type) => `\`${type}\``).join(', ')}: the content itself.`]),
    ];
  }

  #body(head: string, schema: (Reference & Schema) | undefined, isRequest: boolean): string[] {
    const name = schema?.$ref?.split('/').at(-1);
    if (name === undefined) return [`${head}.`];
    const shown = this.#schemas[name];
    const link = `[${name}](#${name.toLowerCase()})`;
    if (shown === undefined || this.#written.has(name)) return [`${head}: ${link}.`];
    this.#written.add(name);
    return [`${head}:`, `#### ${name}`, this.#fields(name, isRequest)];
  }

  #fields(name: string, isRequest: boolean): string {
    const shape = this.#schemas[name] ?? {};
    return fieldTable(shape, isRequest, shapeNames(this.#schemas, name), this.#schemas);
  }
}

function parameterTable(parameters: Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => {
    const properties = { [name]: { ...schema, description } };
    const [row = []] = rowsIn(fieldTable({ properties, required: required ? [name] : [] }, true));
    return [row[0] ?? '', place, row[1] ?? '', row[2] ?? ''];
  });
  return markdownTable(['Name', 'In', 'Type', 'Description'], rows);
}

/** The cells of a table's rows, without its head. */
function rowsIn(markdown: string): string[][] {
  return markdown
    .split('\n')
    .slice(2)
    .map((line) => line.slice(2, -2).split(/ (?<!\\)\| /));
}

function errorLine(responses: Record<string, Response>): string[] {
  const codes = Object.entries(responses)
    .filter(([, response]) => isError(response))
    .map(([status, { description }]) => {
      const names = [...new Set([...description.matchAll(/^`([^`]+)`:/gm)].map(([, name]) => `\`${name}\``))];
      return `${status} ${names.join(', ')}`;
    });
  return codes.length === 0 ? [] : [`Errors: ${codes.join('; ')}.`];
}

/** Whether a response has one of the shapes of errors. */
function isError(response: Response | undefined): boolean {
  const schema = response?.content?.['application/json']?.schema?.$ref ?? '';
  return schema.endsWith('Error');
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function resolve<T>(components: Record<string, T>, { $ref = '' }: Reference): T {
  const found = components[$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`The document has no ${$ref}.`);
  return found;
}
