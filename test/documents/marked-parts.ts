/** Parts of a document that are made from the code. Each stands between two marks; all else is written by hand. */
import { format } from 'prettier';

/** Markdown by the names of the parts. */
export type Parts = Readonly<Record<string, string>>;

const MARKED = /<!-- generated: ([^>]+?) -->\n[^]*?<!-- end -->/g;

/** The document with its parts as the code gives them now. Throws an Error that names a part that nobody makes. */
export async function withParts(document: string, parts: Parts): Promise<string> {
  for (const [, name = ''] of document.matchAll(MARKED))
    if (parts[name] === undefined) throw new Error(`Nothing generates the part "${name}".`);
  const formatted = new Map<string, string>();
  for (const name of partsOf(document)) formatted.set(name, await inLines(parts[name] ?? ''));
  return document.replaceAll(
    MARKED,
    (_, name: string) => `<!-- generated: ${name} -->\n\n${formatted.get(name) ?? ''}\n<!-- end -->`,
  );
}

/** The names of the parts that a document has. */
export function partsOf(document: string): string[] {
  return [...document.matchAll(MARKED)].map(([, name = '']) => name);
}

/** Prose in lines of 120 characters, tables with straight columns. */
function inLines(markdown: string): Promise<string> {
  return format(markdown, { parser: 'markdown', printWidth: 120, proseWrap: 'always', singleQuote: true });
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A text of the code in one line of Markdown: what is in angle brackets is no HTML. */
export function asProse(text: string): string {
  const parts = text.replaceAll('\n', ' ').split(/(`[^`]*`)/);
  return parts.map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;'))).join('');
}
