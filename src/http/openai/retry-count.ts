import { Type } from 'typebox';
import type { Exchange } from '../app/exchange.js';
import { parameter } from '../schema/parameter.js';

export const RetryCount = parameter({
  name: 'X-Stainless-Retry-Count',
  in: 'header',
  required: false,
  description:
    "What OpenAI's SDKs send. Above 0, and without an Idempotency-Key, the same request (fields and audio) of the " +
    'same account within ten minutes gets the stored answer and is charged nothing. Other values are ignored.',
  schema: Type.String({ pattern: '^\\d{1,9}$' }),
  example: '0',
});

/** Whether the SDK says that it has sent the request before. */
export function isRetry({ req }: Exchange): boolean {
  const given = req.headers['x-stainless-retry-count'];
  return RetryCount.fits(given) && Number(given) > 0;
}
