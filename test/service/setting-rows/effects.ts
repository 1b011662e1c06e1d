/** What rows look at in a running server, to see what a variable does. */
import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { samplePath } from '../../native/support.js';
import { call, PART_HEAD, RawClient, transcribe, uploadHead, type Answer } from '../../support/requests.js';
import { Served } from '../../support/served.js';
import { until } from '../../support/until.js';

/** As the line `ready` of its log has it. */
export async function agentPortOf(served: Served): Promise<number | null> {
  const ready = (): string | undefined => served.stderr.split('\n').find((line) => line.includes('"msg":"ready"'));
  await until(() => ready() !== undefined);
  return (JSON.parse(ready()!) as { agentPort: number | null }).agentPort;
}

export async function answerTo(
  served: Served,
  clip: string,
  fields: readonly (readonly [string, string])[] = [],
): Promise<Answer> {
  const audio = readFileSync(samplePath(clip));
  return transcribe(served, {
    key: await served.key(),
    parts: [['audio', audio], ...fields.map(([name, value]): [string, string] => [name, value])],
  });
}

/** Of so many connections that stay open at the same time, how many are answered with this status. */
export async function connectionsAnswered(served: Served, count: number, status: number): Promise<number> {
  const { hostname, port } = new URL(served.url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => undefined);
      socket.write('GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n');
      const [head] = (await once(socket, 'data')) as [Buffer];
      return Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString())?.[1]);
    }),
  );
  for (const socket of sockets) socket.destroy();
  return statuses.filter((one) => one === status).length;
}

/**
 * A second request while an upload of the same account has not ended gets this status: tried again where the upload
 * itself came while the place of the request before it was still taken.
 */
export async function besideAnUpload(served: Served, expected: number): Promise<void> {
  const head = uploadHead(await served.key(), { length: 1_000_000 }) + PART_HEAD;
  await until(async () => {
    const upload = await RawClient.open(served);
    upload.send(head);
    try {
      return (await answerTo(served, 'en-wav16.wav')).status === expected;
    } finally {
      upload.destroy();
    }
  });
}

export function metricsOf(served: Served, token?: string): Promise<Answer> {
  return call(served, '/metrics', token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
}

/** The figure of a gauge without labels. */
export async function gauge(served: Served, name: string, token?: string): Promise<number> {
  const { text } = await metricsOf(served, token);
  return Number(new RegExp(`^verbatim_${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

export type Call = ReturnType<Served['calls']>[number];

/** Of the speech model, with either decoder. */
export function loads(served: Served): Call[] {
  return [...served.calls('loadSpeechModel'), ...served.calls('loadRecogniser')];
}

/** What computes: slots of whisper.cpp, encoders of the batched decoder. */
export function makings(served: Served): Call[] {
  return [...served.calls('createSlot'), ...served.calls('createEncoder')];
}

/** What a server says that does not start with these. */
export async function settingRefusal(environment: Readonly<Record<string, string>>): Promise<string> {
  const served = Served.start(environment);
  try {
    expect(await served.ended()).not.to.equal(0);
    return served.stderr;
  } finally {
    await served.stop();
  }
}
