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

/** Throws `invalid_request` for a message that is no JSON text. */
export function valueOf({ data, isBinary }: Message): unknown {
  if (isBinary) throw new VerbatimError('invalid_request', 'Events are JSON texts; this message is binary.');
  return parsed(data);
}

/** With the members of its kind. */
export type ClientEvent = Static<typeof ClientEvent>;

/** Throws `invalid_request` for a value that is no event. */
export function clientEvent(value: unknown): ClientEvent {
  return checked(ClientEvent, value, 'event');
}

/** Of any value: an error names the event that it answers, however wrong that is. */
export function eventIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('event_id' in value)) return null;
  return typeof value.event_id === 'string' ? value.event_id : null;
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
