/** /transcripts: those that the account keeps. */
import { VerbatimError } from '../../errors.js';
import type { Editor } from '../../library/editing.js';
import type { KeptTranscript } from '../../library/document.js';
import type { ApiKey } from '../../ledger/types.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import type { HttpDeps } from '../app/deps.js';
import { JSON_TYPE, type Exchange } from '../app/exchange.js';
import { attachment } from '../app/file-names.js';
import { readJsonObject } from '../app/request-body.js';
import type { Handler, Route } from '../app/route.js';
import { authenticated } from '../auth/auth.js';
import { readParameter } from '../schema/parameter.js';
import { invalid, parseBody } from '../schema/shape.js';
import { shareRoutes } from './shares.js';
import {
  DEFAULT_TRANSCRIPT_LIMIT,
  ExportedText,
  TranscriptCursor,
  TranscriptFormat,
  TranscriptId,
  TranscriptLimit,
  transcriptListBody,
  TranscriptWords,
  UpdateTranscriptRequest,
} from './transcripts-schema.js';

const TRANSCRIPTS = '/api/v1/transcripts';
const TRANSCRIPT = `${TRANSCRIPTS}/:${TranscriptId.name}`;

/** Of a change: an hour has some 10,000 words. */
const MOST_CHANGE_BYTES = 1_048_576;

export function transcriptRoutes(deps: HttpDeps): Route[] {
  return [
    { path: TRANSCRIPTS, methods: { GET: list(deps) } },
    { path: TRANSCRIPT, methods: { GET: find(deps), PATCH: update(deps), DELETE: remove(deps) } },
    { path: `${TRANSCRIPT}/export`, methods: { GET: download(deps) } },
    { path: `${TRANSCRIPT}/audio`, methods: { GET: audio(deps) } },
    ...shareRoutes(deps, TRANSCRIPT),
  ];
}

function list(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const { query } = exchange.req;
    const words = readParameter(TranscriptWords, query[TranscriptWords.name], null);
    const limit = readParameter(TranscriptLimit, query[TranscriptLimit.name], DEFAULT_TRANSCRIPT_LIMIT);
    const after = readParameter(TranscriptCursor, query[TranscriptCursor.name], null);
    const found = await deps.library.list(account.id, { words, after, limit: limit + 1 });
    exchange.json(200, transcriptListBody(found, limit));
  });
}

function find(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    await send(deps, exchange, known(await deps.library.find(account.id, idOf(exchange))));
  });
}

function update(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account, key }) => {
    const body = await readJsonObject(exchange, deps, MOST_CHANGE_BYTES);
    const { version, ...edit } = parseBody(UpdateTranscriptRequest, body);
    const target = { accountId: account.id, id: idOf(exchange), version, by: editorOf(key) };
    await send(deps, exchange, known(await deps.library.editing.edit(target, edit)));
  });
}

function remove(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const { id, deletedAt } = known(await deps.library.delete(account.id, idOf(exchange)));
    exchange.json(200, { id, deleted_at: deletedAt });
  });
}

function download(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const { query } = exchange.req;
    const format = readParameter(TranscriptFormat, query[TranscriptFormat.name], null);
    if (format === null) throw invalid(TranscriptFormat.name, TranscriptFormat.refusal);
    const translated = readParameter(ExportedText, query[ExportedText.name], 'transcript') === 'translation';
    const kept = known(await deps.library.find(account.id, idOf(exchange)));
    const { type, title, body } = await deps.library.export(kept, format, { translated });
    exchange.send(200, type, body, attachment(title, format));
  });
}

function audio(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const recording = await deps.library.audioOf(account.id, idOf(exchange));
    if (recording === null) throw notFound('The account keeps no recording with this id.');
    await exchange.recording(recording.path, recording.type);
  });
}

async function send({ library }: HttpDeps, exchange: Exchange, kept: KeptTranscript): Promise<void> {
  exchange.send(200, JSON_TYPE, await jsonBytes(await library.body(kept)));
}

function editorOf({ name }: ApiKey): Editor {
  return { kind: 'key', name };
}

/** What is no id belongs to nobody. */
function idOf({ req }: Exchange): string {
  const id = req.params[TranscriptId.name];
  return TranscriptId.fits(id) ? id : '';
}

function known<T>(found: T | null): T {
  if (found !== null) return found;
  throw notFound('The account keeps no transcript with this id.');
}

function notFound(message: string): VerbatimError {
  return new VerbatimError('transcript_not_found', message);
}
