/** The account itself: who it is, its password, its sessions. */
import { VerbatimError } from '../../errors.js';
import { hashPassword, verifyPassword } from '../../ledger/access/password.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { accountView, type PasswordForm } from './account-view.js';
import { sessionCookie } from './cookie.js';
import type { PasswordChecks } from './password-checks.js';
import { endSessionPath, PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type PageReply, type MemberRequest, type PageHandlers } from './page-handlers.js';

/** For so long after signing in by link the current password is not required: a lost one is replaced in this way. */
const FRESH_LINK_MS = 3_600_000;

export function accountPageRoutes(deps: HttpDeps, pages: PageHandlers, checks: PasswordChecks): Route[] {
  const { clock, ledger, settings } = deps;
  const { access } = ledger;
  const { passwordCost } = settings;

  /** How the signed-in user may set a password. */
  function passwordForm({ session, hasPassword }: MemberRequest): PasswordForm {
    if (session.method === 'link' && clock() - Date.parse(session.createdAt) < FRESH_LINK_MS) return 'free';
    return hasPassword ? 'with-current' : 'needs-link';
  }

  async function show(request: MemberRequest, error?: string): Promise<PageReply> {
    const sessions = await access.listSessions(request.account.id);
    const { notice } = request.exchange.req.query;
    const view = accountView(request, { sessions, form: passwordForm(request), notice, error });
    return error === undefined ? view : { ...view, status: 400 };
  }

  async function setPassword(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const way = passwordForm(request);
    if (way === 'needs-link') throw new Refusal(403, TEXTS.account.needsLink);
    const [password, again] = [fieldOf(form, 'password'), fieldOf(form, 'again')];
    if (password !== again) return show(request, TEXTS.account.differ);
    const { account, client } = request;
    if (way === 'with-current') {
      const current = fieldOf(form, 'current');
      const check = await checks.run(account.email, client.address, async () => {
        const found = await access.findPassword(account.email);
        return (await verifyPassword(current, found?.password ?? null, passwordCost)) ? found : null;
      });
      if ('retryAfterSeconds' in check) {
        const seconds = check.retryAfterSeconds;
        throw new Refusal(429, TEXTS.signIn.throttled(seconds), { 'Retry-After': seconds });
      }
      if (check.found === null) return show(request, TEXTS.account.wrong);
    }
    return replacePassword(request, password);
  }

  async function replacePassword(
    { account, client, site, ...request }: MemberRequest,
    password: string,
  ): Promise<PageReply> {
    try {
      const record = await checks.atOnce(() => hashPassword(password, account.email, passwordCost));
      const { token } = await access.setPassword(account.id, record, client);
      return { to: `${PATHS.account}?notice=password-set`, cookie: sessionCookie(site, token) };
    } catch (error) {
      if (!(error instanceof VerbatimError) || error.param !== 'password') throw error;
      return show({ account, client, site, ...request }, error.message);
    }
  }

  async function endSession({ account, session, exchange }: MemberRequest): Promise<PageReply> {
    const { id } = exchange.req.params;
    const isEnded = typeof id === 'string' && (await access.endSession(account.id, id));
    if (!isEnded) throw new Refusal(404, TEXTS.errors.noSession);
    if (id === session.id) return { to: `${PATHS.signIn}?notice=signed-out` };
    return { to: `${PATHS.account}?notice=session-ended` };
  }

  async function endOthers({ account, session }: MemberRequest): Promise<PageReply> {
    await access.endOtherSessions(account.id, session.id);
    return { to: `${PATHS.account}?notice=others-ended` };
  }

  return [
    { path: PATHS.account, methods: { GET: pages.memberPage((request) => show(request)) } },
    { path: PATHS.password, methods: { POST: pages.memberForm(setPassword) } },
    { path: PATHS.endOthers, methods: { POST: pages.memberForm(endOthers) } },
    { path: endSessionPath(':id'), methods: { POST: pages.memberForm(endSession) } },
  ];
}
