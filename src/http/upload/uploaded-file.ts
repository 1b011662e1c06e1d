/** An upload's file on the disk. */
import { VerbatimError } from '../../errors.js';

export interface UploadedFile {
  sha256: string;
  /** The text of the file's FileHead. */
  head: string;
  bytes: number;
}

export function tooLarge(maxBytes: number): VerbatimError {
  return new VerbatimError('file_too_large', `The file may have at most ${maxBytes} bytes.`, {
    param: 'audio',
  });
}
