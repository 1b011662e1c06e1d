import { html, type Html } from './html.js';
import { TEXTS } from './texts.js';
import { clockOf } from './transcripts/clock.js';

/** To the minute, UTC. */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} ${TEXTS.utc}`;
}

/** An ISO 8601 time for people: UTC as it comes; browser/times.ts writes it in the reader's zone. */
export function moment(iso: string): Html {
  const utc = minuteOf(iso);
  return html`<time datetime="${iso}" title="${utc}">${utc}</time>`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const RELATIVE = new Intl.RelativeTimeFormat(TEXTS.language, { numeric: 'auto' });

/** "3 hours ago", and the time itself. `now`: milliseconds since 1970. */
export function ago(iso: string, now: number): Html {
  const past = Math.max(0, now - Date.parse(iso));
  const [unit, length] = UNITS.find(([, one]) => past >= one) ?? ['minute', 60_000];
  return html`${RELATIVE.format(-Math.floor(past / length), unit)} <span class="soft">${moment(iso)}</span>`;
}

/** Of audio: 61.5 seconds are "1:02". */
export function duration(seconds: number): string {
  return clockOf(Math.round(seconds));
}

export function number(value: number): string {
  return value.toLocaleString(TEXTS.language);
}
