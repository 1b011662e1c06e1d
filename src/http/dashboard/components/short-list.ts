import { html, type Html, type HtmlValue } from '../html.js';

interface Item {
  title: HtmlValue;
  /** Under the title. */
  note?: HtmlValue;
  /** At the end of the line: a figure, a state. */
  value?: HtmlValue;
}

/** A few things in short, two lines each. */
export function shortList(label: string, items: readonly Item[]): Html {
  return html`<ul class="list" aria-label="${label}">
    ${items.map(
      ({ title, note, value }) =>
        html`<li>
          <div>
            <p>${title}</p>
            ${note !== undefined && html`<p class="hint">${note}</p>`}
          </div>
          ${value !== undefined && html`<span class="value">${value}</span>`}
        </li>`,
    )}
  </ul>`;
}
