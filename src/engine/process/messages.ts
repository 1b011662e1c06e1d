/** What goes over the channel between this process and a child. */
import type { Form } from './frames.js';
import { isToldError, type ToldError } from './told-errors.js';

/** Where a child has its end of it. */
export const CHANNEL_FD = 3;

/** What a child can be asked for, by name. */
export type CallTable = Record<string, { request: unknown; progress: unknown; answer: unknown }>;

export type ToChild =
  /** First, once. */
  | { kind: 'start'; settings: unknown }
  | { kind: 'call'; id: number; name: string; request: unknown }
  /** The call may go on, which waits for this. */
  | { kind: 'proceed'; id: number }
  /** The call is still to be answered: by a failure, or by what it had come to. */
  | { kind: 'abort'; id: number }
  | { kind: 'ping' };

export type FromChild =
  /** With what it is, where there is something to say. */
  | { kind: 'ready'; value?: unknown }
  /** In place of `ready`: with these settings no child will ever be. */
  | { kind: 'unfit'; error: ToldError }
  | { kind: 'progress'; id: number; value: unknown }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'failure'; id: number; error: ToldError }
  /** Of no call. */
  | { kind: 'report'; value: unknown }
  /** With how it is, where there is something to say. */
  | { kind: 'pong'; value?: unknown };

/** `ofCalls`: of what the calls are made of. What a child is started with, and has become, is any value that can be cloned. */
export function formOf({ kind }: ToChild | FromChild, ofCalls: Form): Form {
  return kind === 'start' || kind === 'ready' ? 'clone' : ofCalls;
}

const OF_A_CALL = ['progress', 'answer', 'failure'];
const OTHERS = ['ready', 'unfit', 'report', 'pong'];

/** A child that has read a hostile file is not believed. */
export function isFromChild(value: unknown): value is FromChild {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind, id, error } = value as { kind: unknown; id?: unknown; error?: unknown };
  if (typeof kind !== 'string' || !(OF_A_CALL.includes(kind) || OTHERS.includes(kind))) return false;
  if (OF_A_CALL.includes(kind) && typeof id !== 'number') return false;
  return kind === 'failure' || kind === 'unfit' ? isToldError(error) : true;
}
