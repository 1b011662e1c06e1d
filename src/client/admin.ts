/** All accounts of the service, for keys with the scope `admin`. */
import type { CallOptions, SendRequest } from './requests.js';
import { searchOf } from './search.js';
import type { AdminAccount, AdminAccountList, AdminUsage, CreditGrant, DeletedAccount } from './types.js';

export interface PageQuery {
  /** 1 to 1,000; default 100. */
  limit?: number;
  /** The `next_cursor` of the page before. */
  cursor?: string;
}

export interface UsageWindow {
  /** UTC days as YYYY-MM-DD, both included; default: the last 30. */
  from?: string;
  to?: string;
  /** Only of this account. */
  accountId?: string;
}

export interface GrantInput {
  /** Whole credits. */
  amount: number;
  /** ISO 8601; default: never. */
  expiresAt?: string;
  /** The same payment grants once: the call can be repeated. */
  paymentId?: string;
}

const ADMIN = '/api/v1/admin';

export class Admin {
  constructor(private readonly send: SendRequest) {}

  listAccounts(query: PageQuery = {}, options: CallOptions = {}): Promise<AdminAccountList> {
    return this.send('GET', `${ADMIN}/accounts${searchOf({ ...query })}`, options);
  }

  /** Not repeated after a lost answer: the account may have been made. */
  createAccount(input: { email: string; name?: string }, { signal }: CallOptions = {}): Promise<AdminAccount> {
    return this.send('POST', `${ADMIN}/accounts`, { ...json(input), signal, repeatable: false });
  }

  account(id: string, options: CallOptions = {}): Promise<AdminAccount> {
    return this.send('GET', accountPath(id), options);
  }

  suspend(id: string, options: CallOptions = {}): Promise<AdminAccount> {
    return this.send('POST', `${accountPath(id)}/suspend`, options);
  }

  resume(id: string, options: CallOptions = {}): Promise<AdminAccount> {
    return this.send('POST', `${accountPath(id)}/resume`, options);
  }

  /** All that is stored on the account. */
  exportAccount(id: string, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.send('GET', `${accountPath(id)}/export`, options);
  }

  /** Money stays, under an id that names nobody. Not repeated after a lost answer. */
  deleteAccount(id: string, { signal }: CallOptions = {}): Promise<DeletedAccount> {
    return this.send('DELETE', accountPath(id), { signal, repeatable: false });
  }

  /** Repeated after a lost answer if it has a payment's id. */
  grantCredits(id: string, input: GrantInput, { signal }: CallOptions = {}): Promise<CreditGrant> {
    const { amount, expiresAt, paymentId } = input;
    const body = json({ amount, expires_at: expiresAt, payment_id: paymentId });
    const repeatable = paymentId !== undefined;
    return this.send('POST', `${accountPath(id)}/credits`, { ...body, signal, repeatable });
  }

  usage(query: UsageWindow & PageQuery = {}, options: CallOptions = {}): Promise<AdminUsage> {
    const { accountId, ...rest } = query;
    return this.send('GET', `${ADMIN}/usage${searchOf({ ...rest, account_id: accountId })}`, options);
  }

  /** All rows, with a line of their names. */
  usageCsv({ accountId, ...rest }: UsageWindow = {}, options: CallOptions = {}): Promise<string> {
    const search = searchOf({ ...rest, account_id: accountId, format: 'csv' });
    return this.send('GET', `${ADMIN}/usage${search}`, options);
  }
}

function accountPath(id: string): string {
  return `${ADMIN}/accounts/${encodeURIComponent(id)}`;
}

function json(body: object): { headers: Record<string, string>; body: string } {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
