/**
 * Who may sign in to the dashboard, and the sessions of those who have. Every method is one transaction, as the
 * ledger's are.
 */
import { DAY_MS } from '../time.js';
import type { Account, ApiKey, Role } from '../types.js';
import type { PasswordRecord } from './password.js';

/** Of a session that is not used. */
export const SESSION_IDLE_MS = DAY_MS / 2;
/** Of any session. */
export const SESSION_LIFE_MS = 14 * DAY_MS;

/** Where a session is used from, as its owner is shown it. */
export interface ClientInfo {
  /** The browser's User-Agent. */
  browser: string;
  address: string;
}

export interface Session extends ClientInfo {
  id: string;
  method: 'link' | 'password';
  createdAt: string;
  /** To the minute. */
  seenAt: string;
}

export interface StartedSession extends Session {
  /** For the cookie; only its hash is stored. */
  token: string;
}

export interface SignedIn {
  account: Account;
  session: Session;
  hasPassword: boolean;
}

export interface SignInLink {
  /** Opens one session; only its hash is stored. */
  token: string;
  expiresAt: string;
}

export interface AccountAccess {
  /** Without the operator's role an account's admin keys are revoked. Throws `account_not_found`. */
  setRole(accountId: string, role: Role): Promise<Account>;

  /** A link that works once, within a day; the one before it works no longer. Throws `account_not_found`. */
  createLink(accountId: string): Promise<SignInLink>;
  /** Whose link it is; null: it never was one, was used, replaced, or is too old. */
  linkOwner(token: string): Promise<Account | null>;
  /** Uses the link up. Throws `account_suspended`, and leaves the link as it is. */
  useLink(token: string, client: ClientInfo): Promise<StartedSession | null>;

  /** null: there is no such account, or it has no password. */
  findPassword(email: string): Promise<{ account: Account; password: PasswordRecord } | null>;
  /** Ends every session of the account and its open link, and begins a new session. Throws `account_not_found`. */
  setPassword(accountId: string, password: PasswordRecord, client: ClientInfo): Promise<StartedSession>;
  /**
   * null when the password that was verified is not the account's any more. `rehashed` takes its place. Throws
   * `account_suspended`.
   */
  startSession(
    accountId: string,
    verified: PasswordRecord,
    client: ClientInfo,
    rehashed?: PasswordRecord,
  ): Promise<StartedSession | null>;

  /**
   * The key that the account's requests from the dashboard are booked under: listed and revoked as any other, and
   * created again after that. Its raw form is thrown away. Throws `account_not_found`.
   */
  dashboardKey(accountId: string): Promise<ApiKey>;

  /**
   * null: unknown, ended, or not used for too long. One of a suspended account is found: it opens nothing, and can be
   * ended.
   */
  findSession(token: string): Promise<SignedIn | null>;
  /** The last used first. */
  listSessions(accountId: string): Promise<Session[]>;
  /** Whether the account had such a session. */
  endSession(accountId: string, sessionId: string): Promise<boolean>;
  /** Ends every session of the account but this one; how many. */
  endOtherSessions(accountId: string, keptId: string): Promise<number>;
}
