/** Holds file names and identifiers of the C++ sources to the glossary. Prints each fault when run by itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { privateWord } from './glossary.mjs';

/** Comments and literals, which are passed over, and identifiers, with the `std::` before them. */
const TOKENS =
  /\/\/[^\n]*|\/\*[^]*?\*\/|R"([^()\\\s]{0,16})\([^]*?\)\1"|"(?:\\.|[^"\\\n])*"|\b\d[\w.']*|'(?:\\.|[^'\\\n])*'|(?:\bstd::)?\b[A-Za-z_]\w*/g;

/** One sentence for each identifier with a private word; names of the standard library (`std::visit`) pass. */
export function privateNames(text) {
  const names = new Set(
    [...text.matchAll(TOKENS)].map(([token]) => token).filter((token) => /^[A-Za-z_]\w*$/.test(token)),
  );
  return [...names].flatMap(faultsOf);
}

function faultsOf(name) {
  const found = privateWord(name);
  return found === undefined ? [] : [`"${name}" has the word "${found.word}"; the field says: ${found.field}.`];
}

/** The faults of every C++ source below `root`/native, each with its file. */
export function privateNamesBelow(root) {
  return readdirSync(join(root, 'native'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(cc|h)$/.test(file))
    .sort()
    .flatMap((file) =>
      [...faultsOf(basename(file)), ...privateNames(readFileSync(join(root, 'native', file), 'utf8'))].map(
        (fault) => `native/${file}: ${fault}`,
      ),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = privateNamesBelow(fileURLToPath(new URL('..', import.meta.url)));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
