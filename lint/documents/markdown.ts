/** The documents of this project, and what is in them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Slugger from 'github-slugger';
import MarkdownIt from 'markdown-it';

const ROOT = join(__dirname, '..', '..');
const PARSER = new MarkdownIt({ html: true });
/** Not written by us, or no longer changed. */
const LEFT_OUT = /^(test\/fixtures|models\/train\/run)\//;

export interface Link {
  /** As it is written. */
  target: string;
  /** The first line of the paragraph that has it, from 1. */
  line: number;
}

export interface ParsedDocument {
  /** From the root of the repository. */
  path: string;
  links: Link[];
  /** What links may name after `#`. */
  anchors: Set<string>;
  /** Paragraphs and items of lists, without code and tables. Code within a line is one word. */
  paragraphs: string[];
}

/** Every Markdown file that git has or would add. */
export function documentPaths(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--deduplicate', '*.md'], {
    ...{ cwd: ROOT, encoding: 'utf8' },
  });
  return listed.split('\n').filter((path) => path !== '' && !LEFT_OUT.test(path));
}

export function parseDocument(path: string, text = readFileSync(join(ROOT, path), 'utf8')): ParsedDocument {
  const parsed: ParsedDocument = { path, links: [], anchors: new Set(), paragraphs: [] };
  const slugger = new Slugger();
  let inTable = false;
  const tokensOfText = PARSER.parse(text, {});
  for (const { content } of tokensOfText.flatMap(({ type, children, ...token }) => children ?? [{ type, ...token }]))
    for (const [, id = ''] of content.matchAll(/<a id="([^"]+)"/g)) parsed.anchors.add(id);
  tokensOfText.forEach((token, index, tokens) => {
    if (token.type === 'table_open' || token.type === 'table_close') inTable = token.type === 'table_open';
    if (token.type !== 'inline') return;
    const children = token.children ?? [];
    for (const child of children) {
      const target = child.attrGet('href') ?? child.attrGet('src');
      if (target !== null) parsed.links.push({ target, line: (token.map?.[0] ?? 0) + 1 });
    }
    const words = children.map(({ type, content }) =>
      type === 'code_inline' ? content.replaceAll(/\s+/g, '_') : content,
    );
    const isHeading = tokens[index - 1]?.type === 'heading_open';
    if (isHeading) parsed.anchors.add(slugger.slug(children.map(({ content }) => content).join('')));
    else if (!inTable) parsed.paragraphs.push(words.map((word) => word || ' ').join(''));
  });
  return parsed;
}
