/** What the menu leads to. */
import type { Role } from '../../ledger/types.js';
import type { IconName } from './components/icon.js';
import { icon } from './components/icon.js';
import { html, type Html } from './html.js';
import { DOCS, PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { pages, groups } = TEXTS;

interface Entry {
  path: string;
  title: string;
  icon: IconName;
}

interface Group {
  name: keyof typeof groups;
  entries: readonly Entry[];
}

const WORKSPACE: Group = {
  name: 'workspace',
  entries: [
    { path: PATHS.overview, title: pages.overview, icon: 'home' },
    { path: PATHS.try, title: pages.try, icon: 'transcribe' },
    { path: PATHS.transcripts, title: pages.transcripts, icon: 'transcripts' },
    { path: PATHS.history, title: pages.history, icon: 'activity' },
    { path: PATHS.usage, title: pages.usage, icon: 'usage' },
    { path: PATHS.keys, title: pages.keys, icon: 'keys' },
    { path: PATHS.account, title: pages.account, icon: 'settings' },
  ],
};

const OPERATOR: Group = {
  name: 'operator',
  entries: [
    { path: PATHS.accounts, title: pages.accounts, icon: 'customers' },
    { path: PATHS.load, title: pages.load, icon: 'load' },
    { path: PATHS.models, title: pages.models, icon: 'models' },
    { path: PATHS.server, title: pages.server, icon: 'server' },
    { path: PATHS.audit, title: pages.audit, icon: 'audit' },
  ],
};

const SUPPORT: Group = {
  name: 'support',
  entries: [
    { path: DOCS, title: pages.docs, icon: 'api' },
    { path: PATHS.help, title: pages.help, icon: 'help' },
  ],
};

/** `path`: of the page, which is marked; so is the page that one of its own pages belongs to. */
export function navigation(role: Role, path: string): Html {
  const shown = role === 'operator' ? [WORKSPACE, OPERATOR, SUPPORT] : [WORKSPACE, SUPPORT];
  return html`<nav aria-label="${TEXTS.navigation}">
    ${shown.map(
      ({ name, entries }) =>
        html`<div>
          <p class="group-name" id="group-${name}">${groups[name]}</p>
          <ul aria-labelledby="group-${name}">
            ${entries.map((entry) => item(entry, path))}
          </ul>
        </div>`,
    )}
  </nav>`;
}

function item({ path, title, icon: name }: Entry, current: string): Html {
  const isPart = path !== PATHS.overview && current.startsWith(`${path}/`);
  return html`<li>
    <a href="${path}" ${path === current && html`aria-current="page"`} ${isPart && html`aria-current="true"`}
      >${icon(name)}${title}</a
    >
  </li>`;
}
