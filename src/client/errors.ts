import type { Response } from 'undici';
import type { components } from './schema.js';

export type ErrorCode = components['schemas']['Error']['error']['code'];

/** An answer of the service that is not a success. */
export class VerbatimApiError extends Error {
  override readonly name = 'VerbatimApiError';

  constructor(
    readonly status: number,
    readonly code: ErrorCode | 'unknown',
    message: string,
    readonly param: string | null,
    readonly requestId: string | null,
    /** Seconds that the service asked the client to wait; null: it did not ask. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(message);
  }

  static async from(response: Response): Promise<VerbatimApiError> {
    return VerbatimApiError.of(response, await response.text());
  }

  /** Of an answer that had begun well; `text` is the error's, or nothing where it only ended. */
  static inAnswer(response: Response, text: string): VerbatimApiError {
    return VerbatimApiError.of(response, text, 'The answer ended before it was whole.');
  }

  private static of(
    response: Response,
    text: string,
    otherwise = `The service answered ${response.status} ${response.statusText}.`,
  ): VerbatimApiError {
    const body = parseError(text);
    const retryAfter = response.headers.get('retry-after');
    return new VerbatimApiError(
      response.status,
      body?.code ?? 'unknown',
      body?.message ?? otherwise,
      body?.param ?? null,
      body?.request_id ?? response.headers.get('x-request-id'),
      retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null,
    );
  }
}

/** null: not an error of the service's form, for example a proxy's answer. */
function parseError(text: string): components['schemas']['Error']['error'] | null {
  try {
    return (JSON.parse(text) as Partial<components['schemas']['Error']>).error ?? null;
  } catch {
    return null;
  }
}
