import { html, type Html } from '../html.js';
import { icon, type IconName } from './icon.js';

/** primary: the one thing to do here; quiet: in rows and bars; danger: cannot be undone. */
export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';

interface Look {
  label: string;
  kind?: ButtonKind;
  icon?: IconName;
  /** Where the label alone does not say what it is about: "Revoke the key Newsroom". */
  fullLabel?: string;
}

interface Button extends Look {
  name?: string;
  value?: string;
  /** Default: submit. */
  type?: 'submit' | 'button';
  id?: string;
}

export function button({ name, value, type = 'submit', id, ...look }: Button): Html {
  return html`<button
    type="${type}"
    class="button ${look.kind ?? 'primary'}"
    ${id !== undefined && html`id="${id}"`}
    ${name !== undefined && html`name="${name}"`}
    ${value !== undefined && html`value="${value}"`}
    ${look.fullLabel !== undefined && html`aria-label="${look.fullLabel}"`}
  >
    ${content(look)}
  </button>`;
}

interface LinkButton extends Look {
  href: string;
  /** Of a page with a question: it is asked in a dialog, and without scripts on that page. */
  asks?: boolean;
  isDownload?: boolean;
}

/** A link that looks like a button. */
export function linkButton({ href, asks = false, isDownload = false, ...look }: LinkButton): Html {
  return html`<a
    class="button ${look.kind ?? 'secondary'}"
    href="${href}"
    ${asks && html`data-asks`}
    ${isDownload && html`download`}
    ${look.fullLabel !== undefined && html`aria-label="${look.fullLabel}"`}
    >${content(look)}</a
  >`;
}

/** A form of one button. `fields`: sent with it, not shown. */
export function buttonForm(action: string, look: Button, fields: Readonly<Record<string, string>> = {}): Html {
  return html`<form method="post" action="${action}">
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${button(look)}
  </form>`;
}

function content({ label, icon: name }: Look): Html {
  return html`${name !== undefined && icon(name)}<span>${label}</span>`;
}
