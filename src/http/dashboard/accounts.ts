/** The operator's accounts: made, given credits and roles, let in by a link; the same calls as the command line's. */
import { VerbatimError } from '../../errors.js';
import { exportOf } from '../../ledger/account-export.js';
import { ROLES } from '../../ledger/access/types.js';
import { DAY_MS, parseIso, toIso } from '../../ledger/time.js';
import type { Account } from '../../ledger/types.js';
import { accountCursor, accountPlaceOf, AdminCursor } from '../api/admin-schema.js';
import type { HttpDeps } from '../deps.js';
import { JSON_TYPE, type Exchange } from '../exchange.js';
import { readParameter } from '../parameter.js';
import type { Route } from '../route.js';
import { deleteAccount, suspendAccount } from '../shut-out.js';
import {
  accountsView,
  confirmDeleteView,
  madeLinkView,
  operatedView,
  type FormError,
} from './accounts-views.js';
import { EMPTY_PACKS } from './overview.js';
import { PAGE_HEADERS } from './page.js';
import { operatedPath, PATHS, signInUrl } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type MemberVisit, type PageReply, type Visits } from './visits.js';

const PER_PAGE = 50;

export function operatedAccountRoutes(deps: HttpDeps, visits: Visits): Route[] {
  const { ledger, clock } = deps;

  async function list({ exchange }: MemberVisit, error?: FormError): Promise<PageReply> {
    const { after: given, notice } = exchange.req.query;
    const cursor = readParameter(AdminCursor, given, null);
    const after = cursor === null ? null : accountPlaceOf(cursor);
    const found = await ledger.administration.list({ limit: PER_PAGE + 1, after });
    const shown = [];
    for (const account of found.slice(0, PER_PAGE)) {
      shown.push({ ...account, balance: (await ledger.balance(account.id)).balance });
    }
    const last = found.length > PER_PAGE ? shown.at(-1) : undefined;
    const next = last === undefined ? null : accountCursor(last);
    return asked(accountsView(shown, { next, isFirst: cursor === null, notice, error }), error);
  }

  async function make(visit: MemberVisit, form: URLSearchParams): Promise<PageReply> {
    const [email, name] = [fieldOf(form, 'email'), form.get('name')];
    return told(
      async () => {
        const { id } = await ledger.createAccount({ email, name });
        return { to: `${operatedPath(id)}?notice=account-made` };
      },
      (message) => list(visit, { form: 'make', message }),
    );
  }

  async function accountOf({ exchange }: MemberVisit): Promise<Account> {
    const account = await ledger.administration.find(String(exchange.req.params['id']));
    if (account === null) throw new Refusal(404, TEXTS.errors.noAccount);
    return account;
  }

  async function show(visit: MemberVisit, error?: FormError): Promise<PageReply> {
    const account = await accountOf(visit);
    const { balance } = await ledger.balance(account.id);
    const packs = await ledger.listPacks(account.id, EMPTY_PACKS);
    const { notice } = visit.exchange.req.query;
    return asked(operatedView({ ...account, balance }, { packs, notice, error }), error);
  }

  async function grant(visit: MemberVisit, form: URLSearchParams): Promise<PageReply> {
    const { id: accountId } = await accountOf(visit);
    const [amount, expires] = [fieldOf(form, 'amount').trim(), form.get('expires') ?? ''];
    return told(
      async () => {
        const whole = /^\d{1,15}$/.test(amount) ? Number(amount) : NaN;
        await ledger.grantCredits({ accountId, amount: whole, expiresAt: endOf(expires) });
        return { to: `${operatedPath(accountId)}?notice=granted` };
      },
      (message) => show(visit, { form: 'grant', message }),
    );
  }

  async function setRole(visit: MemberVisit, form: URLSearchParams): Promise<PageReply> {
    const { id } = await accountOf(visit);
    const role = ROLES.find((known) => known === form.get('role'));
    if (role === undefined) throw new Refusal(400, TEXTS.errors.form('role'));
    if (id === visit.account.id) throw new Refusal(400, TEXTS.errors.ownRole);
    await ledger.access.setRole(id, role);
    return { to: `${operatedPath(id)}?notice=role-set` };
  }

  async function makeLink(visit: MemberVisit): Promise<PageReply> {
    const account = await accountOf(visit);
    const { token } = await ledger.access.createLink(account.id);
    return madeLinkView(account, signInUrl(visit.site.origin, token));
  }

  /** Whoever shuts out the own account could not undo it. */
  async function othersAccountOf(visit: MemberVisit): Promise<Account> {
    const account = await accountOf(visit);
    if (account.id === visit.account.id) throw new Refusal(400, TEXTS.errors.ownAccount);
    return account;
  }

  async function suspend(visit: MemberVisit): Promise<PageReply> {
    const { id } = await othersAccountOf(visit);
    await suspendAccount(deps, id);
    return { to: `${operatedPath(id)}?notice=suspended` };
  }

  async function resume(visit: MemberVisit): Promise<PageReply> {
    const { id } = await accountOf(visit);
    await ledger.administration.resume(id);
    return { to: `${operatedPath(id)}?notice=resumed` };
  }

  async function remove(visit: MemberVisit): Promise<PageReply> {
    const { id } = await othersAccountOf(visit);
    await deleteAccount(deps, id);
    return { to: `${PATHS.accounts}?notice=account-deleted` };
  }

  /** Larger than memory, perhaps: nothing holds it whole. */
  function tell(exchange: Exchange): Promise<void> {
    const id = String(exchange.req.params['id']);
    const headers = { ...PAGE_HEADERS, 'Content-Disposition': 'attachment; filename="account.json"' };
    return exchange.pieces(JSON_TYPE, exportOf(ledger, id, new Date(clock())), headers);
  }

  return [
    {
      path: PATHS.accounts,
      methods: {
        GET: visits.operatorPage((visit) => list(visit)),
        POST: visits.operatorForm('account-made', make),
      },
    },
    { path: operatedPath(':id'), methods: { GET: visits.operatorPage((visit) => show(visit)) } },
    { path: operatedPath(':id', 'grant'), methods: { POST: visits.operatorForm('granted', grant) } },
    { path: operatedPath(':id', 'role'), methods: { POST: visits.operatorForm('role-set', setRole) } },
    { path: operatedPath(':id', 'link'), methods: { POST: visits.operatorForm('link-made', makeLink) } },
    { path: operatedPath(':id', 'suspend'), methods: { POST: visits.operatorForm('suspended', suspend) } },
    { path: operatedPath(':id', 'resume'), methods: { POST: visits.operatorForm('resumed', resume) } },
    { path: operatedPath(':id', 'export'), methods: { GET: visits.operatorCall(tell, 'exported') } },
    {
      path: operatedPath(':id', 'delete'),
      methods: {
        GET: visits.operatorPage(async (visit) => confirmDeleteView(await othersAccountOf(visit))),
        POST: visits.operatorForm('account-deleted', remove),
      },
    },
  ];
}

/** What the ledger refuses is told on the page whose form asked for it. */
async function told(
  work: () => Promise<PageReply>,
  again: (message: string) => Promise<PageReply>,
): Promise<PageReply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof VerbatimError && error.code === 'invalid_request') return again(error.message);
    throw error;
  }
}

function asked<T extends object>(view: T, error: FormError | undefined): T & { status?: number } {
  return error === undefined ? view : { ...view, status: 400 };
}

/** A date counts to its end, as on the command line; what is none is for the ledger to refuse. */
function endOf(date: string): string | null {
  if (date === '') return null;
  const start = parseIso(date);
  return start === null || date.includes('T') ? date : toIso(start + DAY_MS);
}
