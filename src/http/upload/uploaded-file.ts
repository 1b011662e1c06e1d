/** An upload's file on the disk. */
import { VerbatimError } from '../../errors.js';
import { UNPRINTABLE } from '../../ledger/text.js';

export interface UploadedFile {
  sha256: string;
  /** The text of the file's FileHead. */
  head: string;
  bytes: number;
  /** As the client calls it, made storable; null: it gave no name. */
  fileName: string | null;
}

const MOST_NAME_CHARACTERS = 255;

/** Without folders and characters that no name may have, and not too long: a file is not refused for its name. */
export function storableName(given: string | undefined): string | null {
  const name = (given ?? '')
    .replace(/^.*[/\\]/su, '')
    .replace(new RegExp(UNPRINTABLE, 'gu'), '')
    .trim();
  return Array.from(name).slice(0, MOST_NAME_CHARACTERS).join('').trim() || null;
}

export function tooLarge(maxBytes: number): VerbatimError {
  return new VerbatimError(
    'file_too_large',
    `The file may have at most ${maxBytes.toLocaleString('en')} bytes. Compress it, or send it in parts.`,
    {
      param: 'audio',
    },
  );
}
