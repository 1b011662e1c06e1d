/**
 * A question before something that cannot be undone. It has a page of its own; a link to it with `data-asks` shows it
 * in a dialog where scripts run.
 */
import { html, type HtmlValue } from '../html.js';
import type { View } from '../page.js';
import { button } from './button.js';

interface Question {
  title: string;
  /** Its object, by name. */
  about: HtmlValue;
  /** What will happen. */
  note: HtmlValue;
  /** Of the form that does it. */
  action: string;
  submit: string;
  /** Sent with the form. */
  value?: { name: string; value: string };
  /** Default: true. */
  isDangerous?: boolean;
  /** Where to go instead. */
  back: { href: string; label: string };
  /** Of the form. */
  fields?: HtmlValue;
}

export function questionView({ title, about, note, action, submit, value, back, fields, ...more }: Question): View {
  const { isDangerous = true } = more;
  const main = html`<form class="card question" id="question" method="post" action="${action}">
    <p class="about"><strong dir="auto">${about}</strong></p>
    <p>${note}</p>
    ${fields}
    <div class="row end">
      <a class="button secondary" href="${back.href}" data-close>${back.label}</a>
      ${button({ label: submit, kind: isDangerous ? 'danger' : 'primary', ...value })}
    </div>
  </form>`;
  return { title, main };
}
