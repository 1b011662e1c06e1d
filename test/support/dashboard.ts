/**
 * A browser as far as HTTP goes: it keeps cookies, says where its requests come from, and follows nothing by itself.
 */
import { execFileSync } from 'node:child_process';
import type { SpeechEngine } from '../../src/engine/types.js';
import { packageRoot } from '../../src/package-root.js';
import type { ScryptCost } from '../../src/ledger/access/password.js';
import type { Account } from '../../src/ledger/types.js';
import type { TestServer } from './server.js';

/** Some thousandth of the work. */
export const CHEAP_PASSWORDS: ScryptCost = { cost: 16, blockSize: 8, parallelization: 1 };

let isBuilt = false;

/** Style sheet, icon and browser modules, from the sources as they are. */
export function buildDashboard(): void {
  if (isBuilt) return;
  execFileSync('npm', ['run', '--silent', 'build:dashboard'], { cwd: packageRoot, stdio: 'inherit' });
  isBuilt = true;
}

export interface PageAnswer {
  status: number;
  headers: Headers;
  text: string;
  location: string | null;
}

type Fields = Readonly<Record<string, string>>;

export class HttpBrowser {
  readonly cookies = new Map<string, string>();
  /** Attributes of the cookie that was set last. */
  lastCookie = '';

  constructor(
    private readonly server: Pick<TestServer<SpeechEngine>, 'url'>,
    /** With every request. */
    private readonly headers: Fields = {},
  ) {}

  get(path: string, headers: Fields = {}): Promise<PageAnswer> {
    return this.#ask(path, { headers });
  }

  /** As a form of our own page. */
  post(path: string, fields: Fields = {}, headers: Fields = { 'sec-fetch-site': 'same-origin' }): Promise<PageAnswer> {
    return this.#ask(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  async #ask(path: string, init: { method?: string; headers: Fields; body?: URLSearchParams }): Promise<PageAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...this.headers, ...init.headers, ...(cookie === '' ? {} : { cookie }) };
    const answer = await fetch(this.server.url + path, { ...init, headers, redirect: 'manual' });
    for (const set of answer.headers.getSetCookie()) this.#keep(set);
    const { status } = answer;
    return {
      status,
      headers: answer.headers,
      text: await answer.text(),
      location: answer.headers.get('location'),
    };
  }

  #keep(set: string): void {
    this.lastCookie = set;
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** Signed in by a link. */
export async function browserOf(
  server: TestServer<SpeechEngine>,
  account: Account,
  headers: Fields = {},
): Promise<HttpBrowser> {
  const browser = new HttpBrowser(server, headers);
  const { token } = await server.ledger.access.createLink(account.id);
  const { status } = await browser.post('/dashboard/link', { token });
  if (status !== 303) throw new Error(`signing in by link was answered ${status}`);
  return browser;
}

/** The cells of a page's tables, by row. */
export function rowsOf(text: string): string[][] {
  const bodies = [...text.matchAll(/<tbody[^>]*>([^]*?)<\/tbody>/g)].map(([, body]) => body ?? '');
  return bodies
    .flatMap((body) => [...body.matchAll(/<tr[^>]*>([^]*?)<\/tr>/g)])
    .map(([, row = '']) =>
      [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, '').trim()),
    );
}
