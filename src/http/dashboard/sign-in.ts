/** Signing in, by password or by link, and out. */
import { isOutdated, rehash, verifyPassword } from '../../ledger/access/password.js';
import type { StartedSession } from '../../ledger/access/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { endedCookie, sessionCookie, sessionToken } from './cookie.js';
import type { PasswordChecks } from './password-checks.js';
import { PATHS, pageOrOverview } from './paths.js';
import { linkView, signInView } from './sign-in-views.js';
import { TEXTS } from './texts.js';
import { fieldOf, type PageReply, type PageRequest, type PageHandlers } from './page-handlers.js';

export function signInRoutes({ ledger, settings }: HttpDeps, pages: PageHandlers, checks: PasswordChecks): Route[] {
  const { access } = ledger;
  const { passwordCost } = settings;

  /** The browser's session from now on; the one it had is over. */
  async function enter(request: PageRequest, { token }: StartedSession, next: string): Promise<PageReply> {
    await leave(request);
    return { to: next, cookie: sessionCookie(request.site, token) };
  }

  async function leave({ exchange, site }: PageRequest): Promise<void> {
    const token = sessionToken(exchange, site);
    const found = token === null ? null : await access.findSession(token);
    if (found !== null) await access.endSession(found.account.id, found.session.id);
  }

  async function signIn(request: PageRequest, form: URLSearchParams): Promise<PageReply> {
    const [email, password] = [fieldOf(form, 'email'), fieldOf(form, 'password')];
    const next = pageOrOverview(form.get('next'));
    const check = await checks.run(email, request.client.address, async () => {
      const found = await access.findPassword(email);
      const isRight = await verifyPassword(password, found?.password ?? null, passwordCost);
      if (!isRight || found === null) return null;
      const grown = isOutdated(found.password, passwordCost) ? await rehash(password, passwordCost) : undefined;
      return access.startSession(found.account.id, found.password, request.client, grown);
    });
    if ('retryAfterSeconds' in check) {
      const { retryAfterSeconds } = check;
      const error = TEXTS.signIn.throttled(retryAfterSeconds);
      const headers = { 'Retry-After': retryAfterSeconds };
      return { ...signInView(request.site, { email, next, error }), status: 429, headers };
    }
    if (check.found !== null) return enter(request, check.found, next);
    return { ...signInView(request.site, { email, next, error: TEXTS.signIn.wrong }), status: 403 };
  }

  async function signInByLink(request: PageRequest, form: URLSearchParams): Promise<PageReply> {
    const session = await access.useLink(fieldOf(form, 'token'), request.client);
    return session === null ? { ...linkView(null), status: 403 } : enter(request, session, PATHS.overview);
  }

  async function signOut(request: PageRequest): Promise<PageReply> {
    await leave(request);
    return { to: `${PATHS.signIn}?notice=signed-out`, cookie: endedCookie(request.site) };
  }

  return [
    {
      path: PATHS.signIn,
      methods: {
        GET: pages.page(({ exchange, site }) => {
          const { next, notice } = exchange.req.query;
          const asked = typeof next === 'string' ? next : null;
          return signInView(site, { next: pageOrOverview(asked), notice });
        }),
        POST: pages.form(signIn),
      },
    },
    {
      path: PATHS.link,
      methods: {
        // Looking does not use it up: mail programs open links before people do.
        GET: pages.page(async ({ exchange }) => {
          const { token } = exchange.req.query;
          if (typeof token !== 'string') return linkView(null);
          const owner = await access.linkOwner(token);
          return linkView(owner === null ? null : { token, email: owner.email });
        }),
        POST: pages.form(signInByLink),
      },
    },
    { path: PATHS.signOut, methods: { POST: pages.form(signOut) } },
  ];
}
