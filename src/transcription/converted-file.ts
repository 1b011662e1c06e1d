/** A file that a client sent, and the one that it was converted to where the engine does not read it. */
import { rename, stat } from 'node:fs/promises';
import { removeFile } from '../remove-file.js';
import { convertedPath, type MeasuredAudio } from './work.js';

/** A conversion that is more than this many times larger than the upload is not kept on disk. */
const MOST_TIMES_LARGER = 4;

/** Keeps either the file or its conversion, under the file's path. `original`: the file. */
export async function keepOne(path: string, converted: string, { original }: { original: boolean }): Promise<void> {
  if (converted === path) return;
  if (original || (await isMuchLarger(converted, path))) await removeFile(converted);
  else await rename(converted, path);
}

async function isMuchLarger(converted: string, path: string): Promise<boolean> {
  const [sent, made] = await Promise.all([stat(path), stat(converted)]);
  return made.size > MOST_TIMES_LARGER * sent.size;
}

/** A conversion in the place of its file. */
export async function inPlace(measured: MeasuredAudio, path: string): Promise<MeasuredAudio> {
  if (measured.path !== path) await rename(measured.path, path);
  return { ...measured, path };
}

/** Both, as far as they are there. */
export async function discardAudio({ path }: { path: string }): Promise<void> {
  await removeFile(convertedPath(path));
  await removeFile(path);
}
