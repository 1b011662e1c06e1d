/** Minutes of the last days as bars, drawn by the server: no script, and the figures stand above the bars. */
import type { UsageDay } from '../../ledger/history.js';
import { dateOfDay } from '../../ledger/time.js';
import { number } from './format.js';
import { html, type Html } from './html.js';
import { TEXTS } from './texts.js';

const { days: texts } = TEXTS.home;
const WIDTH = 56;
const BAR = 36;
const HEIGHT = 96;
const TOP = 20;
const BOTTOM = 22;

interface Day {
  date: string;
  minutes: number;
}

/** Every day until `today`, counted since 1970, those without use too. */
export function minutesByDay(usage: readonly UsageDay[], today: number, days: number): Day[] {
  return Array.from({ length: days }, (_, index) => {
    const date = dateOfDay(today - days + 1 + index);
    const ofDay = usage.filter((row) => row.date === date);
    return { date, minutes: ofDay.reduce((sum, { minutes }) => sum + minutes, 0) };
  });
}

export function sevenDays(days: readonly Day[]): Html {
  const most = Math.max(1, ...days.map(({ minutes }) => minutes));
  const text = texts.chart(days.map(({ date, minutes }) => `${date}: ${number(minutes)}`).join(', '));
  const viewBox = `0 0 ${WIDTH * days.length} ${TOP + HEIGHT + BOTTOM}`;
  return html`<svg class="bars" viewBox="${viewBox}" role="img" aria-label="${text}">
    ${days.map((day, index) => bar(day, index * WIDTH, Math.round((day.minutes / most) * HEIGHT)))}
  </svg>`;
}

function bar({ date, minutes }: Day, left: number, high: number): Html {
  const middle = left + WIDTH / 2;
  const top = TOP + HEIGHT - high;
  return html`<rect x="${left + (WIDTH - BAR) / 2}" y="${top}" width="${BAR}" height="${high}" rx="3" />
    ${minutes > 0 && html`<text class="value" x="${middle}" y="${top - 6}">${number(minutes)}</text>`}
    <text x="${middle}" y="${TOP + HEIGHT + BOTTOM - 6}">${date.slice(5)}</text>`;
}
