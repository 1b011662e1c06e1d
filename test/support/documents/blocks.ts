/** The blocks of code in the documents that a person reads. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/package-root.js';

export interface Block {
  /** Path of its document, from the root of the repository. */
  document: string;
  /** Of the opening fence, from 1. */
  line: number;
  /** What stands behind the opening fence; empty: nothing. */
  language: string;
  code: string;
  /** Why no test runs it, as the comment before it says. null: there is no such comment. */
  notRun: string | null;
  /** The file that the sentence before it tells the reader to save it as. null: none. */
  file: string | null;
}

const NOT_RUN = /^<!-- not run: (.+) -->$/;
const SAVED_AS = /`([^`]+)`[^`]*:$/;

/** Everything that a person reads: README, the pages in docs/, and the pages of models and of the client. */
export function documents(): string[] {
  const pages = readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' });
  const inDocs = pages.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'models/README.md', 'src/client/README.md', ...inDocs.sort()];
}

export function documentText(document: string): string {
  return readFileSync(join(packageRoot, document), 'utf8');
}

export function blocksOf(document: string, text = documentText(document)): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = '', fence, language = ''] = /^(\s*)(```+)([\w-]*)/.exec(lines[index]!) ?? [];
    if (fence === undefined) continue;
    const opening = index;
    const code: string[] = [];
    for (index += 1; index < lines.length && lines[index]!.trim() !== fence; index += 1)
      code.push(lines[index]!.startsWith(indent) ? lines[index]!.slice(indent.length) : lines[index]!);
    const before = lines
      .slice(0, opening)
      .join('\n')
      .trimEnd()
      .split(/\n\s*\n/)
      .at(-1)!
      .replaceAll(/\s+/g, ' ')
      .trim();
    const [notRun, file] = [NOT_RUN, SAVED_AS].map((pattern) => pattern.exec(before)?.[1] ?? null) as [
      string | null,
      string | null,
    ];
    blocks.push({ document, line: opening + 1, language, code: code.join('\n'), notRun, file });
  }
  return blocks;
}
