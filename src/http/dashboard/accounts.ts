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
import { confirmDeleteView, confirmRoleView, confirmSuspendView, madeLinkView } from './account-questions.js';
import { accountsView, operatedView, type FormError } from './accounts-views.js';
import { buttonForm } from './components/button.js';
import { EMPTY_PACKS } from './credit-packs.js';
import { PAGE_HEADERS } from './page.js';
import { operatedPath, PATHS, signInUrl } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type MemberRequest, type PageReply, type PageHandlers } from './page-handlers.js';

const PER_PAGE = 50;
const MOST_SEARCH_LENGTH = 254;

export function operatedAccountRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { ledger, clock } = deps;

  async function list({ exchange }: MemberRequest, error?: FormError): Promise<PageReply> {
    const { after: given, notice } = exchange.req.query;
    const cursor = readParameter(AdminCursor, given, null);
    const search = searchIn(exchange);
    const after = cursor === null ? null : accountPlaceOf(cursor);
    const found = await ledger.administration.customers({ search, limit: PER_PAGE + 1, after });
    const shown = found.slice(0, PER_PAGE);
    const hasMore = found.length > PER_PAGE;
    const last = hasMore && search === null ? shown.at(-1) : undefined;
    const next = last === undefined ? null : accountCursor(last);
    const state = { search, hasMore, next, isFirst: cursor === null, now: clock(), notice, error };
    return asked(accountsView(shown, state), error);
  }

  async function make(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const [email, name] = [fieldOf(form, 'email'), form.get('name')];
    return withRefusalShown(
      async () => {
        const { id } = await ledger.accounts.create({ email, name });
        return { to: `${operatedPath(id)}?notice=account-made`, made: id };
      },
      (refused) => list(request, { form: 'make', ...refused, values: valuesOf(form) }),
    );
  }

  async function accountOf({ exchange }: MemberRequest): Promise<Account> {
    const account = await ledger.administration.find(String(exchange.req.params['id']));
    if (account === null) throw new Refusal(404, TEXTS.errors.noAccount);
    return account;
  }

  async function show(request: MemberRequest, error?: FormError): Promise<PageReply> {
    const { id } = await accountOf(request);
    const [account] = await ledger.administration.customers({ search: id, limit: 1, after: null });
    if (account === undefined) throw new Refusal(404, TEXTS.errors.noAccount);
    const packs = await ledger.credits.packs(id, EMPTY_PACKS);
    const { notice } = request.exchange.req.query;
    const resume = { label: TEXTS.accounts.resumeSubmit, kind: 'secondary' } as const;
    const undo = notice === 'suspended' ? buttonForm(operatedPath(id, 'resume'), resume) : null;
    return asked(operatedView(account, { packs, now: clock(), undo, notice, error }), error);
  }

  async function grant(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const { id: accountId } = await accountOf(request);
    const [amount, expires] = [amountOf(form), form.get('expires') ?? ''];
    const text = (name: string): string | null => form.get(name)?.trim() || null;
    if (amount === null) {
      const message = TEXTS.accounts.badAmount(fieldOf(form, 'amount').slice(0, 40));
      return show(request, { form: 'grant', field: 'amount', message, values: valuesOf(form) });
    }
    return withRefusalShown(
      async () => {
        const { repeated } = await ledger.credits.grant({
          accountId,
          amount: Number(amount),
          expiresAt: endOf(expires),
          ...{ paymentId: text('payment'), note: text('note') },
        });
        return { to: `${operatedPath(accountId)}?notice=${repeated ? 'granted-before' : 'granted'}` };
      },
      (refused) => show(request, { form: 'grant', ...refused, values: valuesOf(form) }),
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
    { path: operatedPath(':id', 'grant'), methods: { POST: pages.operatorForm('granted', grant, grantedIn) } },
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

/** Of the list's address; null: all are listed. */
function searchIn({ req }: Exchange): string | null {
  const { search } = req.query;
  if (search === undefined || search === '') return null;
  if (typeof search !== 'string' || search.length > MOST_SEARCH_LENGTH) throw new Refusal(400, TEXTS.errors.noSearch);
  return search.trim();
}

/** What was sent, to be shown again. */
function valuesOf(form: URLSearchParams): Record<string, string> {
  return Object.fromEntries(form);
}

/** How much, and for which payment: for the operators' log, where no note belongs, since it is never erased. */
function grantedIn(form: URLSearchParams): string | null {
  const [amount, payment] = [amountOf(form), form.get('payment')?.trim() ?? ''];
  return amount === null || payment === '' ? amount : `${amount}, ${payment}`;
}

/** Whole credits; null: another text. */
function amountOf(form: URLSearchParams): string | null {
  const amount = fieldOf(form, 'amount').trim();
  return /^\d{1,15}$/.test(amount) ? amount : null;
}

function roleIn(form: URLSearchParams): Role | undefined {
  return ROLES.find((known) => known === form.get('role'));
}

/** The fields of the forms, by the names that the ledger's refusals have for them. */
const FIELDS: Readonly<Record<string, string>> = {
  ...{ email: 'email', name: 'name', amount: 'amount', expires_at: 'expires', payment_id: 'payment', note: 'note' },
};
const SHOWN_REFUSALS: readonly string[] = ['invalid_request', 'idempotency_conflict'];

/** The ledger's refusals are shown beside their fields. */
async function withRefusalShown(
  work: () => Promise<PageReply>,
  again: (refused: Pick<FormError, 'field' | 'message'>) => Promise<PageReply>,
): Promise<PageReply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VerbatimError) || !SHOWN_REFUSALS.includes(error.code)) throw error;
    return again({ field: FIELDS[error.param ?? ''] ?? null, message: error.message });
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
