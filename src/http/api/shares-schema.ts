/** What /transcripts/{id}/shares takes and answers. */
import { Type, type Static } from 'typebox';
import type { TranscriptShare } from '../../ledger/transcripts.js';
import { parameter } from '../schema/parameter.js';
import { id, passed, shape, timestamp } from '../schema/shape.js';

const shareId = id('share', 'x1ZtJ0m4k9Qe2Lw7');

export const CreateShareRequest = shape({
  expires_at: Type.String({
    description: 'When the link stops working: ISO 8601, to come.',
    examples: ['2026-12-20T17:24:00.000Z'],
  }),
  audio: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether the link plays the recording, too.',
      examples: [true, false],
    }),
  ),
});

export const CreatedShare = shape({
  id: shareId,
  url: Type.String({
    description: 'The page that anybody with this link may read. It is shown only this once.',
    examples: ['https://verbatim.example.org/share/p3Jf0cX9vQm2Rk7Lw1Zt8Yb5Nd4Hs6Ga'],
  }),
  expires_at: timestamp,
});

const share = shape({ id: shareId, created_at: timestamp, expires_at: timestamp, audio: passed('As it was made.') });

export const ShareList = shape({
  shares: Type.Array(share, { description: 'Those that have not expired, newest first.' }),
});

export const RevokedShare = shape({ id: shareId, revoked_at: timestamp });

export const ShareId = parameter({
  name: 'share',
  in: 'path',
  required: true,
  description: "The link's id.",
  schema: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  example: 'share_x1ZtJ0m4k9Qe2Lw7',
});

export function shareListBody(shares: readonly TranscriptShare[]): Static<typeof ShareList> {
  return {
    shares: shares.map((one) => ({
      ...{ id: one.id, created_at: one.createdAt, expires_at: one.expiresAt, audio: one.includesAudio },
    })),
  };
}
