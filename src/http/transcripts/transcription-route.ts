/**
 * A paid transcription over HTTP, whatever words the client asks for it in: everything that can be refused is refused
 * before the body is read.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { removeFile } from '../../remove-file.js';
import { ClientGoneError, VerbatimError } from '../../errors.js';
import { tooManyInFlight } from '../../ledger/limits.js';
import type { TranscriptSource } from '../../ledger/transcripts.js';
import type { Identity } from '../../ledger/types.js';
import type { InFlightRequest } from '../limits/in-flight.js';
import {
  modelOf,
  type Answered,
  type TranscriptionAnswer,
  type TranscriptionFacts,
  type TranscriptionOutcome,
  type TranscriptionRequest,
} from '../../transcription/transcription.js';
import type { Unkeyed } from '../../transcription/unkeyed.js';
import { authenticated, type AuthenticatedHandler } from '../auth/auth.js';
import { watchDelivery } from './delivery.js';
import type { HttpDeps } from '../app/deps.js';
import type { Exchange } from '../app/exchange.js';
import { acceptBody, mediaType, refuseEncodedBody } from '../app/request-body.js';
import { headerOf } from '../schema/headers.js';
import type { TranscriptionOptions } from '../../transcription/options.js';
import type { Handler, Route } from '../app/route.js';
import { TranscriptStream, type TranscriptEvents } from './transcript-stream.js';
import { IdempotencyReplayed, modelHeader, ServerTiming, timing } from './transcription-headers.js';
import { receiveRawUpload } from '../upload/raw-upload.js';
import type { UploadedFile } from '../upload/uploaded-file.js';
import { receiveUpload, refuseOversizedBody, type FormRules, type ReceivedFields } from '../upload/upload.js';

/** The options of the client's request. */
export interface AskedWork {
  options: TranscriptionOptions;
  /** Whether the transcript is kept; null or absent: as the account is set. */
  keep?: boolean | null;
}

/** And how it wants the answer: in one piece, or in events while it is made. */
export type AskedTranscription = AskedWork &
  ({ written: (answer: TranscriptionAnswer) => Promise<WrittenAnswer> } | { events: TranscriptEvents });

interface Received {
  asked: AskedTranscription;
  request: TranscriptionRequest;
}

/** How the answer is sent. */
type AnswerForm =
  { written: (answer: TranscriptionAnswer) => Promise<WrittenAnswer>; stream: null } | { stream: TranscriptStream };

export interface WrittenAnswer {
  type: string;
  body: string | Buffer;
  headers: OutgoingHttpHeaders;
}

/** An endpoint's own words for it. */
export interface Dialect<A extends AskedWork = AskedTranscription> {
  path: string;
  /** null: the body is the file, of any media type. */
  form: FormRules | null;
  /** Throws what can be refused before the body; not asked where a stored answer may be sent. */
  checkEarly?: (exchange: Exchange) => void;
  /** Where transcripts that are kept were made; default: by the API. */
  source?: TranscriptSource;
  /** Throws the refusal for the client. */
  asked: (fields: ReceivedFields, exchange: Exchange, file: UploadedFile) => A;
  /** Throws when it is malformed; null: none was sent. */
  idempotencyKey: (exchange: Exchange) => string | null;
  /** Of an endpoint whose clients repeat requests that have no key: whether they say that this is a repeat. */
  isRetry?: (exchange: Exchange) => boolean;
  /** Throws when the account's work is not to be taken in now; default: as the engine's backlog says. */
  checkRoom?: (accountId: string) => Promise<void>;
}

/** How a repeat of the request would be known. */
interface Repeatable {
  idempotencyKey: string | null;
  /** Without a key; undefined: not at all. */
  retried?: boolean | undefined;
}

/** Who sends what. */
export interface Intake {
  exchange: Exchange;
  identity: Identity;
  repeatable: Repeatable;
}

/** Sets the caller's identity for the handler, or throws. */
export type CallerGuard = (deps: HttpDeps, handler: AuthenticatedHandler) => Handler;

export function transcriptionRoute(deps: HttpDeps, dialect: Dialect, guard: CallerGuard = authenticated): Route {
  return {
    path: dialect.path,
    methods: {
      POST: guard(deps, async (exchange, identity) => {
        const repeatable = await refuseEarly(deps, dialect, exchange, identity);
        const intake = { exchange, identity, repeatable };
        const { outcome, uploadMs } = await inFlight(deps, dialect, intake, (request, asked) =>
          transcribed(deps, exchange, { request, asked }),
        );
        noteFacts(exchange, outcome.facts);
        if ('error' in outcome) throw outcome.error;
        await deliver(exchange, outcome, uploadMs);
      }),
    },
  };
}

async function transcribed(
  { transcription }: HttpDeps,
  exchange: Exchange,
  { request, asked }: Received,
): Promise<TranscriptionOutcome & AnswerForm> {
  const form: AnswerForm =
    'events' in asked
      ? { stream: new TranscriptStream(exchange, asked.events) }
      : { written: asked.written, stream: null };
  const outcome = await transcription.run({ ...request, listener: form.stream ?? undefined });
  // Whatever an aborted step failed with, the reason of the abort is what happened.
  if ('error' in outcome && request.signal.aborted) outcome.error = request.signal.reason;
  return { ...outcome, ...form };
}

/**
 * Refuses what can be refused before the body is read. A request whose answer may be stored needs neither credits nor
 * time.
 */
export async function refuseEarly<A extends AskedWork>(
  deps: HttpDeps,
  dialect: Dialect<A>,
  exchange: Exchange,
  { account }: Identity,
): Promise<Repeatable> {
  const { backlog, ledger, settings, transcription } = deps;
  const { req } = exchange;
  if (dialect.form !== null && mediaType(req.headers['content-type']) !== 'multipart/form-data') {
    throw new VerbatimError('unsupported_media_type', 'Send the body as multipart/form-data.');
  }
  refuseEncodedBody(exchange);
  refuseOversizedBody(req, settings.maxFileBytes, dialect.form !== null);
  const idempotencyKey = dialect.idempotencyKey(exchange);
  const repeatable = { idempotencyKey, retried: dialect.isRetry?.(exchange) };
  if (await mayBeStored(deps, account.id, repeatable)) return repeatable;
  dialect.checkEarly?.(exchange);
  const { balance, inFlight } = await ledger.holds.state(account.id);
  if (balance < transcription.minimumCredits) {
    throw new VerbatimError('insufficient_credits', 'The account has no credits left.');
  }
  if (dialect.checkRoom === undefined) backlog.checkRoom({ accountId: account.id, audioSeconds: 0 });
  else await dialect.checkRoom(account.id);
  // What other servers work on for the account; what this one does is counted from here on by its registry, too. The
  // hold looks again.
  if (inFlight >= settings.maxInFlight) throw tooManyInFlight(inFlight, settings.maxInFlight);
  return repeatable;
}

function mayBeStored(
  { ledger, transcription }: HttpDeps,
  accountId: string,
  { idempotencyKey, retried }: Repeatable,
): Promise<boolean> {
  if (idempotencyKey !== null) return ledger.idempotency.has(accountId, idempotencyKey);
  return retried === undefined ? Promise.resolve(false) : transcription.mayBeRepeated(accountId, { retried });
}

/** The time in flight: from the first byte of the upload until nothing of the request is left. */
export async function inFlight<A extends AskedWork, T>(
  deps: HttpDeps,
  dialect: Dialect<A>,
  { exchange, identity, repeatable }: Intake,
  work: (request: TranscriptionRequest, asked: A) => Promise<T>,
): Promise<{ outcome: T; uploadMs: number }> {
  const { account, key } = identity;
  const flight = deps.inFlight.begin({ accountId: account.id, keyId: key.id, requestId: exchange.id });
  const closeWatch = abortOnClose(exchange, flight);
  const timer = deps.timers.after(deps.settings.requestTimeoutMs, () => flight.abort(timedOut(deps)));
  try {
    const { asked, request } = await receive(deps, dialect, exchange, { flight, identity, repeatable });
    const uploadMs = performance.now() - exchange.startedAt;
    abortOnHangUp(exchange, flight);
    const outcome = await work(request, asked);
    return { outcome, uploadMs };
  } catch (error) {
    throw flight.signal.aborted ? flight.signal.reason : error;
  } finally {
    timer.cancel();
    closeWatch.stop();
    flight.end();
  }
}

function abortOnClose({ res }: Exchange, flight: InFlightRequest): { stop: () => void } {
  const onClose = (): void => flight.abort(new ClientGoneError());
  // It may have happened while the ledger was asked.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return { stop: () => res.off('close', onClose) };
}

/**
 * A client that closes its side while its work runs has hung up: TCP has no other word for having nothing more to send.
 */
function abortOnHangUp({ req, res }: Exchange, flight: InFlightRequest): void {
  const hangUp = (): void => flight.abort(new ClientGoneError());
  if (req.socket.readableEnded) hangUp();
  req.socket.once('end', hangUp);
  res.once('close', () => req.socket.off('end', hangUp));
}

/** Leaves no file behind when it throws; else the file is the request's. */
async function receive<A extends AskedWork>(
  { settings, timers, uploads, uploadTurns, library }: HttpDeps,
  { form, asked: ask, path: endpoint, source = 'api' }: Dialect<A>,
  exchange: Exchange,
  { flight, identity, repeatable }: { flight: InFlightRequest; identity: Identity; repeatable: Repeatable },
): Promise<{ asked: A; request: TranscriptionRequest }> {
  const { accountId, keyId, signal } = flight;
  const path = uploads.newPath();
  acceptBody(exchange);
  const options = {
    path,
    ensureDirectory: () => uploads.ensure(),
    maxFileBytes: settings.maxFileBytes,
    idleMs: settings.uploadIdleMs,
    timers,
    turn: uploadTurns.join(accountId),
    signal,
  };
  const { fields, ...file } =
    form === null
      ? { ...(await receiveRawUpload(exchange.req, options)), fields: NO_FIELDS }
      : await receiveUpload(exchange.req, { ...options, form });
  try {
    const asked = ask(fields, exchange, file);
    const { idempotencyKey } = repeatable;
    const { sha256, head, fileName } = file;
    const { keep = null } = asked;
    const name = source === 'page' ? null : identity.key.name;
    const request = {
      requestId: exchange.id,
      ...{ accountId, keyId, endpoint, idempotencyKey, signal },
      audio: { path, sha256, head, fileName },
      options: asked.options,
      keepAsked: keep,
      keep: await library.keeping.orderFor(accountId, { keep, title: fileName, source: { kind: source, name } }),
      unkeyed: unkeyedOf(repeatable, fields),
    };
    return { asked, request };
  } catch (error) {
    await removeFile(path);
    throw error;
  }
}

const NO_FIELDS: ReceivedFields = { one: new Map(), lists: new Map() };

function unkeyedOf({ retried }: Repeatable, { one, lists }: ReceivedFields): Unkeyed | undefined {
  return retried === undefined ? undefined : { retried, fields: [[...one].sort(), [...lists].sort()] };
}

async function deliver(
  exchange: Exchange,
  { answer, delivery, ...form }: Answered & AnswerForm,
  uploadMs: number,
): Promise<void> {
  try {
    const send =
      form.stream === null
        ? whole(exchange, answer, await form.written(answer), uploadMs)
        : await form.stream.ending(answer);
    noteAnswer(exchange, answer);
    watchDelivery(exchange, delivery);
    send();
  } catch (error) {
    delivery?.lost();
    throw error;
  }
}

function noteFacts({ facts }: Exchange, { model, audioSeconds, queueMs, inferenceMs }: TranscriptionFacts): void {
  if (model !== undefined) facts.model = model;
  if (audioSeconds !== undefined) facts.audioSeconds = audioSeconds;
  if (queueMs !== undefined) facts.queueMs = Math.round(queueMs);
  if (inferenceMs !== undefined) facts.inferenceMs = Math.round(inferenceMs);
}

function noteAnswer({ facts }: Exchange, answer: TranscriptionAnswer): void {
  const model = modelOf(answer);
  if (model !== null) facts.model = model;
  if (answer.replayed) facts.replayed = true;
  else if ('result' in answer) facts.transcriptionId = answer.result.id;
}

/** Sends it in one piece, once it is called. */
function whole(
  exchange: Exchange,
  answer: TranscriptionAnswer,
  { type, body, headers }: WrittenAnswer,
  uploadMs: number,
): () => void {
  const { replayed } = answer;
  const { queueMs, readMs, speechMs, translateMs } = answer.timings;
  const serverTiming = timing({
    upload: uploadMs,
    queue: queueMs,
    decode: readMs,
    speech: speechMs,
    translate: translateMs,
  });
  const sent = {
    ...headerOf(ServerTiming, serverTiming),
    ...(replayed ? headerOf(IdempotencyReplayed, 'true') : {}),
    ...modelHeader(modelOf(answer)),
    ...headers,
  };
  return () => exchange.send(200, type, body, sent);
}

function timedOut({ engine, settings }: HttpDeps): VerbatimError {
  const seconds = settings.requestTimeoutMs / 1000;
  return new VerbatimError('overloaded', `The request was not done within ${seconds} s.`, {
    retryAfterSeconds: engine.stats().retryAfterSeconds,
  });
}
