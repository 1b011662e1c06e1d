/** POST /transcribe: everything that can be refused is refused before the body is read. */
import { rm } from 'node:fs/promises';
import { VerbatimError } from '../../errors.js';
import type { Identity } from '../../ledger/types.js';
import { ClientGoneError, type InFlightRequest } from '../in-flight.js';
import type {
  TranscriptionAnswer,
  TranscriptionFacts,
  TranscriptionOutcome,
  TranscriptionRequest,
} from '../../transcription/transcription.js';
import { authenticated } from '../auth.js';
import type { HttpDeps } from '../deps.js';
import type { Exchange } from '../exchange.js';
import { acceptBody, mediaType, refuseEncodedBody } from '../request-body.js';
import { headerOf } from '../headers.js';
import { readParameter } from '../parameter.js';
import type { AnswerFormat } from '../../transcription/options.js';
import type { Route } from '../route.js';
import { parseOptions, TEXT_FIELDS } from './transcribe-fields.js';
import { IdempotencyKey } from './transcribe-schema.js';
import { IdempotencyReplayed, ServerTiming, timing } from './transcription-schema.js';
import { writtenAnswer } from './written-answer.js';
import { receiveUpload, refuseOversizedBody } from '../upload.js';

const PATH = '/api/v1/transcribe';

export function transcribeRoutes(deps: HttpDeps): Route[] {
  return [
    {
      path: PATH,
      methods: {
        POST: authenticated(deps, async (exchange, identity) => {
          const idempotencyKey = await refuseEarly(deps, exchange, identity);
          const { outcome, format, uploadMs } = await inFlight(deps, exchange, identity, idempotencyKey);
          noteFacts(exchange, outcome.facts);
          if ('error' in outcome) throw outcome.error;
          send(exchange, outcome.answer, { format, uploadMs });
        }),
      },
    },
  ];
}

/** Returns the Idempotency-Key. A known one may have its answer stored, which costs neither credits nor time. */
async function refuseEarly(
  deps: HttpDeps,
  exchange: Exchange,
  { account }: Identity,
): Promise<string | null> {
  const { engine, ledger, settings, transcription } = deps;
  const { req } = exchange;
  if (mediaType(req.headers['content-type']) !== 'multipart/form-data') {
    throw new VerbatimError('unsupported_media_type', 'Send the body as multipart/form-data.');
  }
  refuseEncodedBody(exchange);
  refuseOversizedBody(req, settings.maxFileBytes);
  const idempotencyKey = readParameter(IdempotencyKey, req.headers['idempotency-key'], null);
  if (idempotencyKey !== null && (await ledger.knowsIdempotencyKey(account.id, idempotencyKey)))
    return idempotencyKey;
  const { balance } = await ledger.balance(account.id);
  if (balance < transcription.minimumCredits) {
    throw new VerbatimError('insufficient_credits', 'The account has no credits left.');
  }
  engine.checkRoom(account.id);
  return idempotencyKey;
}

/** The time in flight: from the first byte of the upload until nothing of the request is left. */
async function inFlight(
  deps: HttpDeps,
  exchange: Exchange,
  { account, key }: Identity,
  idempotencyKey: string | null,
): Promise<{ outcome: TranscriptionOutcome; format: AnswerFormat; uploadMs: number }> {
  const flight = deps.inFlight.begin({ accountId: account.id, keyId: key.id });
  abortOnClose(exchange, flight);
  const timer = deps.timers.after(deps.settings.requestTimeoutMs, () => flight.abort(timedOut(deps)));
  try {
    const request = await receive(deps, exchange, flight, idempotencyKey);
    const uploadMs = performance.now() - exchange.startedAt;
    abortOnHangUp(exchange, flight);
    const outcome = await deps.transcription.run(request);
    // Whatever an aborted step failed with, the reason of the abort is what happened.
    if ('error' in outcome && flight.signal.aborted) outcome.error = flight.signal.reason;
    return { outcome, format: request.options.format, uploadMs };
  } catch (error) {
    throw flight.signal.aborted ? flight.signal.reason : error;
  } finally {
    timer.cancel();
    flight.end();
  }
}

function abortOnClose({ res }: Exchange, flight: InFlightRequest): void {
  const onClose = (): void => flight.abort(new ClientGoneError());
  // It may have happened while the books were asked.
  if (res.closed) onClose();
  else res.once('close', onClose);
}

/** A client that closes its side while its work runs has hung up: TCP has no other word for having nothing more to send. */
function abortOnHangUp({ req, res }: Exchange, flight: InFlightRequest): void {
  const hangUp = (): void => flight.abort(new ClientGoneError());
  if (req.socket.readableEnded) hangUp();
  req.socket.once('end', hangUp);
  res.once('close', () => req.socket.off('end', hangUp));
}

/** Leaves no file behind when it throws; else the file is the request's. */
async function receive(
  { settings, timers, uploads, uploadTurns }: HttpDeps,
  exchange: Exchange,
  { accountId, keyId, signal }: InFlightRequest,
  idempotencyKey: string | null,
): Promise<TranscriptionRequest> {
  const path = uploads.newPath();
  acceptBody(exchange);
  const { sha256, fields } = await receiveUpload(exchange.req, {
    fileField: 'audio',
    textFields: TEXT_FIELDS,
    path,
    ensureDirectory: () => uploads.ensure(),
    maxFileBytes: settings.maxFileBytes,
    idleMs: settings.uploadIdleMs,
    timers,
    turn: uploadTurns.join(accountId),
    signal,
  });
  try {
    const options = parseOptions(fields);
    const audio = { path, sha256 };
    return {
      requestId: exchange.id,
      accountId,
      keyId,
      endpoint: PATH,
      audio,
      options,
      idempotencyKey,
      signal,
    };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

function noteFacts({ facts }: Exchange, { audioSeconds, queueMs, inferenceMs }: TranscriptionFacts): void {
  if (audioSeconds !== undefined) facts.audioSeconds = audioSeconds;
  if (queueMs !== undefined) facts.queueMs = Math.round(queueMs);
  if (inferenceMs !== undefined) facts.inferenceMs = Math.round(inferenceMs);
}

function send(
  exchange: Exchange,
  answer: TranscriptionAnswer,
  { format, uploadMs }: { format: AnswerFormat; uploadMs: number },
): void {
  const { replayed } = answer;
  const { queueMs, readMs, speechMs, translateMs } = answer.timings;
  if (replayed) exchange.facts.replayed = true;
  else if ('result' in answer) exchange.facts.transcriptionId = answer.result.id;
  const serverTiming = timing({
    upload: uploadMs,
    queue: queueMs,
    decode: readMs,
    speech: speechMs,
    translate: translateMs,
  });
  const { type, body, headers } = writtenAnswer(answer, format);
  exchange.send(200, type, body, {
    ...headerOf(ServerTiming, serverTiming),
    ...(replayed ? headerOf(IdempotencyReplayed, 'true') : {}),
    ...headers,
  });
}

function timedOut({ engine, settings }: HttpDeps): VerbatimError {
  const seconds = settings.requestTimeoutMs / 1000;
  return new VerbatimError('overloaded', `The request was not done within ${seconds} s.`, {
    retryAfterSeconds: engine.stats().retryAfterSeconds,
  });
}
