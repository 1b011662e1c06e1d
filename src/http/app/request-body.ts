/** Starting to read a request's body, and reading a small one: JSON, or a form. */
import { VerbatimError } from '../../errors.js';
import type { HttpDeps } from './deps.js';
import type { Exchange } from './exchange.js';

const MAX_BODY_BYTES = 16_384;

/** Asks a client that waits (Expect: 100-continue) to send its body; until then a refusal costs it nothing. */
export function acceptBody({ req, res }: Exchange): void {
  if (req.headers.expect !== undefined) res.writeContinue();
}

/** The media type of Content-Type, in lower case, without parameters. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export function refuseEncodedBody(exchange: Exchange): void {
  const encoding = exchange.req.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new VerbatimError('unsupported_media_type', 'Content-Encoding is not supported; send the body as it is.');
}

/** A JSON object that arrives in time. */
export async function readJsonObject(
  exchange: Exchange,
  deps: Pick<HttpDeps, 'settings' | 'timers'>,
  mostBytes = MAX_BODY_BYTES,
): Promise<Record<string, unknown>> {
  if (mediaType(exchange.req.headers['content-type']) !== 'application/json') {
    throw new VerbatimError('unsupported_media_type', 'Send the body as application/json.');
  }
  refuseEncodedBody(exchange);
  const text = await readText(exchange, deps, mostBytes);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new VerbatimError('invalid_request', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

/** The fields of a form of at most 16 KiB that arrives in time. */
export async function readForm(
  exchange: Exchange,
  deps: Pick<HttpDeps, 'settings' | 'timers'>,
): Promise<URLSearchParams> {
  if (mediaType(exchange.req.headers['content-type']) !== 'application/x-www-form-urlencoded') {
    throw new VerbatimError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  }
  refuseEncodedBody(exchange);
  return new URLSearchParams(await readText(exchange, deps, MAX_BODY_BYTES));
}

async function readText(
  exchange: Exchange,
  { settings, timers }: Pick<HttpDeps, 'settings' | 'timers'>,
  mostBytes: number,
): Promise<string> {
  const { req } = exchange;
  const timeoutMs = settings.jsonTimeoutMs;
  if (Number(req.headers['content-length'] ?? 0) > mostBytes) throw tooLarge(mostBytes);
  acceptBody(exchange);
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const timer = timers.after(timeoutMs, () => reject(tooSlow(timeoutMs)));
    const settle = (act: () => void) => (): void => {
      timer.cancel();
      act();
    };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else settle(() => reject(tooLarge(mostBytes)))();
    });
    req.once('end', settle(resolve));
    req.once(
      'error',
      settle(() => reject(new VerbatimError('invalid_request', 'The body is incomplete.'))),
    );
  });
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new VerbatimError('invalid_request', 'The body is not UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new VerbatimError('invalid_request', 'The body is not valid JSON.');
  }
}

function tooLarge(mostBytes: number): VerbatimError {
  return new VerbatimError('invalid_request', `The body may have at most ${mostBytes} bytes.`);
}

function tooSlow(timeoutMs: number): VerbatimError {
  return new VerbatimError('invalid_request', `The body did not arrive within ${timeoutMs / 1000} s.`);
}
