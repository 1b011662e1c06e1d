/** The one shape of an error. */
import { Type, type Static } from 'typebox';
import { ERROR_CODES } from '../../errors.js';
import { oneOf, requestId, shape, textOrNull } from '../schema/shape.js';

export const ErrorBody = shape({
  error: shape({
    code: oneOf(ERROR_CODES, {
      description: 'Stable, for programs. The message is for people and may change.',
      examples: ['invalid_request'],
    }),
    message: Type.String({ examples: ['days must be one integer from 1 to 90.'] }),
    param: textOrNull({
      description: 'The field, query parameter or header at fault, if one is.',
      examples: ['days', null],
    }),
    request_id: requestId,
  }),
});
export type ErrorBody = Static<typeof ErrorBody>;

export function errorBody(
  { code, message, param }: Omit<ErrorBody['error'], 'request_id'>,
  requestId: string,
): ErrorBody {
  return { error: { code, message, param, request_id: requestId } };
}
