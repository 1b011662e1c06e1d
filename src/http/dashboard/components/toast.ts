import { html, type Html, type HtmlValue } from '../html.js';
import { TEXTS } from '../texts.js';
import { icon } from './icon.js';

/**
 * The result of the action on the page before, above the page until it is dismissed. `undo`: a form that takes the
 * action back.
 */
export function toast(text: string, undo: HtmlValue = null): Html {
  return html`<div class="toast">
    ${icon('check')}
    <p role="status">${text}</p>
    ${undo}
    <a class="button quiet icon-only" href="?" aria-label="${TEXTS.components.dismiss}" data-dismiss>
      ${icon('close')}
    </a>
  </div>`;
}

/** What went wrong on this page, or must be seen first. */
export function banner(tone: 'information' | 'warning' | 'bad', content: HtmlValue): Html {
  return html`<div class="banner ${tone}" ${tone === 'bad' && html`role="alert"`}>
    ${icon(tone === 'information' ? 'information' : 'warning')}
    <div>${content}</div>
  </div>`;
}
