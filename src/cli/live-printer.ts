/** Results of a live session on standard output. */
import type { FinalResult, PartialResult, SessionEvent } from '../live/events.js';
import { printableLines } from './printable.js';

/** Final text as it comes; text that may change on a terminal, where the next one takes its place. */
export class ResultPrinter {
  failed = 0;
  hasText = false;
  #isPartialShown = false;

  constructor(private readonly flags: { json?: boolean }) {}

  print(event: SessionEvent): void {
    if (event.type === 'failed') {
      this.failed += 1;
      console.error(`verbatim: ${printableLines(event.error.message)}`);
    } else if (event.type === 'final' || event.type === 'partial') this.#result(event);
  }

  #result(result: FinalResult | PartialResult): void {
    const { type, text } = result;
    if (type === 'final') this.hasText ||= text !== '';
    const replacesPartial = this.#isPartialShown;
    this.#isPartialShown = type === 'partial' && text !== '';
    if (this.flags.json === true) {
      // A final result without text takes back the partial one before it.
      if (text !== '' || replacesPartial) process.stdout.write(`${JSON.stringify(jsonOf(result))}\n`);
      return;
    }
    if (replacesPartial) process.stdout.write('\r\u001b[K');
    if (type === 'final') process.stdout.write(text === '' ? '' : `${text}\n`);
    else process.stdout.write(lastOf(printableLines(text), (process.stdout.columns || 80) - 1));
  }
}

function jsonOf({ type, startSeconds, endSeconds, language, text }: FinalResult | PartialResult): object {
  const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;
  return { type, start: milliseconds(startSeconds), end: milliseconds(endSeconds), language, text };
}

/** What fits into a line: its end, which is new. */
function lastOf(text: string, columns: number): string {
  return text.length <= columns ? text : `…${text.slice(1 - columns)}`;
}
