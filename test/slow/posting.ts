/** One request after the other over a pool of connections, as the slow tests of a running server send them. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { FormData, type Pool } from 'undici';

export interface Posted {
  status: number;
  /** Seconds, as the header has it; '-' without one. */
  retryAfter: string;
  ms: number;
}

/** Sends the file of that path, or the bytes, to be transcribed, and reads the answer to its end. */
export async function postClip(pool: Pool, key: string, clip: string | Blob): Promise<Posted> {
  const body = new FormData();
  if (typeof clip === 'string') body.append('audio', await openAsBlob(clip), basename(clip));
  else body.append('audio', clip, 'clip.wav');
  const start = performance.now();
  const response = await pool.request({
    method: 'POST',
    path: '/api/v1/transcribe',
    headers: { authorization: `Bearer ${key}` },
    body,
  });
  await response.body.dump();
  return {
    status: response.statusCode,
    retryAfter: String(response.headers['retry-after'] ?? '-'),
    ms: performance.now() - start,
  };
}
