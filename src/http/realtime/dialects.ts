/** The two dialects of OpenAI's Realtime API: the current one, and the beta before it. */
import { betaSessionBody, betaUpdated, sessionBody, updated } from './session-schema.js';

export interface RealtimeDialect {
  /** Names of events. */
  update: string;
  created: string;
  updated: string;
  /** Events of an item that begins, in their order. */
  itemEvents: readonly string[];
  read: typeof updated;
  body: typeof sessionBody;
}

export const CURRENT: RealtimeDialect = {
  update: 'session.update',
  created: 'session.created',
  updated: 'session.updated',
  itemEvents: ['conversation.item.added', 'conversation.item.done'],
  read: updated,
  body: sessionBody,
};

export const BETA: RealtimeDialect = {
  update: 'transcription_session.update',
  created: 'transcription_session.created',
  updated: 'transcription_session.updated',
  itemEvents: ['conversation.item.created'],
  read: betaUpdated,
  body: betaSessionBody,
};
