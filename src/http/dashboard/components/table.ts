import { html, type Html, type HtmlValue } from '../html.js';

interface Table {
  /** For those who cannot see where it begins and ends. */
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly HtmlValue[])[];
  /** Indexes of columns of figures. */
  figures?: readonly number[];
}

/**
 * Where it is narrow, each row is a card that names its values: nothing is reached by scrolling to the side. The roles
 * are those of the elements, which some browsers forget when they are shown as blocks.
 */
export function table({ caption, columns, rows, figures = [] }: Table): Html {
  const kind = (index: number): Html | false => figures.includes(index) && html`class="figure"`;
  return html`<div class="table-box">
    <table role="table" aria-label="${caption}">
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map((column, index) => html`<th scope="col" role="columnheader" ${kind(index)}>${column}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (cells) =>
            html`<tr role="row">
              ${cells.map((cell, index) => bodyCell(cell, columns[index] ?? '', kind(index)))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function bodyCell(cell: HtmlValue, column: string, kind: HtmlValue): Html {
  return html`<td role="cell" data-label="${column}" dir="auto" ${kind}>${cell}</td>`;
}
