/** What /v1/auth/grant takes and answers. */
import { Type } from 'typebox';
import { shape } from '../schema/shape.js';

export const TokenRequest = shape({
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, description: 'Default: 30.', examples: [30] })),
});

export const Token = shape({
  access_token: Type.String({ pattern: '^ek_', description: 'Shown this once.', examples: ['ek_a2V5X3gx.cE3kQ1'] }),
  expires_in: Type.Integer({ minimum: 1, description: 'Seconds.', examples: [30] }),
});

export const DeepgramError = shape({
  err_code: Type.String({ examples: ['INVALID_API_KEY'] }),
  err_msg: Type.String({ examples: ['The API key is unknown or revoked.'] }),
  request_id: Type.String({ examples: ['req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10'] }),
});
