/** A value as JSON keeps it. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [member: string]: JsonValue };

/** A value that its owner has written as JSON already: a long one takes longer than one turn of the event loop has. */
export class JsonText {
  constructor(readonly text: string) {}
}

export function textOfJson(value: JsonValue | JsonText): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}
