/** No file imports itself by way of others. Imports of types count. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import ts from 'typescript';

/** File -> the files of the project that it imports. Read once a run. */
const importsOf = new Map();

function targetOf(file, specifier) {
  if (!specifier.startsWith('.')) return null;
  const target = resolve(dirname(file), specifier.replace(/\.js$/, '.ts'));
  return target.endsWith('.ts') && existsSync(target) ? target : null;
}

export function imports(file) {
  let found = importsOf.get(file);
  if (found === undefined) {
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
    found = importedFiles.map(({ fileName }) => targetOf(file, fileName)).filter((target) => target !== null);
    importsOf.set(file, found);
  }
  return found;
}

/** The shortest way from one file to another; null: there is none. */
export function wayTo(start, end) {
  const cameFrom = new Map([[start, null]]);
  for (const file of cameFrom.keys()) {
    if (file === end) {
      const way = [];
      for (let at = file; at !== null; at = cameFrom.get(at)) way.unshift(at);
      return way;
    }
    for (const next of imports(file)) if (!cameFrom.has(next)) cameFrom.set(next, file);
  }
  return null;
}

export default {
  meta: { type: 'problem', schema: [], messages: { circle: 'Imports itself: {{way}}.' } },
  create(context) {
    function check(node) {
      const target = node.source && targetOf(context.filename, node.source.value);
      const way = target && wayTo(target, context.filename);
      if (!way) return;
      const names = [context.filename, ...way].map((file) => relative(context.cwd, file));
      context.report({ node, messageId: 'circle', data: { way: names.join(' -> ') } });
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check };
  },
};
