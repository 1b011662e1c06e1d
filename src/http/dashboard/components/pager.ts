import { html, type Html } from '../html.js';
import { icon } from './icon.js';

interface Pager {
  /** What is paged through: the links' purpose, for those who are read to. */
  label: string;
  first: { href: string; label: string } | null;
  next: { href: string; label: string } | null;
}

/** null where there is one page alone. */
export function pager({ label, first, next }: Pager): Html | null {
  if (first === null && next === null) return null;
  const back =
    first !== null && html`<a class="button secondary" href="${first.href}">${icon('previous')}${first.label}</a>`;
  const on =
    next !== null && html`<a class="button secondary" rel="next" href="${next.href}">${next.label}${icon('next')}</a>`;
  return html`<nav class="pager" aria-label="${label}">${back} ${on}</nav>`;
}
