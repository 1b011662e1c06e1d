/** Jobs as clients send them. */
import type { SpeechEngine } from '../../src/engine/types.js';
import { fakeAudio } from './fake-engine.js';
import { call, form, type Answer, type CallInit, type Part } from './requests.js';
import { bearer, type TestServer } from './server.js';
import { until } from './until.js';

type AnyServer = Pick<TestServer<SpeechEngine>, 'url' | 'port'>;
type Key = { rawKey: string } | string;

export function postJob(
  server: AnyServer,
  key: Key,
  parts: readonly Part[] = [['audio', fakeAudio(3)]],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = form(parts);
  return call(server, '/api/v1/jobs', { method: 'POST', headers: { ...bearer(key), ...headers }, body });
}

export function jobCall(server: AnyServer, key: Key, path = '', init: CallInit = {}): Promise<Answer> {
  return call(server, `/api/v1/jobs${path}`, { ...init, headers: bearer(key) });
}

/** What the job is once it has ended. */
export async function endedJob(server: AnyServer, key: Key, id: string): Promise<Record<string, unknown>> {
  let body: Record<string, unknown> = {};
  await until(async () => {
    ({ body } = await jobCall(server, key, `/${id}`));
    return body['finished_at'] !== null;
  }, `the end of ${id}`);
  return body;
}

/**
 * The next reader of the job sees it running, and waits until it has ended: the engine has to hold it.
 */
export async function endsBehindTheNextLook(server: TestServer, id: string): Promise<void> {
  await server.engine.untilRunning(1);
  const { jobs } = server.ledger;
  const find = jobs.find.bind(jobs);
  jobs.find = async (accountId, asked) => {
    const seen = await find(accountId, asked);
    jobs.find = find;
    server.engine.release();
    await until(async () => (await find(accountId, id))?.finishedAt !== null, `the end of ${id}`);
    return seen;
  };
}
