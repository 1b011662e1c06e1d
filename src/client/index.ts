/** A typed client of the REST API, on fetch. Types come from the OpenAPI document (`npm run generate:client`). */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { VerbatimApiError } from './errors.js';
import { withRetries, type RetryOptions } from './retry.js';
import type { components } from './schema.js';

export { VerbatimApiError, type ErrorCode } from './errors.js';
export type { RetryOptions } from './retry.js';
export type { components, operations, paths } from './schema.js';

type Schemas = components['schemas'];
export type Me = Schemas['Me'];
export type Usage = Schemas['Usage'];
export type Transcription = Schemas['Transcription'];
export type CreatedKey = Schemas['CreatedKey'];
export type KeyList = Schemas['KeyList'];
export type RevokedKey = Schemas['RevokedKey'];

export interface ClientOptions extends RetryOptions {
  /** e.g. http://127.0.0.1:8080 */
  baseUrl: string;
  apiKey: string;
  fetch?: typeof fetch;
}

export interface TranscribeInput {
  /** Path of a file, which is streamed from disk, or its bytes. */
  audio: string | Blob;
  language?: string;
  translateTo?: string;
  punctuate?: boolean;
  diarize?: boolean;
}

export interface TranscribeOptions {
  /** Default: a new one for every call, so that retries are never charged twice. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface CallOptions {
  signal?: AbortSignal;
}

/** Rejects with VerbatimApiError for an answer that is no success, with fetch's TypeError when no answer came. */
export class VerbatimClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  me(options: CallOptions = {}): Promise<Me> {
    return this.#json('GET', '/api/v1/me', options);
  }

  usage(days?: number, options: CallOptions = {}): Promise<Usage> {
    return this.#json('GET', `/api/v1/usage${days === undefined ? '' : `?days=${days}`}`, options);
  }

  listKeys(options: CallOptions = {}): Promise<KeyList> {
    return this.#json('GET', '/api/v1/keys', options);
  }

  revokeKey(id: string, options: CallOptions = {}): Promise<RevokedKey> {
    return this.#json('DELETE', `/api/v1/keys/${encodeURIComponent(id)}`, options);
  }

  /** Not retried after a lost answer: the key may have been made. */
  createKey(name: string, options: CallOptions = {}): Promise<CreatedKey> {
    const headers = { 'content-type': 'application/json' };
    return this.#send('POST', '/api/v1/keys', { ...options, headers, body: JSON.stringify({ name }) });
  }

  async transcribe(input: TranscribeInput, options: TranscribeOptions = {}): Promise<Transcription> {
    const form = await transcribeForm(input);
    const headers = { 'idempotency-key': options.idempotencyKey ?? randomUUID() };
    const signal = options.signal === undefined ? {} : { signal: options.signal };
    return withRetries(
      () => this.#send<Transcription>('POST', '/api/v1/transcribe', { ...signal, headers, body: form }),
      this.#options,
      options.signal,
    );
  }

  #json<T>(method: string, path: string, options: CallOptions): Promise<T> {
    return withRetries(() => this.#send<T>(method, path, options), this.#options, options.signal);
  }

  async #send<T>(
    method: string,
    path: string,
    init: { signal?: AbortSignal; headers?: Record<string, string>; body?: string | FormData },
  ): Promise<T> {
    const { apiKey, baseUrl, fetch: send = fetch } = this.#options;
    const response = await send(new URL(path, baseUrl), {
      ...init,
      method,
      headers: { ...init.headers, authorization: `Bearer ${apiKey}` },
    });
    if (!response.ok) throw await VerbatimApiError.from(response);
    return (await response.json()) as T;
  }
}

async function transcribeForm(input: TranscribeInput): Promise<FormData> {
  const form = new FormData();
  const fields = {
    language: input.language,
    translate_to: input.translateTo,
    punctuate: input.punctuate,
    diarize: input.diarize,
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(name, String(value));
  }
  if (typeof input.audio === 'string')
    form.append('audio', await openAsBlob(input.audio), basename(input.audio));
  else form.append('audio', input.audio, 'audio');
  return form;
}
