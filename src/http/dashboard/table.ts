import { html, type Html, type HtmlValue } from './html.js';

interface Table {
  /** For those who cannot see where it begins and ends. */
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly HtmlValue[])[];
  /** Indexes of columns of figures. */
  figures?: readonly number[];
}

/** On a narrow screen it scrolls by itself, with the keyboard too. */
export function table({ caption, columns, rows, figures = [] }: Table): Html {
  const kind = (index: number): Html | false => figures.includes(index) && html`class="figure"`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map((column, index) => html`<th scope="col" ${kind(index)}>${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, index) => html`<td dir="auto" ${kind(index)}>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
