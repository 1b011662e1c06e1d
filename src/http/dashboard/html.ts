/**
 * Pages as tagged templates: what is put in is escaped, unless it is a template's own result. Thirty lines instead of a
 * package, because the type checker then sees every value that goes into a page; a template language's files it would
 * not see.
 */
export class Html {
  constructor(readonly text: string) {}
}

export type HtmlValue = Html | string | number | null | false | undefined | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * null, false and undefined are nothing. Throws an Error where the value of an attribute would stand without quotes.
 */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = literals[0] ?? '';
  for (const [index, value] of values.entries()) {
    if (isUnquoted(text)) throw new Error(`Quotes are missing: ${text.slice(text.lastIndexOf('<'))}`);
    text += rendered(value) + (literals[index + 1] ?? '');
  }
  return new Html(text);
}

/** Whether the next value would be an attribute's, without quotes. */
function isUnquoted(before: string): boolean {
  if (!/=\s*$/.test(before)) return false;
  const tag = before.slice(before.lastIndexOf('<'));
  return !tag.includes('>') && (tag.split('"').length - 1) % 2 === 0;
}

function rendered(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return value.map(rendered).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
