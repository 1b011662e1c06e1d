import { Type } from 'typebox';
import type { Exchange } from './exchange.js';
import { checkedParameter, readParameter } from '../schema/parameter.js';

export const IdempotencyKey = checkedParameter({
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeat within 24 hours by the same account returns the stored answer and charges nothing. The whole request ' +
    '(fields and audio) must be the same. A request that failed stored nothing and may be repeated under the same ' +
    'key.',
  schema: Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' }),
  example: '0f0b2c1e-6a57-4c39-9a53-0d8a9d0b7c11',
  refusal: 'Idempotency-Key must have 1 to 255 printable characters.',
});

/** Throws `invalid_request`; null: none was sent. */
export function readIdempotencyKey({ req }: Exchange): string | null {
  return readParameter(IdempotencyKey, req.headers['idempotency-key'], null);
}
