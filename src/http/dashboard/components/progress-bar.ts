import { html, type Html } from '../html.js';

interface Progress {
  /** What goes on, for those who do not see the bar. */
  label: string;
  /** Of 100; null: it is not known how far it is. */
  percent: number | null;
  /** Beside the bar. */
  text?: string;
}

export function progressBar({ label, percent, text }: Progress): Html {
  return html`<span class="progress">
    <progress max="100" ${percent !== null && html`value="${percent}"`} aria-label="${label}"></progress>
    ${text !== undefined && html`<span>${text}</span>`}
  </span>`;
}
