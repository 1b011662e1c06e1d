/** A body that is an audio file and nothing else: streamed to disk and hashed on the way, in bounded memory. */
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { removeFile } from '../../remove-file.js';
import { BodyReader, type BodyRules } from './body-reader.js';
import { FileSink } from './file-sink.js';
import { tooLarge, type UploadedFile } from './uploaded-file.js';

export interface RawUploadOptions extends BodyRules {
  /** Where the file goes; the caller removes it once receiveRawUpload has resolved. */
  path: string;
  /** Sees to it that the directory of `path` is there; asked where it is not. */
  ensureDirectory: () => Promise<void>;
  maxFileBytes: number;
}

/** Resolves and rejects as receiveUpload() does. */
export async function receiveRawUpload(req: IncomingMessage, options: RawUploadOptions): Promise<UploadedFile> {
  const { path, maxFileBytes, ensureDirectory } = options;
  const refuse = (bytes: number): Error | null => (bytes > maxFileBytes ? tooLarge(maxFileBytes) : null);
  const sink = new FileSink(path, { refuse, ensureDirectory });
  const body = new BodyReader(req, options, {
    take: (chunk, done) => {
      sink.write(chunk);
      sink.whenIdle(done);
    },
    end: () => sink.end(),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      finished(sink, (error) => (error ? reject(error) : resolve()));
      body.begin(reject);
    });
    return { bytes: sink.bytes, sha256: sink.sha256(), head: sink.head.text, fileName: null };
  } catch (error) {
    req.pause();
    await closed(sink);
    await removeFile(path);
    throw error;
  } finally {
    body.stop();
  }
}

function closed(sink: FileSink): Promise<void> {
  if (sink.closed) return Promise.resolve();
  return new Promise((resolve) => {
    sink.once('close', resolve);
    sink.destroy();
  });
}
