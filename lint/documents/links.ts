/** Every link within the documents leads to a file, and to a heading of it where it names one. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { documentPaths, parseDocument, type ParsedDocument } from './markdown.js';

/** One sentence for each link that leads nowhere. */
export function brokenLinks(documents: readonly ParsedDocument[], exists: (path: string) => boolean): string[] {
  const byPath = new Map(documents.map((document) => [document.path, document]));
  return documents.flatMap((document) =>
    document.links
      .filter(({ target }) => !/^(https?:|mailto:)/.test(target))
      .flatMap(({ target, line }) => {
        const problem = problemOf(document.path, decodeURI(target), byPath, exists);
        return problem === null ? [] : [`${document.path}:${line}: ${target}: ${problem}`];
      }),
  );
}

function problemOf(
  from: string,
  target: string,
  documents: ReadonlyMap<string, ParsedDocument>,
  exists: (path: string) => boolean,
): string | null {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (path.startsWith('..')) return 'leads out of the repository';
  if (!exists(path)) return 'there is no such file';
  const linked = documents.get(path);
  if (anchor === undefined || linked === undefined || linked.anchors.has(anchor)) return null;
  return `${path} has no heading for this anchor`;
}

if (require.main === module) {
  const broken = brokenLinks(
    documentPaths().map((path) => parseDocument(path)),
    existsSync,
  );
  for (const sentence of broken) process.stderr.write(`${sentence}\n`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}
