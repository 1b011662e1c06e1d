/** Kept transcripts as clients ask for them. */
import type { SpeechEngine } from '../../src/engine/types.js';
import { fakeAudio } from './fake-engine.js';
import { call, transcribe, type Answer, type CallInit, type Part } from './requests.js';
import { bearer, type TestServer } from './server.js';

type AnyServer = Pick<TestServer<SpeechEngine>, 'url' | 'port'>;
type Key = { rawKey: string } | string;

export const TRANSCRIPTS_PATH = '/api/v1/transcripts';

/** The id of a transcript that is kept. */
export async function keptId(server: AnyServer, key: Key, ...parts: Part[]): Promise<string> {
  const audio: Part[] = parts.some(([name]) => name === 'audio') ? [] : [['audio', fakeAudio(3)]];
  const { status, body, text } = await transcribe(server, { key, parts: [...audio, ['keep', 'true'], ...parts] });
  if (status !== 200) throw new Error(text);
  return String(body['id']);
}

export function library(server: AnyServer, key: Key, path = '', init: CallInit = {}): Promise<Answer> {
  const headers = { ...bearer(key), ...init.headers };
  return call(server, `${TRANSCRIPTS_PATH}${path}`, { ...init, headers });
}

export function sendJson(
  server: AnyServer,
  key: Key,
  path: string,
  { method = 'PATCH', body }: { method?: string; body: unknown },
): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return library(server, key, path, { method, headers, body: JSON.stringify(body) });
}
