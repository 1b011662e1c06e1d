/** An account that has one of everything. */
import type { Ledger } from '../../src/ledger/ledger.js';
import { hold, settlement, type KeyHolder } from './support.js';
import { ROOM, transcript } from './transcript-support.js';

export const BROWSER = { browser: 'Firefox', address: '192.0.2.7' };
export const PASSWORD = {
  ...{ cost: 16, blockSize: 8, parallelization: 1 },
  ...{ salt: Buffer.alloc(16, 1), hash: Buffer.alloc(32, 2) },
};

export interface Grown {
  session: string;
  link: string;
  token: string;
  share: string;
}

/** Gives the account one of everything that can be stored on it; 3 credits are spent, 2 held by a job. */
export async function grow(ledger: Ledger, who: KeyHolder): Promise<Grown> {
  const { id: accountId } = who.account;
  const { access, jobs } = ledger;
  const begun = await ledger.idempotency.begin({ accountId, key: 'order 7', fingerprint: 'f' });
  if (begun.state !== 'new') throw new Error(begun.state);
  const answered = { idempotencyToken: begun.token, result: { text: 'a secret said aloud' } };
  const named = { fileName: 'interview.wav' };
  await ledger.holds.settle(await hold(ledger, who, 3, named), settlement(3, answered));
  const share = await growTranscript(ledger, accountId);
  const session = await access.setPassword(accountId, PASSWORD, BROWSER);
  await access.dashboardKey(accountId);
  for (const id of ['job_1', 'job_2']) {
    await jobs.create({
      ...{ id, accountId, keyId: who.key.id, requestId: `${id}'s request`, audioSeconds: 60, credits: 2, ...named },
      ...{ options: { prompt: 'Ann Smith' }, mostOpen: 9, idempotency: null },
      webhook: { url: 'https://example.com/hook', secret: 'whsec_QUJD' },
    });
  }
  await jobs.end(accountId, 'job_1', 'cancel');
  const { token: link } = await access.createLink(accountId);
  return { session: session.token, link, token: begun.token, share };
}

/** The token of a link to it. */
async function growTranscript({ transcripts }: Ledger, accountId: string): Promise<string> {
  const kept = transcript(accountId, {
    ...{ title: 'Talk of Ann', speakers: ['Ann'], source: { kind: 'api', name: 'Key of Ann' } },
    ...{ content: { text: 'a secret said aloud' }, searchTexts: ['a secret said aloud'] },
  });
  await transcripts.decide(accountId, { isOn: true, keepDays: 30, keepsAudio: false });
  await transcripts.keep(kept, ROOM);
  const text = { content: { text: 'spoken aloud' }, searchTexts: ['spoken aloud'], translationLanguage: null };
  await transcripts.update(accountId, kept.id, { version: 1, change: { by: 'Ann' }, text }, ROOM);
  const { token } = (await transcripts.createShare(accountId, kept.id, {
    ...{ expiresAt: '2027-01-01', includesAudio: false },
  }))!;
  return token;
}
