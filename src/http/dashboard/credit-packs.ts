import type { CreditPack, PackAmounts } from '../../ledger/types.js';
import { table } from './components/table.js';
import { moment, number } from './format.js';
import { html, type Html } from './html.js';
import { TEXTS } from './texts.js';

const { packs: texts } = TEXTS;
/** Of packs with nothing left, so many are shown. */
export const EMPTY_PACKS = 10;

export type Pack = CreditPack & PackAmounts;

/** Those that hold credits, and some that are used up. */
export function packTable(packs: readonly Pack[]): Html {
  const empty = packs.filter(({ remaining, held }) => remaining + held === 0).length;
  return html`<p class="soft">${texts.note} ${empty >= EMPTY_PACKS && texts.moreLeft(EMPTY_PACKS)}</p>
    ${table({
      caption: texts.title,
      columns: [texts.granted, texts.expires, texts.amount, texts.left, texts.held, texts.spent, texts.lost],
      figures: [2, 3, 4, 5, 6],
      rows: packs.map((pack) => [
        moment(pack.createdAt),
        pack.expiresAt === null ? texts.never : moment(pack.expiresAt),
        ...[pack.purchased, pack.remaining, pack.held, pack.spent, pack.expired].map(number),
      ]),
    })}`;
}
