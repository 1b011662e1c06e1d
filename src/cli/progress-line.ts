/** The texts of work that takes a while: the line while it goes, and for `verbatim transcribe` the one at its end. */

export interface ProgressParts {
  /** From 0 to 1. */
  fraction: number;
  /** As in "1/6 files"; those at the end go first where there is no room. */
  parts: readonly string[];
  /** The time left. */
  left: string;
}

const WIDEST_BAR = 40;
const NARROWEST_BAR = 10;

/** Of a terminal that does not say how wide it is. */
const USUAL_COLUMNS = 80;

/** At most `width` columns: the bar shrinks and goes first, the time left goes last. */
export function progressLine({ fraction, parts, left }: ProgressParts, width: number): string {
  const counts = Array.from({ length: parts.length + 1 }, (_, dropped) => parts.length - dropped);
  const kept = counts.find((count) => joined([...parts.slice(0, count), left]).length <= width);
  if (kept === undefined) return left.slice(0, width);
  const text = joined([...parts.slice(0, kept), left]);
  const columns = Math.min(WIDEST_BAR, width - text.length - 3);
  if (kept < parts.length && columns < WIDEST_BAR) return text;
  return columns < NARROWEST_BAR ? text : `[${bar(fraction, columns)}] ${text}`;
}

/** For progressLine(): some terminals begin a new line in their last column. */
export function widthOf({ columns }: NodeJS.WriteStream): number {
  return (columns > 0 ? columns : USUAL_COLUMNS) - 1;
}

/** "0:07 left"; unknown while nothing is done. */
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
