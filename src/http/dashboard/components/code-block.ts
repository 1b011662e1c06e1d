import { html, type Html } from '../html.js';
import { TEXTS } from '../texts.js';
import { icon } from './icon.js';

interface CodeBlock {
  /** Of its own on the page. */
  id: string;
  text: string;
  /** What it is, for those who do not see it. */
  label: string;
}

/** Text to be copied; the page needs the module copy.js. */
export function codeBlock({ id, text, label }: CodeBlock): Html {
  return html`<div class="code-block">
    <pre id="${id}" tabindex="0" aria-label="${label}" role="region">${text}</pre>
    ${copyButton(id)}
  </div>`;
}

/** Copies the text of the element with this id; hidden without scripts. */
export function copyButton(id: string): Html {
  const { copy, copied } = TEXTS.components;
  return html`<span class="copy">
    <button type="button" class="button quiet" data-copy="${id}" data-copied="${copied}" hidden>
      ${icon('copy')}<span>${copy}</span>
    </button>
    <span role="status"></span>
  </span>`;
}
