/**
 * Deepgram's client in a process of its own, where fetch is Node's: the undici that the server uses would take its
 * place in this one, and refuses the client's Content-Length.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Deepgram } from '@deepgram/sdk';

export interface FileCall {
  baseUrl: string;
  apiKey: string;
  /** A file, or with `url` the URL that is sent in its place. */
  path?: string;
  url?: string;
  /** Whether it is sent as a stream; else as a buffer. */
  asStream?: boolean;
  options?: Deepgram.listen.v1.MediaTranscribeRequestOctetStream;
}

export interface ClientError {
  statusCode?: number;
  body?: { err_code: string; err_msg: string };
}

const SCRIPT = `
const { createReadStream, readFileSync } = require('node:fs');
const { DeepgramClient } = require('@deepgram/sdk');
const { baseUrl, apiKey, path, url, asStream, options = {} } = JSON.parse(process.argv[1]);
const { media } = new DeepgramClient({ apiKey, baseUrl }).listen.v1;
const call = url !== undefined
  ? media.transcribeUrl({ url, ...options })
  : media.transcribeFile(asStream ? createReadStream(path) : readFileSync(path), options);
call.then(
  (answer) => console.log(JSON.stringify({ answer })),
  ({ statusCode, body, message }) => console.log(JSON.stringify({ error: { statusCode, body, message } })),
);
`;

/** What the client resolves to, or the error that it throws. */
export async function deepgramFile(
  call: FileCall,
): Promise<{ answer?: Deepgram.ListenV1Response; error?: ClientError }> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', SCRIPT, JSON.stringify(call)], {
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout) as { answer?: Deepgram.ListenV1Response; error?: ClientError };
}
