/** The operator's accounts: made, given credits and roles, let in by a link; the same calls as the command line's. */
import { VerbatimError } from '../../errors.js';
import { exportOf } from '../../ledger/account-export.js';
import { ROLES, type Role } from '../../ledger/types.js';
import { DAY_MS, parseIso, toIso } from '../../ledger/time.js';
import type { Account } from '../../ledger/types.js';
import { accountCursor, accountPlaceOf, AdminCursor } from '../api/admin-schema.js';
import type { HttpDeps } from '../app/deps.js';
import { JSON_TYPE, type Exchange } from '../app/exchange.js';
import { readParameter } from '../schema/parameter.js';
import type { Route } from '../app/route.js';
import { deleteAccount, suspendAccount } from '../auth/account-suspension.js';
import {
  accountsView,
  confirmDeleteView,
  confirmRoleView,
  confirmSuspendView,
  madeLinkView,
  operatedView,
  type FormError,
} from './accounts-views.js';
import { EMPTY_PACKS } from './overview.js';
import { PAGE_HEADERS } from './page.js';
import { operatedPath, PATHS, signInUrl } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type MemberRequest, type PageReply, type PageHandlers } from './page-handlers.js';

const PER_PAGE = 50;

export function operatedAccountRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { ledger, clock } = deps;

  async function list({ exchange }: MemberRequest, error?: FormError): Promise<PageReply> {
    const { after: given, notice } = exchange.req.query;
    const cursor = readParameter(AdminCursor, given, null);
    const after = cursor === null ? null : accountPlaceOf(cursor);
    const found = await ledger.administration.list({ limit: PER_PAGE + 1, after });
    const shown = [];
    for (const account of found.slice(0, PER_PAGE)) {
      shown.push({ ...account, balance: (await ledger.credits.balance(account.id)).balance });
    }
    const last = found.length > PER_PAGE ? shown.at(-1) : undefined;
    const next = last === undefined ? null : accountCursor(last);
    return asked(accountsView(shown, { next, isFirst: cursor === null, notice, error }), error);
  }

  async function make(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const [email, name] = [fieldOf(form, 'email'), form.get('name')];
    return withRefusalShown(
      async () => {
        const { id } = await ledger.accounts.create({ email, name });
        return { to: `${operatedPath(id)}?notice=account-made`, made: id };
      },
      (message) => list(request, { form: 'make', message }),
    );
  }

  async function accountOf({ exchange }: MemberRequest): Promise<Account> {
    const account = await ledger.administration.find(String(exchange.req.params['id']));
    if (account === null) throw new Refusal(404, TEXTS.errors.noAccount);
    return account;
  }

  async function show(request: MemberRequest, error?: FormError): Promise<PageReply> {
    const account = await accountOf(request);
    const { balance } = await ledger.credits.balance(account.id);
    const packs = await ledger.credits.packs(account.id, EMPTY_PACKS);
    const { notice } = request.exchange.req.query;
    return asked(operatedView({ ...account, balance }, { packs, notice, error }), error);
  }

  async function grant(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const { id: accountId } = await accountOf(request);
    const [amount, expires] = [amountOf(form), form.get('expires') ?? ''];
    return withRefusalShown(
      async () => {
        await ledger.credits.grant({
          accountId,
          amount: amount === null ? NaN : Number(amount),
          expiresAt: endOf(expires),
        });
        return { to: `${operatedPath(accountId)}?notice=granted` };
      },
      (message) => show(request, { form: 'grant', message }),
    );
  }

  async function setRole(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const { id } = await accountOf(request);
    const role = roleIn(form);
    if (role === undefined) throw new Refusal(400, TEXTS.errors.form('role'));
    if (id === request.account.id) throw new Refusal(400, TEXTS.errors.ownRole);
    await ledger.access.setRole(id, role);
    return { to: `${operatedPath(id)}?notice=role-set` };
  }

  async function makeLink(request: MemberRequest): Promise<PageReply> {
    const account = await accountOf(request);
    const { token } = await ledger.access.createLink(account.id);
    return madeLinkView(account, signInUrl(request.site.origin, token));
  }

  /** Operators cannot suspend or delete their own account: they could not undo it. */
  async function othersAccountOf(request: MemberRequest): Promise<Account> {
    const account = await accountOf(request);
    if (account.id === request.account.id) throw new Refusal(400, TEXTS.errors.ownAccount);
    return account;
  }

  async function suspend(request: MemberRequest): Promise<PageReply> {
    const { id } = await othersAccountOf(request);
    await suspendAccount(deps, id);
    return { to: `${operatedPath(id)}?notice=suspended` };
  }

  async function resume(request: MemberRequest): Promise<PageReply> {
    const { id } = await accountOf(request);
    await ledger.administration.resume(id);
    return { to: `${operatedPath(id)}?notice=resumed` };
  }

  async function remove(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const account = await othersAccountOf(request);
    const typed = fieldOf(form, 'email').trim().toLowerCase();
    if (typed !== account.email.toLowerCase())
      return { ...confirmDeleteView(account, TEXTS.accounts.deleteMismatch), status: 400 };
    await deleteAccount(deps, account.id);
    return { to: `${PATHS.accounts}?notice=account-deleted` };
  }

  /** Larger than memory, perhaps: nothing holds it whole. */
  function sendExport(exchange: Exchange): Promise<void> {
    const id = String(exchange.req.params['id']);
    const headers = { ...PAGE_HEADERS, 'Content-Disposition': 'attachment; filename="account.json"' };
    return exchange.pieces(JSON_TYPE, exportOf(ledger, id, new Date(clock())), headers);
  }

  return [
    {
      path: PATHS.accounts,
      methods: {
        GET: pages.operatorPage((request) => list(request)),
        POST: pages.operatorForm('account-made', make),
      },
    },
    { path: operatedPath(':id'), methods: { GET: pages.operatorPage((request) => show(request)) } },
    { path: operatedPath(':id', 'grant'), methods: { POST: pages.operatorForm('granted', grant, amountOf) } },
    {
      path: operatedPath(':id', 'role'),
      methods: {
        GET: pages.operatorPage(async (request) => confirmRoleView(await accountOf(request))),
        POST: pages.operatorForm('role-set', setRole, (form) => roleIn(form) ?? null),
      },
    },
    { path: operatedPath(':id', 'link'), methods: { POST: pages.operatorForm('link-made', makeLink) } },
    {
      path: operatedPath(':id', 'suspend'),
      methods: {
        GET: pages.operatorPage(async (request) => confirmSuspendView(await othersAccountOf(request))),
        POST: pages.operatorForm('suspended', suspend),
      },
    },
    { path: operatedPath(':id', 'resume'), methods: { POST: pages.operatorForm('resumed', resume) } },
    { path: operatedPath(':id', 'export'), methods: { GET: pages.operatorCall(sendExport, 'exported') } },
    {
      path: operatedPath(':id', 'delete'),
      methods: {
        GET: pages.operatorPage(async (request) => confirmDeleteView(await othersAccountOf(request))),
        POST: pages.operatorForm('account-deleted', remove),
      },
    },
  ];
}

/** Whole credits; null: another text. */
function amountOf(form: URLSearchParams): string | null {
  const amount = fieldOf(form, 'amount').trim();
  return /^\d{1,15}$/.test(amount) ? amount : null;
}

function roleIn(form: URLSearchParams): Role | undefined {
  return ROLES.find((known) => known === form.get('role'));
}

/** The ledger's refusals are shown on the page with the form. */
async function withRefusalShown(
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

/** A date counts to its end, as on the command line. The ledger refuses a text that is no date. */
function endOf(date: string): string | null {
  if (date === '') return null;
  const start = parseIso(date);
  return start === null || date.includes('T') ? date : toIso(start + DAY_MS);
}
