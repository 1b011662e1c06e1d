/** The texts of a run of `verbatim transcribe`: the line while it goes, and the one at its end. */

export interface ProgressParts {
  /** From 0 to 1. */
  fraction: number;
  /** As in "1/6 files". */
  files: string;
  audio: string;
  speed: string;
  /** The time left. */
  left: string;
}

const WIDEST_BAR = 40;
const NARROWEST_BAR = 10;

/** At most `width` columns: the bar shrinks and goes first, the time left goes last. */
export function progressLine({ fraction, files, audio, speed, left }: ProgressParts, width: number): string {
  const all = [files, audio, speed, left];
  const kept = [all, [files, audio, left], [files, left], [left]].find((parts) => joined(parts).length <= width);
  if (kept === undefined) return left.slice(0, width);
  const text = joined(kept);
  const columns = Math.min(WIDEST_BAR, width - text.length - 3);
  if (kept !== all && columns < WIDEST_BAR) return text;
  return columns < NARROWEST_BAR ? text : `[${bar(fraction, columns)}] ${text}`;
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
