/** Texts of long-running work: the progress line, and the summary of `verbatim transcribe`. */

export interface ProgressParts {
  /** From 0 to 1. */
  fraction: number;
  /** For example "1/6 files". The last parts are dropped first if there is no room. */
  parts: readonly string[];
  /** The time left. */
  left: string;
}

const WIDEST_BAR = 40;
const NARROWEST_BAR = 10;

/** For a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

/** At most `width` columns. The bar shrinks, and is dropped first; the time left is dropped last. */
export function progressLine({ fraction, parts, left }: ProgressParts, width: number): string {
  const counts = Array.from({ length: parts.length + 1 }, (_, dropped) => parts.length - dropped);
  const kept = counts.find((count) => joined([...parts.slice(0, count), left]).length <= width);
  if (kept === undefined) return left.slice(0, width);
  const text = joined([...parts.slice(0, kept), left]);
  const columns = Math.min(WIDEST_BAR, width - text.length - 3);
  if (kept < parts.length && columns < WIDEST_BAR) return text;
  return columns < NARROWEST_BAR ? text : `[${bar(fraction, columns)}] ${text}`;
}

/** The width for progressLine(). Some terminals start a new line in their last column. */
export function widthOf({ columns }: NodeJS.WriteStream): number {
  return (columns > 0 ? columns : USUAL_COLUMNS) - 1;
}

/** "0:07 left". Unknown until some of the work is done. */
export function timeLeft(fraction: number, elapsedSeconds: number): string {
  return `${fraction > 0 ? clockTime((elapsedSeconds * (1 - fraction)) / fraction) : '?'} left`;
}

/** 75 -> 1:15 */
function clockTime(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}

function joined(parts: readonly string[]): string {
  return parts.join(' | ');
}

function bar(fraction: number, columns: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * columns);
  return '='.repeat(full).padEnd(columns, '-');
}

export interface RunTotals {
  files: number;
  failed: number;
  audioSeconds: number;
  elapsedSeconds: number;
}

/** "6 files, 9.3 min of audio in 41 s (13.6 times real time), written to subtitles/" */
export function summaryText({ files, failed, audioSeconds, elapsedSeconds }: RunTotals, to: string | null): string {
  const counted = `${files} ${files === 1 ? 'file' : 'files'}${failed === 0 ? '' : ` (${failed} failed)`}`;
  const speed = elapsedSeconds > 0 ? ` (${(audioSeconds / elapsedSeconds).toFixed(1)} times real time)` : '';
  const written = to === null ? '' : `, written to ${to}`;
  return `${counted}, ${durationText(audioSeconds)} of audio in ${durationText(elapsedSeconds)}${speed}${written}`;
}

function durationText(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`;
}
