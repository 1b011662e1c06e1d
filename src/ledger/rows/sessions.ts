/** Sessions of the dashboard, as they are stored. */
import { SESSION_IDLE_MS, SESSION_LIFE_MS, type Session } from '../access/types.js';
import { UNPRINTABLE } from '../text.js';
import { toIso } from '../time.js';

/** Uses within so long are written once. */
const TOUCH_MS = 60_000;
/** Of one account; a further one ends the one that was not used for longest. */
export const MAX_SESSIONS = 20;
/** Old ones deleted by one call, so that none takes long. */
export const SESSION_SWEEP_LIMIT = 500;
const MAX_BROWSER_LENGTH = 200;

export interface SessionRow {
  id: string;
  account_id: string;
  method: Session['method'];
  browser: string;
  address: string;
  created_at: number;
  seen_at: number;
}

export function toSession(row: SessionRow): Session {
  const { id, method, browser, address } = row;
  return { id, method, browser, address, createdAt: toIso(row.created_at), seenAt: toIso(row.seen_at) };
}

export function printableBrowser(given: string): string {
  return given.replace(new RegExp(UNPRINTABLE, 'gu'), '').slice(0, MAX_BROWSER_LENGTH);
}

export function isTouchDue({ seenAt }: Session, now: number): boolean {
  return now - Date.parse(seenAt) >= TOUCH_MS;
}

/** Last use and beginning that a session must be younger than. */
export function earliestOf(now: number): [seenAt: number, createdAt: number] {
  return [now - SESSION_IDLE_MS, now - SESSION_LIFE_MS];
}
