/** How commands print lists and single results. */
import { printable, printableLines } from './printable.js';

type Printed = string | number | null | readonly string[];

/** Prints one result; for programs, as a JSON object. */
export function printRow(row: Readonly<Record<string, Printed>>, json: boolean): void {
  if (json) console.log(printableLines(JSON.stringify(row, null, 2)));
  else printRows([row], false);
}

/** Prints JSON for programs, or an aligned table for people. `empty`: printed instead of an empty table. */
export function printRows(rows: readonly Record<string, Printed>[], json: boolean, empty = 'There are none.'): void {
  if (json) {
    console.log(printableLines(JSON.stringify(rows, null, 2)));
    return;
  }
  const [first] = rows;
  if (first === undefined) {
    console.log(empty);
    return;
  }
  const columns = Object.keys(first);
  const lines = [columns, ...rows.map((row) => columns.map((column) => printable(String(row[column] ?? '-'))))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)));
  for (const line of lines) {
    console.log(
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
