/** What clients of OpenAI's live sessions send. */
import { Type, type Static } from 'typebox';
import { VerbatimError } from '../../errors.js';
import type { Message } from '../websocket/connection.js';
import { checked } from './session-schema.js';

const MOST_AUDIO_CHARACTERS = 15 * 2 ** 20;

const ClientEvent = Type.Object({
  type: Type.String({ minLength: 1 }),
  event_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const Append = Type.Object({ audio: Type.String({ maxLength: MOST_AUDIO_CHARACTERS }) });
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Throws `invalid_request` for a message that is no event. */
export function clientEvent({ data, isBinary }: Message): Static<typeof ClientEvent> {
  if (isBinary) throw new VerbatimError('invalid_request', 'Events are JSON texts; this message is binary.');
  return checked(ClientEvent, parsed(data), 'event');
}

/** The samples of an event that appends some. Throws `invalid_request`. */
export function audioOf(event: object): Buffer {
  const { audio } = checked(Append, event, 'event');
  if (!BASE64.test(audio)) throw new VerbatimError('invalid_request', 'audio is no base64.', { param: 'audio' });
  return Buffer.from(audio, 'base64');
}

function parsed(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'));
  } catch {
    throw new VerbatimError('invalid_request', 'The message is not valid JSON.');
  }
}
