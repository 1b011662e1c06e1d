/** The fields of a shape of the OpenAPI document, as rows of a table. */
import { table } from './marked-parts.js';

export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minLength?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
}

/** The name of the shape that a part of another one is; undefined: it has none. */
export type NameOf = (schema: Schema) => string | undefined;

/** `isRequest`: fields are required or not; of an answer they are there, or may be absent. */
export function fieldTable(schema: Schema, isRequest: boolean, nameOf: NameOf): string {
  const rows = (schema.anyOf ?? [schema]).flatMap((part) => rowsOf(part, '', isRequest, nameOf));
  return table(['Field', 'Type', 'Description'], unique(rows));
}

/** Several shapes may have a field in common. */
function unique(rows: string[][]): string[][] {
  return [...new Map(rows.map((row) => [row.join('\n'), row])).values()];
}

function rowsOf(schema: Schema, prefix: string, isRequest: boolean, nameOf: NameOf): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const isNeeded = schema.required?.includes(name) === true;
    const note = isRequest === isNeeded ? (isRequest ? ', required' : ', optional') : '';
    const type = typeOf(field, nameOf);
    const row = [`\`${path}\``, type + note, described(field)];
    return [row, ...inner(field, path, nameOf).flatMap(([part, at]) => rowsOf(part, at, isRequest, nameOf))];
  });
}

/** Objects in a field that have no name of their own, each with what stands before its members. */
function inner(field: Schema, path: string, nameOf: NameOf): [Schema, string][] {
  if (nameOf(field) !== undefined) return [];
  if (field.items !== undefined) return inner(field.items, `${path}[]`, nameOf);
  if (field.anyOf !== undefined) return field.anyOf.flatMap((part) => inner(part, path, nameOf));
  return field.properties === undefined ? [] : [[field, `${path}.`]];
}

function typeOf(schema: Schema, nameOf: NameOf): string {
  const name = nameOf(schema);
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`;
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((part) => typeOf(part, nameOf)))].join(' or ');
  if (schema.items !== undefined) return `array of ${typeOf(schema.items, nameOf)}`;
  if (schema.enum !== undefined) return [...schema.enum.map((value) => `\`${String(value)}\``), ...nullOf(schema)].join(', ');
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.format === 'binary') return 'file';
  const [plain = 'any', ...others] = [schema.type ?? []].flat();
  return [schema.format === 'date-time' ? 'time' : plain, ...others].join(' or ');
}

function nullOf({ type, enum: values = [] }: Schema): string[] {
  return [type].flat().includes('null') && !values.includes(null) ? ['null'] : [];
}

/** The description, and what a value may be. */
function described(schema: Schema): string {
  const { description = '', default: fallback } = schema;
  const bounds = boundsOf(schema);
  const facts = [
    ...(bounds === '' ? [] : [`${bounds}.`]),
    ...(fallback === undefined ? [] : [`Default: \`${String(fallback)}\`.`]),
  ];
  return [description.replaceAll('\n', ' '), ...facts].filter(Boolean).join(' ');
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `${number(minimum)} to ${number(maximum)}`;
  if (maxLength !== undefined) return `${minLength === undefined ? 'At most' : `${minLength} to`} ${number(maxLength)} characters`;
  return maxItems === undefined ? '' : `At most ${number(maxItems)}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
