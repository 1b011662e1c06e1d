/** A server that takes audio over HTTP: Verbatim, or whisper.cpp's own whisper-server. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Agent, fetch, FormData, type RequestInit } from 'undici';

/** A busy server answers when it does: without this fetch hangs up after five minutes. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

export interface Upload {
  name: string;
  bytes: Blob;
  seconds: number;
  /** A code, or 'auto'. */
  language: string;
  /** A code; only Verbatim translates. */
  translateTo?: string;
}

export interface Outcome {
  /** 0 when no answer came. */
  status: number;
  milliseconds: number;
  /** What the server says of its phases (Server-Timing), milliseconds by name. */
  phases: Readonly<Record<string, number>>;
}

export interface HttpTarget {
  readonly name: string;
  /** Accounts that requests can be sent as. */
  readonly accounts: number;
  /** Never rejects: a lost connection is an outcome too. */
  send(upload: Upload, account: number, signal?: AbortSignal): Promise<Outcome>;
}

export function readUpload(path: string, seconds: number, language: string): Upload {
  return { name: basename(path), bytes: new Blob([readFileSync(path)]), seconds, language };
}

/** Each key is taken for an account of its own. */
export function verbatimTarget(baseUrl: string, keys: readonly string[]): HttpTarget {
  const url = new URL('/api/v1/transcribe', baseUrl);
  return {
    name: 'verbatim',
    accounts: keys.length,
    send: (upload, account, signal) => {
      const form = new FormData();
      if (upload.language !== 'auto') form.append('language', upload.language);
      if (upload.translateTo !== undefined) form.append('translate_to', upload.translateTo);
      form.append('audio', upload.bytes, upload.name);
      const headers = { authorization: `Bearer ${keys[account % keys.length] ?? ''}` };
      return exchange(url, { method: 'POST', body: form, headers, signal: signal ?? null });
    },
  };
}

export function whisperServerTarget(baseUrl: string): HttpTarget {
  const url = new URL('/inference', baseUrl);
  return {
    name: 'whisper-server',
    accounts: 1,
    send: (upload, _, signal) => {
      const form = new FormData();
      form.append('file', upload.bytes, upload.name);
      form.append('language', upload.language);
      form.append('response_format', 'json');
      return exchange(url, { method: 'POST', body: form, signal: signal ?? null });
    },
  };
}

async function exchange(url: URL, init: RequestInit): Promise<Outcome> {
  const start = performance.now();
  try {
    const response = await fetch(url, { ...init, dispatcher: patient });
    const text = await response.text();
    // whisper-server answers 200 to what it could not read.
    const status = response.ok && text.includes('"error"') ? 500 : response.status;
    const phases = serverTiming(response.headers.get('server-timing'));
    return { status, milliseconds: performance.now() - start, phases };
  } catch {
    return { status: 0, milliseconds: performance.now() - start, phases: {} };
  }
}

/** 'upload;dur=1.0, queue;dur=12.5' -> { upload: 1, queue: 12.5 } */
export function serverTiming(header: string | null): Record<string, number> {
  const phases = (header ?? '').matchAll(/(?:^|,)\s*(\w+);dur=([\d.]+)/g);
  return Object.fromEntries([...phases].map(([, name = '', duration]) => [name, Number(duration)]));
}
