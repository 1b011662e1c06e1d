/** The fields that the OpenAPI document lets a request have. */
import { openApiDocument } from '../../../src/http/openapi/document.js';

interface Named {
  $ref: string;
}
interface Operation {
  parameters?: Named[];
  /** Without a schema: the body is a file. */
  requestBody?: { content: Record<string, { schema?: Named }> };
}
type Item = Partial<Record<'get' | 'post' | 'patch' | 'delete', Operation>> & { parameters?: Named[] };

const document = openApiDocument('test') as unknown as {
  paths: Record<string, Item>;
  components: {
    parameters: Record<string, { name: string }>;
    schemas: Record<string, { properties: object }>;
  };
};
const nameOf = ({ $ref }: Named): string => $ref.split('/').at(-1)!;

export interface Field {
  method: string;
  path: string;
  name: string;
}

function fieldsOf(path: string, method: string, operation: Operation, item: Item): Field[] {
  const { parameters, schemas } = document.components;
  const named = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(
    (parameter) => parameters[nameOf(parameter)]!.name,
  );
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const members = bodies.flatMap(({ schema }) =>
    schema === undefined ? [] : Object.keys(schemas[nameOf(schema)]!.properties),
  );
  return [...named, ...members].map((name) => ({ method: method.toUpperCase(), path, name }));
}

/** Every field of every request in the OpenAPI document. */
export const fields = Object.entries(document.paths).flatMap(([path, item]) =>
  (['get', 'post', 'patch', 'delete'] as const).flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : fieldsOf(path, method, operation, item);
  }),
);
