/** The command line of this very build, as a program to start. */
import { extname, join } from 'node:path';

/** Its entry point. */
export const MAIN = join(__dirname, '..', '..', 'src', `main${extname(__filename)}`);

/**
 * From the sources (tests, tsx) a child needs the loader that its parent has: words for node before the file's name.
 */
export function loaderOf(file: string): string[] {
  return extname(file) === '.ts' ? ['--import', 'tsx'] : [];
}

/** Words for node; `main` is an entry point, of the sources or of a build. */
export function nodeWords(main: string, words: readonly string[]): string[] {
  return [...loaderOf(main), main, ...words];
}
