/** What every page has around its own content. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Account } from '../../ledger/types.js';
import type { Theme } from '../app/theme.js';
import type { DashboardAssets } from './assets.js';
import { icon } from './components/icon.js';
import { html, type Html, type HtmlValue } from './html.js';
import { navigation } from './navigation.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';
import { themeSwitch } from './theme.js';

export interface View {
  title: string;
  main: Html;
  /** Under the title, in a sentence. */
  lead?: HtmlValue;
  /** Beside the title. */
  actions?: HtmlValue;
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

/** For a page that plays a recording that this server keeps. */
export const AUDIO_FROM_HERE: OutgoingHttpHeaders = Object.freeze({
  'Content-Security-Policy': policy("media-src 'self'"),
});

/** Who looks at which page, and how. */
export interface Viewer {
  /** null: nobody is signed in. */
  account: Account | null;
  path: string;
  theme: Theme;
}

export function documentOf(view: View, assets: DashboardAssets, viewer: Viewer): string {
  const { title, main, lead, actions, modules = [], scripts = [] } = view;
  const { account, theme } = viewer;
  const page = html`<!doctype html>
    <html lang="${TEXTS.language}" ${theme !== 'system' && html`data-theme="${theme}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="${theme === 'system' ? 'light dark' : theme}" />
        <title>${title} · ${TEXTS.service}</title>
        <link rel="stylesheet" href="${assets.url('dashboard.css')}" />
        <link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml" />
        ${scripts.map((name) => html`<script defer src="${assets.url(name)}"></script>`)}
        ${['shell.js', ...modules].map((name) => html`<script type="module" src="${assets.url(name)}"></script>`)}
      </head>
      <body class="${account === null ? 'alone' : 'member'}">
        <a class="skip" href="#main">${TEXTS.skip}</a>
        <header class="top">
          <a class="brand" href="${PATHS.overview}">${icon('transcribe')}${TEXTS.service}</a>
          ${account === null ? themeSwitch(theme, viewer.path) : menuOf(account, viewer)}
        </header>
        <main id="main" tabindex="-1">
          <div class="page-head">
            <h1>${title}</h1>
            ${actions !== undefined && html`<div class="row">${actions}</div>`}
            ${lead !== undefined && html`<p>${lead}</p>`}
          </div>
          ${main}
        </main>
      </body>
    </html> `;
  return page.text;
}

/** Beside the page where it is wide; behind a button, which needs no script, where it is narrow. */
function menuOf({ email, role }: Account, { path, theme }: Viewer): Html {
  return html`<button type="button" class="button secondary menu-button" popovertarget="menu">
      ${icon('menu')}<span>${TEXTS.menu}</span>
    </button>
    <div class="side" id="menu" popover>
      ${navigation(role, path)}
      <div class="who">
        <span class="email">${email}</span>
        <div class="row">
          ${themeSwitch(theme, path)}
          <form method="post" action="${PATHS.signOut}">
            <button class="button quiet">${icon('sign-out')}<span>${TEXTS.signOut}</span></button>
          </form>
        </div>
      </div>
    </div>`;
}
