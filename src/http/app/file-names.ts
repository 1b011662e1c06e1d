/** The names of files that a browser saves. */
import type { OutgoingHttpHeaders } from 'node:http';
import { create } from 'content-disposition';

/** Most characters of a name without its extension: file systems take 255 bytes. */
const MOST_CHARACTERS = 60;

/** The header by which a file is saved, named after a title that a person wrote (RFC 6266). */
export function attachment(title: string, extension: string): OutgoingHttpHeaders {
  return { 'Content-Disposition': create(`${fileName(title)}.${extension}`) };
}

/** Without what systems do not allow in a name, and without the extension of the recording. */
function fileName(title: string): string {
  const name = title
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}<>:"/\\|?*]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s.]+|[\s.]+$/g, '');
  return Array.from(name).slice(0, MOST_CHARACTERS).join('').trim() || 'transcript';
}
