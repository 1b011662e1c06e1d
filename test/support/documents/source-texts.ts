/** Texts in the sources of the service, as the compiler reads them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { packageRoot } from '../../../src/package-root.js';

/** The command line has words of its own; the rest runs in browsers, or in programs of clients. */
const LEFT_OUT = /^cli\/|\/browser\/|^client\//;

/** Sources of the service whose text has one of these, by their path in `src`. */
export function sourcesWith(parts: readonly string[]): ts.SourceFile[] {
  const files = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') && !LEFT_OUT.test(file))
    .map((file) => [file, readFileSync(join(packageRoot, 'src', file), 'utf8')] as const)
    .filter(([, text]) => parts.some((part) => text.includes(part)))
    .map(([file, text]) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
}

export function everyNode(source: ts.SourceFile, use: (node: ts.Node) => void): void {
  const look = (node: ts.Node): void => {
    use(node);
    ts.forEachChild(node, look);
  };
  look(source);
}

/** The text of an expression; `…` stands for what it is filled with. */
export function literalText(node: ts.Expression | undefined): string {
  if (node === undefined) return '';
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  if (ts.isBinaryExpression(node)) return literalText(node.left) + literalText(node.right);
  return '…';
}
