/** POST /transcribe: everything that can be refused is refused before the body is read. */
import { rm } from 'node:fs/promises';
import { VerbatimError } from '../../errors.js';
import type { Identity } from '../../ledger/types.js';
import { retryAfterSeconds } from '../../engine/speech/retry-after.js';
import { ClientGoneError, type InFlightRequest } from '../in-flight.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { authenticated } from '../auth.js';
import type { HttpDeps } from '../deps.js';
import type { Exchange } from '../exchange.js';
import { acceptBody, mediaType, refuseEncodedBody } from '../request-body.js';
import { transcriptionBody } from '../responses.js';
import type { Route } from '../route.js';
import { parseIdempotencyKey, parseOptions, TEXT_FIELDS } from './transcribe-fields.js';
import { receiveUpload, refuseOversizedBody } from '../upload.js';

const PATH = '/api/v1/transcribe';

export function transcribeRoutes(deps: HttpDeps): Route[] {
  return [
    {
      path: PATH,
      methods: {
        POST: authenticated(deps, async (exchange, identity) => {
          const idempotencyKey = refuseEarly(deps, exchange, identity);
          const { answer, uploadMs } = await inFlight(deps, exchange, identity, idempotencyKey);
          send(exchange, answer, uploadMs);
        }),
      },
    },
  ];
}

/** Returns the Idempotency-Key. A known one may have its answer stored, which costs neither credits nor time. */
function refuseEarly(deps: HttpDeps, exchange: Exchange, { account }: Identity): string | null {
  const { engine, ledger, settings, transcription } = deps;
  const { req } = exchange;
  if (mediaType(req.headers['content-type']) !== 'multipart/form-data') {
    throw new VerbatimError('unsupported_media_type', 'Send the body as multipart/form-data.');
  }
  refuseEncodedBody(exchange);
  refuseOversizedBody(req, settings.maxFileBytes);
  const idempotencyKey = parseIdempotencyKey(req.headers['idempotency-key']);
  if (idempotencyKey !== null && ledger.knowsIdempotencyKey(account.id, idempotencyKey))
    return idempotencyKey;
  if (ledger.balance(account.id).balance < transcription.minimumCredits) {
    throw new VerbatimError('insufficient_credits', 'The account has no credits left.');
  }
  const stats = engine.stats();
  if (stats.backlogSeconds >= stats.maxBacklogSeconds) {
    throw new VerbatimError('overloaded', 'The backlog is full.', {
      retryAfterSeconds: retryAfterSeconds(stats),
    });
  }
  return idempotencyKey;
}

/** The time in flight: from the first byte of the upload until nothing of the request is left. */
async function inFlight(
  deps: HttpDeps,
  exchange: Exchange,
  { account, key }: Identity,
  idempotencyKey: string | null,
): Promise<{ answer: TranscriptionAnswer; uploadMs: number }> {
  const flight = deps.inFlight.begin({ accountId: account.id, keyId: key.id });
  const onClose = (): void => flight.abort(new ClientGoneError());
  exchange.res.once('close', onClose);
  const timer = deps.timers.after(deps.settings.requestTimeoutMs, () => flight.abort(timedOut(deps)));
  const file = new UploadedFile(deps.uploads.newPath());
  try {
    return await receiveAndRun(deps, exchange, flight, { file, idempotencyKey });
  } catch (error) {
    // Whatever an aborted step failed with, the reason of the abort is what happened.
    throw flight.signal.aborted ? flight.signal.reason : error;
  } finally {
    timer.cancel();
    await file.remove();
    flight.end();
  }
}

class UploadedFile {
  private removed = false;

  constructor(readonly path: string) {}

  /** Waits for nothing when the file is gone already: a charged answer leaves at once. */
  async remove(): Promise<void> {
    if (this.removed) return;
    await rm(this.path, { force: true });
    this.removed = true;
  }
}

async function receiveAndRun(
  { settings, timers, transcription, uploads }: HttpDeps,
  exchange: Exchange,
  { accountId, keyId, signal }: InFlightRequest,
  { file, idempotencyKey }: { file: UploadedFile; idempotencyKey: string | null },
): Promise<{ answer: TranscriptionAnswer; uploadMs: number }> {
  acceptBody(exchange);
  const upload = await receiveUpload(exchange.req, {
    fileField: 'audio',
    textFields: TEXT_FIELDS,
    path: file.path,
    ensureDirectory: () => uploads.ensure(),
    maxFileBytes: settings.maxFileBytes,
    idleMs: settings.uploadIdleMs,
    timers,
    signal,
  });
  const uploadMs = performance.now() - exchange.startedAt;
  const answer = await transcription.run({
    requestId: exchange.id,
    accountId,
    keyId,
    endpoint: PATH,
    audio: { path: file.path, sha256: upload.sha256 },
    options: parseOptions(upload.fields),
    idempotencyKey,
    signal,
    learned: ({ audioSeconds, queueMs, inferenceMs }) => {
      if (audioSeconds !== undefined) exchange.facts.audioSeconds = audioSeconds;
      if (queueMs !== undefined) exchange.facts.queueMs = Math.round(queueMs);
      if (inferenceMs !== undefined) exchange.facts.inferenceMs = Math.round(inferenceMs);
    },
    discardAudio: () => file.remove(),
    render: (result) => JSON.stringify(transcriptionBody(result)),
  });
  return { answer, uploadMs };
}

function send(exchange: Exchange, answer: TranscriptionAnswer, uploadMs: number): void {
  const { id, body, replayed } = answer;
  const { queueMs, readMs, speechMs, translateMs } = answer.timings;
  if (id !== null) exchange.facts.transcriptionId = id;
  if (replayed) exchange.facts.replayed = true;
  const phases = {
    upload: uploadMs,
    queue: queueMs,
    decode: readMs,
    speech: speechMs,
    translate: translateMs,
  };
  const serverTiming = Object.entries(phases).map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`);
  exchange.jsonText(200, body, {
    'Server-Timing': serverTiming.join(', '),
    ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
  });
}

function timedOut({ engine, settings }: HttpDeps): VerbatimError {
  const seconds = settings.requestTimeoutMs / 1000;
  return new VerbatimError('overloaded', `The request was not done within ${seconds} s.`, {
    retryAfterSeconds: retryAfterSeconds(engine.stats()),
  });
}
