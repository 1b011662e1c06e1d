/** What went wrong with a statement, and whether it may have been done nevertheless. */
import { DatabaseError } from 'pg';
import { VerbatimError } from '../../errors.js';

/** The database could not be asked: nothing was sent. */
export class NotReached extends Error {
  override readonly name = 'NotReached';
  constructor(cause: unknown) {
    super(`The database cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

export type DatabaseFailure =
  /** Nothing was changed, and a repeat may succeed. */
  | 'undone'
  /** The connection broke: nobody knows. */
  | 'unknown';

/** Serialization failure, deadlock. */
const CONFLICTS = ['40001', '40P01'];
/** Locks and statements that took too long; too many connections; disk, memory; a server that only reads. */
const UNDONE = [...CONFLICTS, '55P03', '57014', '53000', '53100', '53200', '53300', '25006', '58030'];

/** Null: not a failure of the database, but an error of the caller. */
export function databaseFailureOf(error: unknown): DatabaseFailure | null {
  if (error instanceof NotReached) return 'undone';
  if (error instanceof DatabaseError) {
    if (UNDONE.includes(error.code ?? '')) return 'undone';
    // A server that stops, or a proxy that lost it.
    return /^(57P|08)/.test(error.code ?? '') ? 'unknown' : null;
  }
  return isConnectionError(error) ? 'unknown' : null;
}

/** Of `name`, as the database calls it. */
export function violates(error: unknown, name: string): boolean {
  return error instanceof DatabaseError && error.constraint === name;
}

/** `done`: what is known of it. */
export function unreachable(cause: unknown, done: 'nothing' | 'unknown'): VerbatimError {
  const known = done === 'nothing' ? 'nothing was changed' : 'whether it was done is not known';
  return new VerbatimError('overloaded', `The database does not answer just now; ${known}. Try again shortly.`, {
    retryAfterSeconds: 1,
    cause,
  });
}

/** As unreachable() says it. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof VerbatimError && error.code === 'overloaded';
}

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && /^E[A-Z]+$/.test(String(error.code))) return true;
  return /^(Connection terminated|Query read timeout|Client (has encountered|was closed))/.test(error.message);
}
