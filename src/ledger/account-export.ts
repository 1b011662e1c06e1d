/**
 * All that is stored on an account, as one JSON document that is never held whole. What is stored as a hash, and
 * secrets, are not in it.
 */
import type { Session } from './access/types.js';
import type { HistoryEntry, RunningRequest } from './history.js';
import type { JobPlace, StoredJob } from './jobs.js';
import type { KeptAnswer, KeptWebhookEvent } from './administration.js';
import { noAccount } from './rows/accounts.js';
import type { Account, ApiKey, CreditPack, PackAmounts } from './types.js';
import type { JsonValue } from './json.js';
import type { Ledger } from './ledger.js';
import type { LibrarySettings, TranscriptChange, TranscriptShare } from './transcripts.js';

/** Rows that are in memory at once. */
const PER_PAGE = 100;

type Row = Record<string, JsonValue>;

/** The document in pieces. Throws `account_not_found` before the first. */
export async function* exportOf(ledger: Ledger, accountId: string, exportedAt: Date): AsyncGenerator<string> {
  const account = await ledger.administration.find(accountId);
  if (account === null) throw noAccount(accountId);
  const head = { exported_at: exportedAt.toISOString(), account: await accountRow(ledger, account) };
  yield JSON.stringify(head).slice(0, -1);
  for (const [section, rows] of Object.entries(sectionsOf(ledger, accountId))) {
    yield `,\n"${section}":[`;
    let before = '';
    for await (const row of rows) {
      yield `${before}\n${JSON.stringify(row)}`;
      before = ',';
    }
    yield ']';
  }
  yield '}\n';
}

function sectionsOf(ledger: Ledger, id: string): Record<string, AsyncIterable<Row>> {
  const { access, history, administration, jobs } = ledger;
  return {
    keys: whole(() => ledger.keys.list(id), keyRow),
    packs: whole(() => ledger.credits.packs(id, Number.MAX_SAFE_INTEGER), packRow),
    sessions: whole(() => access.listSessions(id), sessionRow),
    running: whole(() => history.running(id, Number.MAX_SAFE_INTEGER), runningRow),
    usage: paged(
      (before: string | null) => history.charged(id, { limit: PER_PAGE, before }),
      (entry) => entry.id,
      usageRow,
    ),
    jobs: paged(
      (after: JobPlace | null) => jobs.list(id, { status: null, limit: PER_PAGE, after }),
      (job) => job,
      jobRow,
    ),
    webhook_events: paged(
      (after: string | null) => administration.webhookEvents(id, { limit: PER_PAGE, after }),
      (event) => event.jobId,
      eventRow,
    ),
    answers: paged(
      (after: string | null) => administration.answers(id, { limit: PER_PAGE, after }),
      ({ place }) => place,
      ({ kept }) => answerRow(kept),
    ),
    library: whole(async () => [await ledger.transcripts.settings(id)], settingsRow),
    transcripts: transcriptRows(ledger, id),
  };
}

async function* whole<T>(read: () => Promise<T[]>, row: (item: T) => Row): AsyncGenerator<Row> {
  for (const item of await read()) yield row(item);
}

async function* paged<T, P>(
  read: (after: P | null) => Promise<T[]>,
  placeOf: (item: T) => P,
  row: (item: T) => Row,
): AsyncGenerator<Row> {
  for (let after: P | null = null; ;) {
    const page = await read(after);
    for (const item of page) yield row(item);
    const last = page.at(-1);
    if (last === undefined || page.length < PER_PAGE) return;
    after = placeOf(last);
  }
}

/** One at a time, since each may be long. */
async function* transcriptRows({ transcripts }: Ledger, accountId: string): AsyncGenerator<Row> {
  for (let after: string | null = null; ;) {
    const page = await transcripts.list(accountId, { words: null, limit: PER_PAGE, after });
    for (const { transcript } of page) {
      const { id, title, version, language, translationLanguage, speakers, model, source, audioBytes } = transcript;
      const content = await transcripts.content(accountId, id);
      // Deleted meanwhile.
      if (content === null) continue;
      const original = version === 1 ? null : await transcripts.content(accountId, id, 'original');
      const changes = await transcripts.changes(accountId, id, { limit: version, before: null });
      yield {
        ...{ id, title, version, created_at: transcript.createdAt, expires_at: transcript.expiresAt },
        ...{ duration_seconds: transcript.durationSeconds, language, translation_language: translationLanguage },
        ...{ speakers, model, source: { ...source }, audio_bytes: audioBytes },
        ...{ content_bytes: transcript.contentBytes, content: JSON.parse(content.content.text) as JsonValue },
        original: original === null ? null : (JSON.parse(original.content.text) as JsonValue),
        changes: changes.map(changeRow),
        shares: (await transcripts.shares(accountId, id)).map(shareRow),
      };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PER_PAGE) return;
    after = last.transcript.place;
  }
}

function settingsRow({ isOn, keepDays, keepsAudio, decidedAt }: LibrarySettings): Row {
  return { is_on: isOn, keep_days: keepDays, keeps_audio: keepsAudio, decided_at: decidedAt };
}

function changeRow({ version, at, change }: TranscriptChange): Row {
  return { version, at, change };
}

function shareRow({ id, createdAt, expiresAt, includesAudio }: TranscriptShare): Row {
  return { id, created_at: createdAt, expires_at: expiresAt, includes_audio: includesAudio };
}

async function accountRow(ledger: Ledger, account: Account): Promise<Row> {
  const { id, email, name, role, createdAt, suspendedAt } = account;
  const { passwordSetAt, linkExpiresAt } = await ledger.administration.signInMethods(id);
  return {
    ...{ id, email, name, role, created_at: createdAt, suspended_at: suspendedAt },
    ...{ password_set_at: passwordSetAt, sign_in_link_expires_at: linkExpiresAt },
  };
}

function keyRow({ id, name, prefix, scopes, createdAt, lastUsedAt, revokedAt }: ApiKey): Row {
  return {
    ...{ id, name, prefix, scopes },
    ...{ created_at: createdAt, last_used_at: lastUsedAt, revoked_at: revokedAt },
  };
}

function packRow(pack: CreditPack & PackAmounts): Row {
  const { id, purchased, remaining, held, spent, expired, createdAt, expiresAt, paymentId, note } = pack;
  return {
    ...{ id, purchased, remaining, held, spent, expired },
    ...{ created_at: createdAt, expires_at: expiresAt, payment_id: paymentId, note },
  };
}

function sessionRow({ id, method, browser, address, createdAt, seenAt }: Session): Row {
  return { id, method, browser, address, created_at: createdAt, seen_at: seenAt };
}

function runningRow({ requestId, fileName, credits, at }: RunningRequest): Row {
  return { request_id: requestId, file_name: fileName, credits, at };
}

function usageRow(entry: HistoryEntry): Row {
  const { requestId, keyId, transcriptionId, endpoint, audioSeconds, minutes, language, model, credits, at } = entry;
  return {
    ...{ request_id: requestId, key_id: keyId, transcription_id: transcriptionId, endpoint, file_name: entry.fileName },
    ...{ audio_seconds: audioSeconds, minutes, language, model, credits, at },
  };
}

function jobRow(job: StoredJob): Row {
  const { id, keyId, requestId, status, options, audioSeconds, outcome, error, webhookUrl } = job;
  return {
    ...{ id, key_id: keyId, request_id: requestId, status, options, file_name: job.fileName },
    audio_seconds: audioSeconds,
    ...{ created_at: job.createdAt, started_at: job.startedAt, finished_at: job.finishedAt },
    ...{ result: outcome?.result ?? null, credits: outcome?.charge.creditsUsed ?? null },
    ...{ error: error === null ? null : { ...error }, webhook_url: webhookUrl },
  };
}

function eventRow({ id, jobId, createdAt, attempts, deliveredAt, lastProblem }: KeptWebhookEvent): Row {
  return {
    ...{ id, job_id: jobId, created_at: createdAt, attempts },
    ...{ delivered_at: deliveredAt, last_problem: lastProblem },
  };
}

function answerRow({ idempotencyKey, createdAt, expiresAt, answer }: KeptAnswer): Row {
  return { idempotency_key: idempotencyKey, created_at: createdAt, expires_at: expiresAt, answer };
}
