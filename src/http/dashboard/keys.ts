/** API keys: made, listed and revoked with the ledger's own calls, as the API's are; management keys are made here. */
import { VerbatimError } from '../../errors.js';
import { recordAction, type OperatorAction } from '../../ledger/operators.js';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import type { Account, ApiKey, IssuedKey } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { endedKeyCookie, madeKey, madeKeyCookie } from './cookie.js';
import { confirmView, keysView, madeKeyView, type KeyKind } from './keys-views.js';
import { PATHS, revokePath } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS, type OperatorActionName } from './texts.js';
import { fieldOf, type MemberRequest, type PageReply, type PageHandlers } from './page-handlers.js';

const SCOPES_OF: Readonly<Record<KeyKind, readonly string[]>> = {
  plain: [],
  management: [MANAGEMENT_SCOPE],
  // As the choice says: that, and more.
  admin: [MANAGEMENT_SCOPE, ADMIN_SCOPE],
};

/** On an admin key of the operator's own account. */
const actionOf = (operatorId: string, action: OperatorActionName): OperatorAction => ({
  ...{ operatorId, action, subject: operatorId, detail: ADMIN_SCOPE },
});

/** Only operators make admin keys. */
function kindOf(given: string | null, { role }: Account): KeyKind {
  if (given === 'admin' && role !== 'operator') throw new Refusal(403, TEXTS.errors.adminKey);
  return given === 'management' || given === 'admin' ? given : 'plain';
}

export function keyPageRoutes({ ledger, inFlight, clock }: HttpDeps, pages: PageHandlers): Route[] {
  async function list({ account, exchange }: MemberRequest): Promise<PageReply> {
    const { notice } = exchange.req.query;
    return keysView(await ledger.keys.list(account.id), { role: account.role, now: clock(), notice });
  }

  async function make({ account, site }: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const name = fieldOf(form, 'name');
    const kind = kindOf(form.get('kind'), account);
    try {
      const { rawKey } = await create(account, name, kind);
      return { to: PATHS.madeKey, cookie: madeKeyCookie(site, rawKey) };
    } catch (error) {
      if (!(error instanceof VerbatimError) || error.param !== 'name') throw error;
      const keys = await ledger.keys.list(account.id);
      return { ...keysView(keys, { role: account.role, now: clock(), error: error.message, name, kind }), status: 400 };
    }
  }

  /** An admin key, which does what operators may, is in the operators' log. */
  function create({ id }: Account, name: string, kind: KeyKind): Promise<IssuedKey> {
    const work = (): Promise<IssuedKey> => ledger.keys.create({ accountId: id, name, scopes: [...SCOPES_OF[kind]] });
    if (kind !== 'admin') return work();
    return recordAction(ledger.operators, actionOf(id, 'key-made'), work);
  }

  /** Shows the key once: a page that is loaded again neither shows it nor makes another. */
  async function showMade({ account, site, exchange }: MemberRequest): Promise<PageReply> {
    const rawKey = madeKey(exchange, site);
    const keys = rawKey === null ? [] : await ledger.keys.list(account.id);
    const isOwn = keys.some(({ prefix, revokedAt }) => rawKey?.startsWith(prefix) === true && revokedAt === null);
    if (rawKey === null || !isOwn) return { to: `${PATHS.keys}?notice=key-shown`, cookie: endedKeyCookie(site) };
    return { ...madeKeyView(rawKey, site), headers: { 'Set-Cookie': endedKeyCookie(site) } };
  }

  /** A live key of the account, by the id in the path. */
  async function keyOf({ account, exchange }: MemberRequest): Promise<ApiKey> {
    const { id } = exchange.req.params;
    const key = (await ledger.keys.list(account.id)).find((one) => one.id === id && one.revokedAt === null);
    if (key === undefined) throw new Refusal(404, TEXTS.errors.noKey);
    return key;
  }

  async function revoke(request: MemberRequest): Promise<PageReply> {
    const { id, scopes } = await keyOf(request);
    const accountId = request.account.id;
    const work = (): Promise<unknown> => ledger.keys.revoke(accountId, id);
    if (!scopes.includes(ADMIN_SCOPE)) await work();
    else await recordAction(ledger.operators, actionOf(accountId, 'key-revoked'), work);
    inFlight.revokeKey(id);
    return { to: `${PATHS.keys}?notice=key-revoked` };
  }

  return [
    { path: PATHS.keys, methods: { GET: pages.memberPage(list), POST: pages.memberForm(make) } },
    { path: PATHS.madeKey, methods: { GET: pages.memberPage(showMade) } },
    {
      path: revokePath(':id'),
      methods: {
        GET: pages.memberPage(async (request) => confirmView(await keyOf(request))),
        POST: pages.memberForm(revoke),
      },
    },
  ];
}
