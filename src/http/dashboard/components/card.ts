import { html, type Html, type HtmlValue } from '../html.js';

interface Card {
  title: string;
  /** Under the title, in a sentence. */
  note?: HtmlValue;
  /** Beside the title. */
  action?: HtmlValue;
  /** To link to it, or to find it. */
  id?: string;
  content: HtmlValue;
}

/** A part of a page with a title of its own. */
export function card({ title, note, action, id, content }: Card): Html {
  return html`<section class="card" ${id !== undefined && html`id="${id}"`}>
    <div class="card-head">
      <h2>${title}</h2>
      ${action}
    </div>
    ${note !== undefined && note !== '' && html`<p class="note-line">${note}</p>`} ${content}
  </section>`;
}

interface Figure {
  label: string;
  value: HtmlValue;
  note?: HtmlValue;
}

/** Numbers that are looked at first. */
export function figures(shown: readonly Figure[]): Html {
  return html`<dl class="figures">
    ${shown.map(
      ({ label, value, note }) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
          ${note !== undefined && html`<dd class="figure-note">${note}</dd>`}
        </div>`,
    )}
  </dl>`;
}

/** Names and values, a line each. */
export function facts(shown: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  return html`<dl class="facts">
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd dir="auto">${value}</dd>`,
    )}
  </dl>`;
}
