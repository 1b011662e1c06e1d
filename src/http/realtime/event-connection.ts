/** The connection of one of OpenAI's live sessions: events in both directions. */
import type { VerbatimError } from '../../errors.js';
import { randomId } from '../../ledger/ids.js';
import type { SessionEnd } from '../../live/events.js';
import { requestError } from '../../transcription/request-errors.js';
import { openAiRow } from '../openai/errors.js';
import { closeCodeOf } from '../websocket/close-code.js';
import type { Message, SocketConnection } from '../websocket/connection.js';
import { audioLengthOf, clientEvent, eventIdOf, valueOf, type ClientEvent } from './client-events.js';

const FINISHED = 1000;

export interface EventHandler {
  /** What it throws is reported to the client. */
  event: (event: ClientEvent) => Promise<void>;
  closed: () => void;
}

export class EventConnection {
  /** `codeOf`: the code of an error in OpenAI's protocol. */
  constructor(
    private readonly connection: SocketConnection,
    private readonly codeOf = (error: VerbatimError): string | null => openAiRow(error.code).code,
  ) {}

  begin({ event, closed }: EventHandler): void {
    this.connection.begin({ message: (message) => this.#message(message, event), closed });
  }

  send(type: string, body: object): void {
    this.connection.send({ type, event_id: randomId('event'), ...body });
  }

  /** `eventId`: of the event that it answers. */
  error(error: VerbatimError, eventId: string | null = null): void {
    const { type } = openAiRow(error.code);
    const { message, param } = error;
    this.send('error', { error: { type, code: this.codeOf(error), message, param, event_id: eventId } });
  }

  /** Closes it as its session ended. */
  end(end: SessionEnd): void {
    if (end.how === 'refused') this.error(end.error);
    this.connection.close(end.how === 'refused' ? closeCodeOf(end.error) : FINISHED, '');
  }

  async #message(message: Message, handle: EventHandler['event']): Promise<void> {
    let eventId: string | null = null;
    let useful = 0;
    try {
      const value = valueOf(message);
      eventId = eventIdOf(value);
      const event = clientEvent(value);
      await handle(event);
      useful = audioLengthOf(event);
    } catch (error) {
      this.error(requestError(error), eventId);
    }
    await this.connection.payForUseless(message.data.length - useful);
  }
}
