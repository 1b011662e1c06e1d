/** Results of a live session on standard output. */
import type { FinalResult, PartialResult, SessionEvent, TranslatedResult } from '../live/events.js';
import { speakerRuns, type SpeakerRun } from '../live/session-speakers.js';
import { printableLines } from './printable.js';

export interface PrinterOptions {
  /** A line of JSON for each result. */
  json?: boolean;
  /** Final text is printed in its translation; in JSON both are. */
  translates?: boolean;
}

/** Final text as it comes; text that may change on a terminal, where the next one takes its place. */
export class ResultPrinter {
  failed = 0;
  hasText = false;
  #isPartialShown = false;

  constructor(private readonly options: PrinterOptions) {}

  print(event: SessionEvent): void {
    if (event.type === 'failed' || event.type === 'translation_failed') {
      this.failed += 1;
      console.error(`verbatim: ${printableLines(event.error.message)}`);
    } else if (event.type === 'final') this.#final(event);
    else if (event.type === 'partial') this.#partial(event);
    else if (event.type === 'translated') this.#translated(event);
  }

  #final(result: FinalResult): void {
    const { type, text, language } = result;
    this.hasText ||= text !== '';
    const replacesPartial = this.#isPartialShown;
    this.#clearPartial();
    const runs = speakerRuns(result);
    if (this.options.json === true) {
      // A final result without text takes back the partial one before it.
      if (text !== '' || replacesPartial) for (const run of runs) write(jsonOf({ type, language, ...run }));
    } else if (text !== '' && this.options.translates !== true) {
      process.stdout.write(
        runs.map((run) => `${run.speaker === null ? '' : `${run.speaker}: `}${run.text}\n`).join(''),
      );
    }
  }

  #partial(result: PartialResult): void {
    const { text } = result;
    if (this.options.json === true) {
      if (text !== '' || this.#isPartialShown) write(jsonOf({ ...result, speaker: null }));
    } else {
      this.#clearPartial();
      process.stdout.write(lastOf(printableLines(text), (process.stdout.columns || 80) - 1));
    }
    this.#isPartialShown = text !== '';
  }

  #translated(result: TranslatedResult): void {
    if (this.options.json === true) write(jsonOf({ ...result, speaker: null }));
    else {
      this.#clearPartial();
      process.stdout.write(`${result.text}\n`);
    }
  }

  #clearPartial(): void {
    if (this.#isPartialShown && this.options.json !== true) process.stdout.write('\r\u001b[K');
    this.#isPartialShown = false;
  }
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function jsonOf({
  type,
  startSeconds,
  endSeconds,
  language,
  speaker,
  text,
}: SpeakerRun & { type: string; language: string }): object {
  const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;
  const about = { type, start: milliseconds(startSeconds), end: milliseconds(endSeconds), language };
  return { ...about, ...(speaker === null ? {} : { speaker }), text };
}

/** What fits into a line: its end, which is new. */
function lastOf(text: string, columns: number): string {
  return text.length <= columns ? text : `…${text.slice(1 - columns)}`;
}
