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
  const bytes = bytesOf(audio);
  if (bytes === null)
    throw new VerbatimError('invalid_request', 'audio is not base64. Send the samples encoded as base64.', {
      param: 'audio',
    });
  return bytes;
}

/**
 * Of base64 in either alphabet, with padding or without; null: it is none. Decoding skips what is no base64, so that
 * too few bytes come. A regular expression takes ten times as long, in which the server does nothing else.
 */
function bytesOf(base64: string): Buffer | null {
  const digits = base64.length - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
  // Decoding sees only the low byte of a character.
  if (Buffer.byteLength(base64) !== base64.length || digits % 4 === 1) return null;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === Math.floor((digits * 3) / 4) ? bytes : null;
}

/** What such an event has of audio, in bytes of its message. */
export function audioLengthOf(event: object): number {
  return 'audio' in event && typeof event.audio === 'string' ? event.audio.length : 0;
}

function parsed(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'));
  } catch {
    throw new VerbatimError('invalid_request', 'The message is not valid JSON.');
  }
}
