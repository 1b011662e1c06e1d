/** The account itself: who it is, its password, its sessions. */
import { VerbatimError } from '../../errors.js';
import { hashPassword, verifyPassword } from '../../ledger/access/password.js';
import type { HttpDeps } from '../deps.js';
import type { Route } from '../route.js';
import { accountView, type PasswordForm } from './account-view.js';
import { sessionCookie } from './cookie.js';
import type { PasswordChecks } from './password-checks.js';
import { endSessionPath, PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type PageReply, type MemberVisit, type Visits } from './visits.js';

/** So long after signing in by link the present password need not be known: that is how a forgotten one is replaced. */
const FRESH_LINK_MS = 3_600_000;

export function accountPageRoutes(deps: HttpDeps, visits: Visits, checks: PasswordChecks): Route[] {
  const { clock, ledger, settings } = deps;
  const { access } = ledger;
  const { passwordCost } = settings;

  /** How the visitor may set a password. */
  function passwordForm({ session, hasPassword }: MemberVisit): PasswordForm {
    if (session.method === 'link' && clock() - Date.parse(session.createdAt) < FRESH_LINK_MS) return 'free';
    return hasPassword ? 'with-current' : 'needs-link';
  }

  async function show(visit: MemberVisit, error?: string): Promise<PageReply> {
    const sessions = await access.listSessions(visit.account.id);
    const { notice } = visit.exchange.req.query;
    const view = accountView(visit, { sessions, form: passwordForm(visit), notice, error });
    return error === undefined ? view : { ...view, status: 400 };
  }

  async function setPassword(visit: MemberVisit, form: URLSearchParams): Promise<PageReply> {
    const way = passwordForm(visit);
    if (way === 'needs-link') throw new Refusal(403, TEXTS.account.needsLink);
    const [password, again] = [fieldOf(form, 'password'), fieldOf(form, 'again')];
    if (password !== again) return show(visit, TEXTS.account.differ);
    const { account, visitor } = visit;
    if (way === 'with-current') {
      const current = fieldOf(form, 'current');
      const check = await checks.run(account.email, visitor.address, async () => {
        const found = await access.findPassword(account.email);
        return (await verifyPassword(current, found?.password ?? null, passwordCost)) ? found : null;
      });
      if ('retryAfterSeconds' in check) {
        const seconds = check.retryAfterSeconds;
        throw new Refusal(429, TEXTS.signIn.throttled(seconds), { 'Retry-After': seconds });
      }
      if (check.found === null) return show(visit, TEXTS.account.wrong);
    }
    return replacePassword(visit, password);
  }

  async function replacePassword(
    { account, visitor, site, ...visit }: MemberVisit,
    password: string,
  ): Promise<PageReply> {
    try {
      const record = await checks.atOnce(() => hashPassword(password, account.email, passwordCost));
      const { token } = await access.setPassword(account.id, record, visitor);
      return { to: `${PATHS.account}?notice=password-set`, cookie: sessionCookie(site, token) };
    } catch (error) {
      if (!(error instanceof VerbatimError) || error.param !== 'password') throw error;
      return show({ account, visitor, site, ...visit }, error.message);
    }
  }

  async function endSession({ account, session, exchange }: MemberVisit): Promise<PageReply> {
    const { id } = exchange.req.params;
    const isEnded = typeof id === 'string' && (await access.endSession(account.id, id));
    if (!isEnded) throw new Refusal(404, TEXTS.errors.noSession);
    if (id === session.id) return { to: `${PATHS.signIn}?notice=signed-out` };
    return { to: `${PATHS.account}?notice=session-ended` };
  }

  async function endOthers({ account, session }: MemberVisit): Promise<PageReply> {
    await access.endOtherSessions(account.id, session.id);
    return { to: `${PATHS.account}?notice=others-ended` };
  }

  return [
    { path: PATHS.account, methods: { GET: visits.memberPage((visit) => show(visit)) } },
    { path: PATHS.password, methods: { POST: visits.memberForm(setPassword) } },
    { path: PATHS.endOthers, methods: { POST: visits.memberForm(endOthers) } },
    { path: endSessionPath(':id'), methods: { POST: visits.memberForm(endSession) } },
  ];
}
