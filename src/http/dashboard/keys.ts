/** API keys: made, listed and revoked with the ledger's own calls, as the API's are; management keys are made here. */
import { VerbatimError } from '../../errors.js';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import type { Account, ApiKey } from '../../ledger/types.js';
import type { HttpDeps } from '../deps.js';
import type { Route } from '../route.js';
import { confirmView, keysView, madeKeyView, type KeyKind } from './keys-views.js';
import { PATHS, revokePath } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type MemberVisit, type PageReply, type Visits } from './visits.js';

const SCOPES_OF: Readonly<Record<KeyKind, readonly string[]>> = {
  plain: [],
  management: [MANAGEMENT_SCOPE],
  // As the choice says: that, and more.
  admin: [MANAGEMENT_SCOPE, ADMIN_SCOPE],
};

/** What an operator alone may make is nothing to others. */
function kindOf(given: string | null, { role }: Account): KeyKind {
  if (given === 'admin' && role !== 'operator') throw new Refusal(403, TEXTS.errors.adminKey);
  return given === 'management' || given === 'admin' ? given : 'plain';
}

export function keyPageRoutes({ ledger, inFlight }: HttpDeps, visits: Visits): Route[] {
  async function list({ account, exchange }: MemberVisit): Promise<PageReply> {
    const { notice } = exchange.req.query;
    return keysView(await ledger.listKeys(account.id), { role: account.role, notice });
  }

  async function make({ account, site }: MemberVisit, form: URLSearchParams): Promise<PageReply> {
    const name = fieldOf(form, 'name');
    const kind = kindOf(form.get('kind'), account);
    try {
      const scopes = [...SCOPES_OF[kind]];
      return madeKeyView(await ledger.createKey({ accountId: account.id, name, scopes }), site);
    } catch (error) {
      if (!(error instanceof VerbatimError) || error.param !== 'name') throw error;
      const keys = await ledger.listKeys(account.id);
      return { ...keysView(keys, { role: account.role, error: error.message, name, kind }), status: 400 };
    }
  }

  /** A live key of the account, by the id in the path. */
  async function keyOf({ account, exchange }: MemberVisit): Promise<ApiKey> {
    const { id } = exchange.req.params;
    const key = (await ledger.listKeys(account.id)).find((one) => one.id === id && one.revokedAt === null);
    if (key === undefined) throw new Refusal(404, TEXTS.errors.noKey);
    return key;
  }

  async function revoke(visit: MemberVisit): Promise<PageReply> {
    const { id } = await keyOf(visit);
    await ledger.revokeKey(visit.account.id, id);
    inFlight.revokeKey(id);
    return { to: `${PATHS.keys}?notice=key-revoked` };
  }

  return [
    { path: PATHS.keys, methods: { GET: visits.memberPage(list), POST: visits.memberForm(make) } },
    {
      path: revokePath(':id'),
      methods: {
        GET: visits.memberPage(async (visit) => confirmView(await keyOf(visit))),
        POST: visits.memberForm(revoke),
      },
    },
  ];
}
