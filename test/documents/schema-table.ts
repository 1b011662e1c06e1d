/** The fields of a shape of the OpenAPI document, as rows of a table. */
import { asProse, markdownTable } from './marked-parts.js';

export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: string | number | boolean;
  default?: string | number | boolean;
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

/** The name of the shape that a part of another one is, or has all the fields of; undefined: there is none. */
export type NameOf = (schema: Schema) => string | undefined;

/** Shapes by their names, as references. `itself`: the one whose table is written. */
export function shapeNames(shapes: Readonly<Record<string, Schema>>, itself: string): NameOf {
  const known = Object.entries(shapes)
    .filter(([name, { properties }]) => name !== itself && properties !== undefined)
    .map(([name, { properties = {} }]) => ({ name, fields: Object.entries(properties).map(asText) }))
    .sort((one, other) => other.fields.length - one.fields.length);
  return ({ properties = {} }) => {
    const fields = new Set(Object.entries(properties).map(asText));
    return known.find(
      (shape) => 2 * shape.fields.length > fields.size && shape.fields.every((field) => fields.has(field)),
    )?.name;
  };
}

/** Shapes are copied where they are optional: they are known by what is in them. */
function asText([name, schema]: [string, Schema]): string {
  return JSON.stringify([name, schema]);
}

/** `isRequest`: fields are required or not; of an answer they are there, or may be absent. */
export function fieldTable(
  schema: Schema,
  isRequest: boolean,
  nameOf: NameOf = () => undefined,
  shapes: Readonly<Record<string, Schema>> = {},
): string {
  const base = nameOf(schema);
  const own = base === undefined ? schema : without(schema, shapes[base]);
  const fields = (part: Schema): string =>
    markdownTable(['Field', 'Type', 'Description'], unique(rowsOf(part, '', { isRequest, nameOf, shapes })));
  if (own.anyOf !== undefined)
    return variantsOf(own)
      .map((part) => `${variantOf(part)}:\n\n${fields(part)}`)
      .join('\n\n');
  const head = base === undefined ? '' : `The fields of ${linkTo(base)}, and these:\n\n`;
  return head + fields(own);
}

function variantsOf(schema: Schema): Schema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(variantsOf);
}

/** What one of several shapes is known by: a field with one value, or the fields that it always has. */
function variantOf({ properties = {}, required = [] }: Schema): string {
  const [field, schema] =
    Object.entries(properties).find(([, { enum: values, const: value }]) => values?.length === 1 || value) ?? [];
  if (field !== undefined) return `Where \`${field}\` is \`${String(schema?.const ?? schema?.enum?.[0])}\``;
  return `With ${required.map((name) => `\`${name}\``).join(', ')}`;
}

function linkTo(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** The fields that a shape has beside those of another one. */
function without(schema: Schema, base: Schema = {}): Schema {
  const added = Object.entries(schema.properties ?? {}).filter(([name]) => base.properties?.[name] === undefined);
  return { ...schema, properties: Object.fromEntries(added) };
}

interface Writing {
  isRequest: boolean;
  nameOf: NameOf;
  shapes: Readonly<Record<string, Schema>>;
}

/** Several shapes may have a field in common. */
function unique(rows: string[][]): string[][] {
  return [...new Map(rows.map((row) => [row.join('\n'), row])).values()];
}

function rowsOf(schema: Schema, prefix: string, writing: Writing): string[][] {
  const { isRequest, nameOf } = writing;
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const isNeeded = schema.required?.includes(name) === true;
    const note = isRequest === isNeeded ? (isRequest ? ', required' : ', optional') : '';
    const row = [`\`${path}\``, typeOf(field, nameOf) + note, described(field)];
    return [row, ...inner(field, path, writing).flatMap(([part, at]) => rowsOf(part, at, writing))];
  });
}

/** Objects in a field, each with what stands before its members: those that no other shape describes. */
function inner(field: Schema, path: string, writing: Writing): [Schema, string][] {
  if (field.items !== undefined) return inner(field.items, `${path}[]`, writing);
  if (field.anyOf !== undefined) return field.anyOf.flatMap((part) => inner(part, path, writing));
  if (field.properties === undefined) return [];
  const base = writing.nameOf(field);
  return [[base === undefined ? field : without(field, writing.shapes[base]), `${path}.`]];
}

function typeOf(schema: Schema, nameOf: NameOf): string {
  const name = nameOf(schema);
  if (name !== undefined) return linkTo(name);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((part) => typeOf(part, nameOf)))].join(' or ');
  if (schema.items !== undefined) return `array of ${typeOf(schema.items, nameOf)}`;
  if (schema.enum !== undefined)
    return [...schema.enum.map((value) => `\`${String(value)}\``), ...nullOf(schema)].join(', ');
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
  return [asProse(description), ...facts].filter(Boolean).join(' ');
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `${number(minimum)} to ${number(maximum)}`;
  if (maxLength !== undefined)
    return `${minLength === undefined ? 'At most' : `${minLength} to`} ${number(maxLength)} characters`;
  return maxItems === undefined ? '' : `At most ${number(maxItems)}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
