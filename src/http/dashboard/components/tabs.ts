import { html, type Html, type HtmlValue } from '../html.js';

interface Tab {
  id: string;
  label: string;
  content: HtmlValue;
}

/** Parts of which one is shown at a time; without scripts, one under the other with their names as titles. */
export function tabs(label: string, shown: readonly Tab[]): Html {
  return html`<div class="tabs" data-tabs>
    <div role="tablist" aria-label="${label}" hidden>
      ${shown.map(
        ({ id, label: name }, index) =>
          html`<button
            type="button"
            role="tab"
            id="${id}-tab"
            aria-controls="${id}"
            aria-selected="${index === 0 ? 'true' : 'false'}"
          >
            ${name}
          </button>`,
      )}
    </div>
    ${shown.map(
      ({ id, label: name, content }) =>
        html`<div class="panel" id="${id}">
          <h3>${name}</h3>
          ${content}
        </div>`,
    )}
  </div>`;
}

interface LinkTab {
  href: string;
  label: string;
  isCurrent: boolean;
}

/** Views of one page that have addresses of their own: periods, states. */
export function linkTabs(label: string, shown: readonly LinkTab[]): Html {
  return html`<ul class="segments" aria-label="${label}">
    ${shown.map(
      (tab) =>
        html`<li>
          <a href="${tab.href}" ${tab.isCurrent && html`aria-current="true"`}>${tab.label}</a>
        </li>`,
    )}
  </ul>`;
}
