/** A typed client of the REST API, on fetch. Types come from the OpenAPI document (`npm run generate:client`). */
import { randomUUID } from 'node:crypto';
import { Agent, fetch, WebSocket, type Dispatcher, type Response } from 'undici';
import { Admin } from './admin.js';
import { VerbatimApiError } from './errors.js';
import { eventsOf, type TranscriptionEvent } from './events.js';
import { streamForm, transcribeForm } from './form.js';
import { Jobs } from './jobs.js';
import { liveAddress, LiveTranscription, type LiveInput } from './live.js';
import { withRetries, type RetryOptions } from './retry.js';
import type { ApiRequest, CallOptions, StreamInput, TranscribeInput, TranscribeOptions } from './requests.js';
import { Transcripts } from './transcripts.js';
import type { CreatedKey, KeyList, Me, RevokedKey, Transcription, Usage } from './types.js';

export { VerbatimApiError, type ErrorCode } from './errors.js';
export type { TranscriptionEvent } from './events.js';
export type { Sleep } from './pause.js';
export type { RetryOptions } from './retry.js';
export { Admin } from './admin.js';
export type { GrantInput, PageQuery, UsageWindow } from './admin.js';
export { JobEndedError, Jobs } from './jobs.js';
export { LiveTranscription, LiveTranscriptionError } from './live.js';
export type { LiveTranscriptionEvent, LiveInput, LiveWord } from './live.js';
export { Transcripts } from './transcripts.js';
export type { TextFileFormat, ShareInput, TranscriptCorrection, TranscriptSearch } from './transcripts.js';
export type { CreateJobInput, JobQuery, WaitOptions } from './jobs.js';
export type { ApiRequest, CallOptions, StreamInput, TranscribeInput, TranscribeOptions } from './requests.js';
export type { components, operations, paths } from './schema.js';
export type {
  Me,
  Usage,
  Transcription,
  AcceptedJob,
  Job,
  JobList,
  TranscriptList,
  KeptTranscript,
  DeletedTranscript,
  CreatedShare,
  ShareList,
  RevokedShare,
  CreatedKey,
  KeyList,
  RevokedKey,
  AdminAccount,
  AdminAccountList,
  AdminUsage,
  CreditGrant,
  DeletedAccount,
} from './types.js';

export interface ClientOptions extends RetryOptions {
  /** e.g. http://127.0.0.1:8080 */
  baseUrl: string;
  apiKey: string;
  /** Of undici, for a proxy or one's own certificates. Give it no time-outs: a long file takes its time. */
  dispatcher?: Dispatcher;
}

/**
 * Rejects with VerbatimApiError for an answer that is no success, with fetch's TypeError when no answer came, and with
 * the signal's reason when aborted.
 */
export class VerbatimClient {
  /** Transcriptions that are answered later. */
  readonly jobs: Jobs;
  /** Those that the account keeps. */
  readonly transcripts: Transcripts;
  /** All accounts, for keys with the scope `admin`. */
  readonly admin: Admin;
  readonly #options: ClientOptions;
  readonly #dispatcher: Dispatcher;

  constructor(options: ClientOptions) {
    this.#options = options;
    // fetch's own 300 s would give up on a long file, and by that abort it.
    this.#dispatcher = options.dispatcher ?? new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    this.admin = new Admin((method, path, request) => this.#send(method, path, request));
    this.transcripts = new Transcripts((method, path, request) => this.#send(method, path, request));
    this.jobs = new Jobs((method, path, request) => this.#send(method, path, request), options.sleep);
  }

  /** Waits for what is under way, then ends the client's connections; a dispatcher that was given stays open. */
  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close();
  }

  me(options: CallOptions = {}): Promise<Me> {
    return this.#send('GET', '/api/v1/me', options);
  }

  usage(days?: number, options: CallOptions = {}): Promise<Usage> {
    return this.#send('GET', `/api/v1/usage${days === undefined ? '' : `?days=${days}`}`, options);
  }

  listKeys(options: CallOptions = {}): Promise<KeyList> {
    return this.#send('GET', '/api/v1/keys', options);
  }

  revokeKey(id: string, options: CallOptions = {}): Promise<RevokedKey> {
    return this.#send('DELETE', `/api/v1/keys/${encodeURIComponent(id)}`, options);
  }

  /** Not repeated after a lost answer: the key may have been made. */
  createKey(name: string, { signal }: CallOptions = {}): Promise<CreatedKey> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ name });
    return this.#send('POST', '/api/v1/keys', { signal, headers, body, repeatable: false });
  }

  transcribe(input: TranscribeInput & { format?: 'json' }, options?: TranscribeOptions): Promise<Transcription>;
  transcribe(input: TranscribeInput & { format: 'text' | 'srt' | 'vtt' }, options?: TranscribeOptions): Promise<string>;
  transcribe(input: TranscribeInput, options?: TranscribeOptions): Promise<Transcription | string>;
  async transcribe(input: TranscribeInput, options: TranscribeOptions = {}): Promise<Transcription | string> {
    const body = await transcribeForm(input);
    const headers = { 'idempotency-key': options.idempotencyKey ?? randomUUID() };
    return this.#send('POST', '/api/v1/transcribe', { signal: options.signal, headers, body });
  }

  /**
   * The text piece by piece while it is made, and in the end the whole of it. Refusals are repeated as in transcribe();
   * an error in the middle throws. A caller that stops reading closes the answer, and pays for the minutes that were
   * delivered.
   */
  async *stream(
    input: StreamInput,
    options: TranscribeOptions = {},
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const path = `/v1/audio/${input.intoEnglish === true ? 'translations' : 'transcriptions'}`;
    const body = await streamForm(input);
    const headers = { 'idempotency-key': options.idempotencyKey ?? randomUUID() };
    const { signal } = options;
    const open = (): Promise<Response> => this.#open('POST', path, { signal, headers, body });
    const response = await withRetries(open, this.#options, { signal, repeatable: true });
    yield* eventsOf(response);
  }

  /** Speech in, text out while it is spoken: send() samples, and iterate over the session for its events. */
  live(input: LiveInput = {}): LiveTranscription {
    const { baseUrl, apiKey } = this.#options;
    const headers = { authorization: `Token ${apiKey}` };
    return new LiveTranscription(new WebSocket(liveAddress(input, baseUrl), { headers, dispatcher: this.#dispatcher }));
  }

  #send<T>(method: string, path: string, request: ApiRequest): Promise<T> {
    const { signal, repeatable = true } = request;
    return withRetries(() => this.#attempt<T>(method, path, request), this.#options, { signal, repeatable });
  }

  async #attempt<T>(method: string, path: string, request: ApiRequest): Promise<T> {
    const response = await this.#open(method, path, request);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return (isJson ? await response.json() : await response.text()) as T;
  }

  async #open(method: string, path: string, request: ApiRequest): Promise<Response> {
    const { apiKey, baseUrl } = this.#options;
    const { signal, headers, body } = request;
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: { ...headers, authorization: `Bearer ${apiKey}` },
      dispatcher: this.#dispatcher,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.ok) throw await VerbatimApiError.from(response);
    return response;
  }
}
