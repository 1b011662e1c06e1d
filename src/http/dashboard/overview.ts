/** The first page: what can be spent, and until when. */
import type { Balance, CreditPack, PackAmounts } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { demonstrationNote } from './demonstration-note.js';
import { moment, number } from './format.js';
import { html, type Html } from './html.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { PageHandlers } from './page-handlers.js';

const { overview: texts } = TEXTS;
/** Of packs with nothing left. */
export const EMPTY_PACKS = 10;

export type Pack = CreditPack & PackAmounts;

export function overviewRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { credits } = deps.ledger;
  const page = pages.memberPage(async ({ account }) => {
    const balance = await credits.balance(account.id);
    return overviewView(demonstrationNote(deps, account), balance, await credits.packs(account.id, EMPTY_PACKS));
  });
  return [{ path: PATHS.overview, methods: { GET: page } }];
}

function overviewView(note: Html | null, { balance, lifetimePurchased }: Balance, packs: readonly Pack[]): View {
  const main = html`${note}
    <dl class="figures">
      <div>
        <dt>${texts.balance}</dt>
        <dd>${number(balance)}</dd>
      </div>
      <div>
        <dt>${texts.purchased}</dt>
        <dd>${number(lifetimePurchased)}</dd>
      </div>
    </dl>
    <section>
      <h2>${texts.packs}</h2>
      ${packs.length === 0 ? html`<p>${texts.noPacks}</p>` : packTable(packs)}
    </section>`;
  return { title: TEXTS.pages.overview, main };
}

/** Those that hold credits, and some that are used up. */
export function packTable(packs: readonly Pack[]): Html {
  const empty = packs.filter(({ remaining, held }) => remaining + held === 0).length;
  return html`<p>${texts.packsNote} ${empty >= EMPTY_PACKS && texts.moreLeft(EMPTY_PACKS)}</p>
    ${table({
      caption: texts.packs,
      columns: [texts.granted, texts.expires, texts.amount, texts.left, texts.held, texts.spent, texts.lost],
      figures: [2, 3, 4, 5, 6],
      rows: packs.map((pack) => [
        moment(pack.createdAt),
        pack.expiresAt === null ? texts.never : moment(pack.expiresAt),
        ...[pack.purchased, pack.remaining, pack.held, pack.spent, pack.expired].map(number),
      ]),
    })}`;
}
