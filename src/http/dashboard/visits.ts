/** Who is there, and the one way a page is answered: session, origin, form, refusals. */
import { VerbatimError } from '../../errors.js';
import type { Account } from '../../ledger/types.js';
import type { SignedIn, Visitor } from '../../ledger/access/types.js';
import type { AuthenticatedHandler } from '../auth.js';
import type { HttpDeps } from '../deps.js';
import { HTML_TYPE, type Exchange } from '../exchange.js';
import { readForm } from '../request-body.js';
import type { Handler } from '../route.js';
import type { DashboardAssets } from './assets.js';
import { sessionToken } from './cookie.js';
import { html } from './html.js';
import { documentOf, PAGE_HEADERS, type View } from './page.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { requireSameOrigin, siteOf, type Site } from './site.js';
import { TEXTS, type OperatorActionName } from './texts.js';

/** A request of a browser, signed in or not. */
export interface Visit {
  exchange: Exchange;
  site: Site;
  visitor: Visitor;
}

/** One that is signed in. */
export interface MemberVisit extends Visit, SignedIn {}

export interface Redirect {
  to: string;
  /** To be set. */
  cookie?: string;
}

export interface Download {
  type: string;
  fileName: string;
  content: string;
}

export type PageReply = View | Redirect | Download;

type Render<V> = (visit: V) => PageReply | Promise<PageReply>;
type Act<V> = (visit: V, form: URLSearchParams) => PageReply | Promise<PageReply>;

export class Visits {
  constructor(
    private readonly deps: HttpDeps,
    private readonly assets: DashboardAssets,
  ) {}

  /** A page that anybody may see. */
  page(render: Render<Visit>): Handler {
    return (exchange) => this.#answer(exchange, null, () => render(visitOf(exchange)));
  }

  /** A form that anybody may send. */
  form(act: Act<Visit>): Handler {
    return (exchange) =>
      this.#answer(exchange, null, async () => {
        const visit = visitOf(exchange);
        requireSameOrigin(exchange, visit.site);
        return act(visit, await readForm(exchange, this.deps));
      });
  }

  /** A page of an account; others are asked to sign in first. */
  memberPage(render: Render<MemberVisit>): Handler {
    return async (exchange) => {
      const visit = await this.#memberOf(exchange);
      if (visit === null) redirect(exchange, { to: `${PATHS.signIn}?next=${exchange.req.path}` });
      else await this.#answer(exchange, visit.account, () => render(visit));
    };
  }

  /** Where there is no page; whoever is signed in keeps the navigation. */
  readonly lost: Handler = async (exchange) => {
    const visit = await this.#memberOf(exchange);
    await this.#answer(exchange, visit?.account ?? null, () => {
      throw new Refusal(404, TEXTS.errors.notFound);
    });
  };

  /** A form of an account's page. */
  memberForm(act: Act<MemberVisit>): Handler {
    return async (exchange) => {
      const visit = await this.#memberOf(exchange);
      await this.#answer(exchange, visit?.account ?? null, async () => {
        requireSameOrigin(exchange, siteOf(exchange));
        if (visit === null) return { to: PATHS.signIn };
        return act(visit, await readForm(exchange, this.deps));
      });
    };
  }

  /** A page of operators; to others there is none. */
  operatorPage(render: Render<MemberVisit>): Handler {
    return this.memberPage((visit) => {
      requireOperator(visit);
      return render(visit);
    });
  }

  /** Written down before it is done: whoever looks at the books sees that it was asked for. */
  operatorForm(action: OperatorActionName, act: Act<MemberVisit>): Handler {
    return this.memberForm(async (visit, form) => {
      requireOperator(visit);
      await this.#note(visit, action);
      return act(visit, form);
    });
  }

  /** What an operator's page asks for and is no page; to others there is nothing. `action`: to be written down first. */
  operatorCall(
    answer: (exchange: Exchange) => void | Promise<void>,
    action: OperatorActionName | null = null,
  ): Handler {
    return async (exchange) => {
      const visit = await this.#memberOf(exchange);
      if (visit?.account.role !== 'operator') {
        exchange.json(404, { error: { message: TEXTS.errors.notFound } });
        return;
      }
      if (action !== null) await this.#note(visit, action);
      await answer(exchange);
    };
  }

  /** What a script of an account's page asks for; `key`: what it is booked under. Errors are JSON, as the API's. */
  memberCall(handler: AuthenticatedHandler): Handler {
    return async (exchange) => {
      const { ledger, inFlight } = this.deps;
      inFlight.assertOpen();
      try {
        requireSameOrigin(exchange, siteOf(exchange));
        const visit = await this.#memberOf(exchange);
        if (visit === null) throw new Refusal(403, TEXTS.errors.signedOut);
        const { account } = visit;
        exchange.identity = { account, key: await ledger.access.dashboardKey(account.id) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        exchange.json(error.status, { error: { message: error.message } });
        return;
      }
      await handler(exchange, exchange.identity);
    };
  }

  /** With the account or the model that it is about, as the address names it. */
  #note({ account, exchange }: MemberVisit, action: OperatorActionName): Promise<void> {
    const { id = null } = exchange.req.params;
    const subject = typeof id === 'string' ? id : null;
    return this.deps.ledger.operators.note({ operatorId: account.id, action, subject });
  }

  async #memberOf(exchange: Exchange): Promise<MemberVisit | null> {
    const visit = visitOf(exchange);
    const token = sessionToken(exchange, visit.site);
    const signedIn = token === null ? null : await this.deps.ledger.access.findSession(token);
    if (signedIn === null) return null;
    exchange.facts.accountId = signedIn.account.id;
    if (signedIn.account.suspendedAt !== null) {
      throw new VerbatimError('account_suspended', TEXTS.errors.suspended);
    }
    return { ...visit, ...signedIn };
  }

  async #answer(
    exchange: Exchange,
    account: Account | null,
    work: () => PageReply | Promise<PageReply>,
  ): Promise<void> {
    try {
      const answer = await work();
      if ('to' in answer) redirect(exchange, answer);
      else if ('content' in answer) download(exchange, answer);
      else this.#show(exchange, account, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#show(exchange, account, refusalView(error));
    }
  }

  #show(exchange: Exchange, account: Account | null, view: View): void {
    const page = documentOf(view, this.assets, { account, path: exchange.req.path });
    exchange.send(view.status ?? 200, HTML_TYPE, page, { ...PAGE_HEADERS, ...view.headers });
  }
}

function requireOperator({ account }: MemberVisit): void {
  if (account.role !== 'operator') throw new Refusal(404, TEXTS.errors.notFound);
}

export function refusalView({
  status,
  message,
  headers,
}: Pick<Refusal, 'status' | 'message' | 'headers'>): View {
  const main = html`<p role="alert">${message}</p>
    <p><a href="${PATHS.overview}">${TEXTS.errors.back}</a></p>`;
  return { title: TEXTS.errors.title, main, status, headers };
}

/** Throws a Refusal when the form has no such field. */
export function fieldOf(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value === null) throw new Refusal(400, TEXTS.errors.form(name));
  return value;
}

function visitOf(exchange: Exchange): Visit {
  const { req } = exchange;
  const visitor = { browser: req.headers['user-agent'] ?? '', address: req.ip ?? '' };
  return { exchange, site: siteOf(exchange), visitor };
}

function download(exchange: Exchange, { type, fileName, content }: Download): void {
  const headers = { ...PAGE_HEADERS, 'Content-Disposition': `attachment; filename="${fileName}"` };
  exchange.send(200, type, content, headers);
}

function redirect(exchange: Exchange, { to, cookie }: Redirect): void {
  const headers = {
    ...PAGE_HEADERS,
    Location: to,
    ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }),
  };
  exchange.send(303, HTML_TYPE, '', headers);
}
