/** What /keys takes and answers. */
import { Type, type Static } from 'typebox';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import type { ApiKey, IssuedKey as LedgerKey } from '../../ledger/types.js';
import { parameter } from '../schema/parameter.js';
import { key, shape, timestamp, timestampOrNull } from '../schema/shape.js';

export const KeyId = parameter({
  name: 'id',
  in: 'path',
  required: true,
  description: "The key's id, as `GET /api/v1/keys` lists it.",
  schema: Type.String(),
  example: 'key_x1ZtJ0m4k9Qe2Lw7',
});

/** The ledger checks the name's characters. */
export const CreateKeyRequest = shape({
  name: Type.String({
    description: '1 to 100 characters after trimming, no control characters.',
    examples: ['laptop'],
  }),
});

export const CreatedKey = shape({
  ...key,
  raw_key: Type.String({
    pattern: '^vb_[A-Za-z0-9_-]{43}$',
    description: 'Shown this once; the service keeps only an HMAC of it.',
    examples: ['vb_3q2-7wAbQm9vZ2llV29vZ2llLXRoaXNpc25vdGFrZXk'],
  }),
  created_at: timestamp,
});

export function createdKeyBody({ id, name, prefix, rawKey, createdAt }: LedgerKey): Static<typeof CreatedKey> {
  return { id, name, prefix, raw_key: rawKey, created_at: createdAt };
}

export const KeyList = shape({
  keys: Type.Array(
    shape({
      ...key,
      scopes: Type.Array(Type.Unsafe<string>({ type: 'string', enum: [MANAGEMENT_SCOPE, ADMIN_SCOPE] }), {
        description: `\`${MANAGEMENT_SCOPE}\` makes a management key, \`${ADMIN_SCOPE}\` one of an operator.`,
        examples: [[MANAGEMENT_SCOPE]],
      }),
      created_at: timestamp,
      last_used_at: timestampOrNull,
      revoked_at: timestampOrNull,
    }),
    { description: 'Every key of the account, revoked ones too, newest first.' },
  ),
});

export function keyListBody(keys: readonly ApiKey[]): Static<typeof KeyList> {
  return {
    keys: keys.map(({ id, name, prefix, scopes, createdAt, lastUsedAt, revokedAt }) => ({
      ...{ id, name, prefix, scopes: [...scopes] },
      created_at: createdAt,
      last_used_at: lastUsedAt,
      revoked_at: revokedAt,
    })),
  };
}

export const RevokedKey = shape({ id: key.id, revoked_at: timestamp });

export function revokedKeyBody({ id, revokedAt }: { id: string; revokedAt: string }): Static<typeof RevokedKey> {
  return { id, revoked_at: revokedAt };
}
