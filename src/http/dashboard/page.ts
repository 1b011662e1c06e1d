/** What every page has around its own content. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Account } from '../../ledger/types.js';
import type { DashboardAssets } from './assets.js';
import { html, type Html } from './html.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

export interface View {
  title: string;
  main: Html;
  /** Default: 200. */
  status?: number;
  headers?: OutgoingHttpHeaders;
  /** Names of modules among the assets. */
  modules?: readonly string[];
  /** Names of scripts that the modules stand on. */
  scripts?: readonly string[];
}

/** `more`: what one page needs beside it. */
const policy = (...more: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ...more,
  ].join('; ');

export const PAGE_HEADERS: OutgoingHttpHeaders = Object.freeze({
  'Content-Security-Policy': policy(),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  // With "no-referrer" browsers would send "Origin: null" with our own forms.
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
});

/** For a page that plays a chosen file or a recording. */
export const AUDIO_HEADERS: OutgoingHttpHeaders = Object.freeze({
  'Content-Security-Policy': policy('media-src blob:'),
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(self)',
});

const NAVIGATION: readonly (readonly [path: string, title: string])[] = [
  [PATHS.overview, TEXTS.pages.overview],
  [PATHS.try, TEXTS.pages.try],
  [PATHS.usage, TEXTS.pages.usage],
  [PATHS.keys, TEXTS.pages.keys],
  [PATHS.history, TEXTS.pages.history],
  [PATHS.account, TEXTS.pages.account],
];

/** `account`: who is signed in; `path`: of the page, to mark it in the navigation. */
export function documentOf(
  { title, main, modules = [], scripts = [] }: View,
  assets: DashboardAssets,
  { account, path }: { account: Account | null; path: string },
): string {
  const page = html`<!doctype html>
    <html lang="${TEXTS.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${TEXTS.service}</title>
        <link rel="stylesheet" href="${assets.url('dashboard.css')}" />
        <link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml" />
        ${scripts.map((name) => html`<script defer src="${assets.url(name)}"></script>`)}
        ${modules.map((name) => html`<script type="module" src="${assets.url(name)}"></script>`)}
      </head>
      <body>
        <a class="skip" href="#main">${TEXTS.skip}</a>
        <header>
          <strong class="service">${TEXTS.service}</strong>
          ${account === null ? null : navigation(account, path)}
        </header>
        <main id="main" tabindex="-1">
          <h1>${title}</h1>
          ${main}
        </main>
      </body>
    </html> `;
  return page.text;
}

const OPERATOR_NAVIGATION: typeof NAVIGATION = [
  ...NAVIGATION,
  [PATHS.accounts, TEXTS.pages.accounts],
  [PATHS.load, TEXTS.pages.load],
  [PATHS.server, TEXTS.pages.server],
];

function navigation({ email, role }: Account, current: string): Html {
  const pages = role === 'operator' ? OPERATOR_NAVIGATION : NAVIGATION;
  return html`<nav aria-label="${TEXTS.navigation}">
      <ul>
        ${pages.map(
          ([path, title]) =>
            html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${title}</a></li>`,
        )}
      </ul>
    </nav>
    <form class="who" method="post" action="${PATHS.signOut}">
      <span class="email">${email}</span>
      <button class="quiet">${TEXTS.signOut}</button>
    </form>`;
}
