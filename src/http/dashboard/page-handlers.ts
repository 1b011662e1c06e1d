/** Sessions, and the one way a page is answered: session, origin, form, refusals. */
import { create as attachment } from 'content-disposition';
import { VerbatimError } from '../../errors.js';
import type { Account } from '../../ledger/types.js';
import type { SignedIn, ClientInfo } from '../../ledger/access/types.js';
import { recordAction, type ActionOutcome, type OperatorAction } from '../../ledger/operators.js';
import type { AuthenticatedHandler } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { HTML_TYPE, type Exchange } from '../app/exchange.js';
import { readForm } from '../app/request-body.js';
import type { Handler } from '../app/route.js';
import { themeOf } from '../app/theme.js';
import type { DashboardAssets } from './assets.js';
import { sessionToken } from './cookie.js';
import { html } from './html.js';
import { documentOf, PAGE_HEADERS, type View } from './page.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { requireSameOrigin, siteOf, type Site } from './site.js';
import { TEXTS, type OperatorActionName } from './texts.js';

/** A request of a browser, signed in or not. */
export interface PageRequest {
  exchange: Exchange;
  site: Site;
  client: ClientInfo;
}

/** One that is signed in. */
export interface MemberRequest extends PageRequest, SignedIn {}

export interface Redirect {
  to: string;
  /** To be set. */
  cookie?: string;
  /** The account that was made: for the operators' log. */
  made?: string;
}

export interface Download {
  type: string;
  fileName: string;
  content: string;
}

export type PageReply = View | Redirect | Download;

type Render<V> = (request: V) => PageReply | Promise<PageReply>;
type Act<V> = (request: V, form: URLSearchParams) => PageReply | Promise<PageReply>;

export class PageHandlers {
  constructor(
    private readonly deps: HttpDeps,
    private readonly assets: DashboardAssets,
  ) {}

  /** A page that anybody may see. */
  page(render: Render<PageRequest>): Handler {
    return (exchange) => this.#answer(exchange, null, () => render(pageRequestOf(exchange)));
  }

  /** A form that anybody may send. */
  form(act: Act<PageRequest>): Handler {
    return (exchange) =>
      this.#answer(exchange, null, async () => {
        const request = pageRequestOf(exchange);
        requireSameOrigin(exchange, request.site);
        return act(request, await readForm(exchange, this.deps));
      });
  }

  /** A page of an account; others are asked to sign in first. */
  memberPage(render: Render<MemberRequest>): Handler {
    return async (exchange) => {
      const request = await this.#memberOf(exchange);
      if (request === null) redirect(exchange, { to: `${PATHS.signIn}?next=${exchange.req.path}` });
      else await this.#answer(exchange, request.account, () => render(request));
    };
  }

  /** For paths without a page. Signed-in users keep the navigation. */
  readonly lost: Handler = async (exchange) => {
    const request = await this.#memberOf(exchange);
    await this.#answer(exchange, request?.account ?? null, () => {
      throw new Refusal(404, TEXTS.errors.notFound);
    });
  };

  /** A form of an account's page. */
  memberForm(act: Act<MemberRequest>): Handler {
    return async (exchange) => {
      const request = await this.#memberOf(exchange);
      await this.#answer(exchange, request?.account ?? null, async () => {
        requireSameOrigin(exchange, siteOf(exchange));
        if (request === null) return { to: PATHS.signIn };
        return act(request, await readForm(exchange, this.deps));
      });
    };
  }

  /** A page for operators; others get 404. */
  operatorPage(render: Render<MemberRequest>): Handler {
    return this.memberPage((request) => {
      requireOperator(request);
      return render(request);
    });
  }

  /** In the operators' log before it is done; `detailOf`: what of the form belongs there. */
  operatorForm(
    action: OperatorActionName,
    act: Act<MemberRequest>,
    detailOf: (form: URLSearchParams) => string | null = () => null,
  ): Handler {
    return this.memberForm(async (request, form) => {
      requireOperator(request);
      const work = async (): Promise<PageReply> => act(request, form);
      return recordAction(this.deps.ledger.operators, actionOf(request, action, detailOf(form)), work, outcomeOf);
    });
  }

  /**
   * A call of an operator's page that is no page itself; others get 404. `action`: recorded in the operators' log
   * before it is done.
   */
  operatorCall(
    answer: (exchange: Exchange) => void | Promise<void>,
    action: OperatorActionName | null = null,
  ): Handler {
    return async (exchange) => {
      const request = await this.#memberOf(exchange);
      if (request?.account.role !== 'operator') {
        exchange.json(404, { error: { message: TEXTS.errors.notFound } });
        return;
      }
      const work = async (): Promise<void> => answer(exchange);
      if (action === null) await work();
      else await recordAction(this.deps.ledger.operators, actionOf(request, action, null), work);
    };
  }

  /** A file, or data, of an account's page, which changes nothing. Errors are JSON, as the API's. */
  memberData(answer: (exchange: Exchange, account: Account) => Promise<void>): Handler {
    return async (exchange) => {
      const request = await this.#memberOf(exchange);
      try {
        if (request === null) throw new Refusal(403, TEXTS.errors.signedOut);
        await answer(exchange, request.account);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        exchange.json(error.status, { error: { message: error.message } });
      }
    };
  }

  /**
   * A call of a script on an account's page. Its usage is recorded under the dashboard's key. Errors are JSON, as the
   * API's.
   */
  memberCall(handler: AuthenticatedHandler): Handler {
    return async (exchange) => {
      const { ledger, inFlight } = this.deps;
      inFlight.assertOpen();
      try {
        requireSameOrigin(exchange, siteOf(exchange));
        const request = await this.#memberOf(exchange);
        if (request === null) throw new Refusal(403, TEXTS.errors.signedOut);
        const { account } = request;
        exchange.identity = { account, key: await ledger.access.dashboardKey(account.id) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        exchange.json(error.status, { error: { message: error.message } });
        return;
      }
      await handler(exchange, exchange.identity);
    };
  }

  async #memberOf(exchange: Exchange): Promise<MemberRequest | null> {
    const request = pageRequestOf(exchange);
    const token = sessionToken(exchange, request.site);
    const signedIn = token === null ? null : await this.deps.ledger.access.findSession(token);
    if (signedIn === null) return null;
    exchange.facts.accountId = signedIn.account.id;
    if (signedIn.account.suspendedAt !== null) {
      throw new VerbatimError('account_suspended', TEXTS.errors.suspended);
    }
    return { ...request, ...signedIn };
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
    const page = documentOf(view, this.assets, { account, path: exchange.req.path, theme: themeOf(exchange) });
    exchange.send(view.status ?? 200, HTML_TYPE, page, { ...PAGE_HEADERS, ...view.headers });
  }
}

/** With the account or the model that it is about, as the address names it. */
function actionOf(
  { account, exchange }: MemberRequest,
  action: OperatorActionName,
  detail: string | null,
): OperatorAction {
  const { id = null } = exchange.req.params;
  return { operatorId: account.id, action, subject: typeof id === 'string' ? id : null, detail };
}

/** A form that is shown once more, with an error, was refused. */
function outcomeOf(reply: PageReply): ActionOutcome {
  if ('to' in reply) return { outcome: 'done', subject: reply.made ?? null };
  return { outcome: 'status' in reply && (reply.status ?? 200) >= 400 ? 'refused' : 'done' };
}

function requireOperator({ account }: MemberRequest): void {
  if (account.role !== 'operator') throw new Refusal(404, TEXTS.errors.notFound);
}

export function refusalView({ status, message, headers }: Pick<Refusal, 'status' | 'message' | 'headers'>): View {
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

function pageRequestOf(exchange: Exchange): PageRequest {
  const { req } = exchange;
  const client = { browser: req.headers['user-agent'] ?? '', address: req.ip ?? '' };
  return { exchange, site: siteOf(exchange), client };
}

function download(exchange: Exchange, { type, fileName, content }: Download): void {
  const headers = { ...PAGE_HEADERS, 'Content-Disposition': attachment(fileName) };
  exchange.send(200, type, content, headers);
}

function redirect(exchange: Exchange, { to, cookie }: Redirect): void {
  exchange.seeOther(to, { ...PAGE_HEADERS, ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }) });
}
