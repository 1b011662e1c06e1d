/** Every component of the dashboard once, on a page that no server has. */
import type { Page } from 'playwright-core';
import { DashboardAssets } from '../../src/http/dashboard/assets.js';
import { badge } from '../../src/http/dashboard/components/badge.js';
import { button, linkButton, type ButtonKind } from '../../src/http/dashboard/components/button.js';
import { card, facts, figures } from '../../src/http/dashboard/components/card.js';
import { codeBlock } from '../../src/http/dashboard/components/code-block.js';
import { emptyState } from '../../src/http/dashboard/components/empty-state.js';
import { field, select } from '../../src/http/dashboard/components/field.js';
import { menu } from '../../src/http/dashboard/components/menu.js';
import { pager } from '../../src/http/dashboard/components/pager.js';
import { progressBar } from '../../src/http/dashboard/components/progress-bar.js';
import { shortList } from '../../src/http/dashboard/components/short-list.js';
import { table } from '../../src/http/dashboard/components/table.js';
import { linkTabs, tabs } from '../../src/http/dashboard/components/tabs.js';
import { banner, toast } from '../../src/http/dashboard/components/toast.js';
import { moment } from '../../src/http/dashboard/format.js';
import { html, type Html } from '../../src/http/dashboard/html.js';
import { documentOf, type View } from '../../src/http/dashboard/page.js';
import type { Account } from '../../src/ledger/types.js';

const KINDS: readonly ButtonKind[] = ['primary', 'secondary', 'quiet', 'danger'];

/** As the page of an account that has every component in it. */
export async function showGallery(page: Page, url: string, account: Account): Promise<void> {
  const path = '/dashboard/components';
  const body = documentOf(galleryView(), new DashboardAssets(), { account, path, theme: 'system' });
  await page.route(url + path, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(url + path);
}

function galleryView(): View {
  const main = html`${banner('information', 'The server restarts at 22:00.')}
    ${banner('warning', 'The demonstration model is in use.')} ${banner('bad', 'The ledger does not balance.')}
    ${figures([
      { label: 'Credits', value: '1,284', note: 'about 41 days at this pace' },
      { label: 'Minutes in seven days', value: '218' },
      { label: 'Running', value: '2' },
    ])}
    <div class="columns">
      ${card({ title: 'Buttons and states', content: buttonsAndStates() })} ${card({ title: 'Form', content: form() })}
    </div>
    ${rows()}
    ${pager({ label: 'Pages of keys', first: { href: '#', label: 'Newest' }, next: { href: '#', label: 'Older' } })}
    ${emptyState({
      icon: 'keys',
      title: 'No keys yet',
      text: 'Programs need a key to send requests.',
      action: linkButton({ href: '#', label: 'Create a key', icon: 'add' }),
    })}
    ${card({ title: 'A few things', content: shortList('Things', [{ title: 'talk.m4a', note: '4 min', value: '4 credits' }]) })}
    ${tabs('The same call', [
      {
        id: 'curl',
        label: 'curl',
        content: codeBlock({ id: 'curl-code', label: 'curl', text: 'curl -F audio=@talk.m4a' }),
      },
      { id: 'python', label: 'Python', content: codeBlock({ id: 'python-code', label: 'Python', text: 'OpenAI()' }) },
    ])}
    ${toast('The account is suspended.', button({ label: 'Undo', kind: 'secondary', icon: 'undo' }))}`;
  const actions = html`${linkButton({ href: '#', label: 'Export', icon: 'download' })}
  ${button({ label: 'Create a key', icon: 'add' })}`;
  return { title: 'Components', lead: 'Each of them once.', actions, main, modules: ['copy.js'] };
}

function buttonsAndStates(): Html {
  return html`<div class="row">${KINDS.map((kind) => button({ label: kind, kind }))}</div>
    <div class="row">
      ${badge('cancelled')} ${badge('running', 'information')} ${badge('done', 'good')} ${badge('limited', 'warning')}
      ${badge('failed', 'bad')}
    </div>
    ${linkTabs('Period', [
      { href: '#', label: '7 days', isCurrent: true },
      { href: '#', label: '30 days', isCurrent: false },
    ])}
    ${progressBar({ label: 'Download', percent: 40, text: '40 %' })}
    ${facts([
      ['Account', 'ada@example.org'],
      ['Role', 'Operator'],
    ])}`;
}

function form(): Html {
  return html`<form class="stack">
    ${field({ label: 'Name', name: 'name', value: 'Newsroom', help: 'Only you see it.' })}
    ${field({ label: 'Credits', name: 'amount', value: 'many', error: 'A whole number, at least 1.' })}
    ${select({
      label: 'State',
      name: 'state',
      choices: [
        { value: '', label: 'all' },
        { value: 'failed', label: 'failed' },
      ],
    })}
    <label class="choice"><input type="checkbox" checked />Identify speakers</label>
  </form>`;
}

function rows(): Html {
  const revoke = linkButton({ href: '#', label: 'Revoke', fullLabel: 'Revoke the key Newsroom', kind: 'danger' });
  const more = menu('More for Newsroom', [linkButton({ href: '#', label: 'Rename', kind: 'quiet' })]);
  return table({
    caption: 'Keys',
    columns: ['Name', 'State', 'Last used', 'Requests', 'Action'],
    figures: [3],
    rows: [
      [
        ...['Newsroom', badge('in use', 'good'), moment('2026-11-22T08:30:00.000Z'), '1,204'],
        html`<div class="row">${revoke} ${more}</div>`,
      ],
      ['Laptop (lost)', badge('revoked'), moment('2026-10-31T17:12:00.000Z'), '98', ''],
    ],
  });
}
