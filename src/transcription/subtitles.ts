/** Segments as the text of a subtitle file, SubRip or WebVTT, with who speaks where that is known. */
import { linesOf } from './lines.js';
import { inThousandths, type TimedText } from './timed-text.js';

/** As many characters are read in a second. */
export const READING_SPEED = 20;
/** However short the text. */
const LEAST_SHOWN_SECONDS = 1;

export interface Subtitled {
  /** In order, without overlap. */
  segments: readonly TimedText[];
  language: string;
  durationSeconds: number;
}

export function srtOf(subtitled: Subtitled): string {
  return [...srtCues(subtitled)].join('\n');
}

export function vttOf(subtitled: Subtitled): string {
  return [...vttCues(subtitled)].join('\n');
}

/** One made after the other, a line break between them. */
export function* srtCues(subtitled: Subtitled): Generator<string> {
  const shown = ({ speaker, text }: TimedText): string => (speaker === undefined ? text : `${speaker}: ${text}`);
  let number = 0;
  for (const { startSeconds, endSeconds, lines } of cuesOf(subtitled, shown)) {
    const times = `${clockTime(startSeconds, ',')} --> ${clockTime(endSeconds, ',')}`;
    yield [++number, times, ...lines.map(withoutArrows), ''].join('\n');
  }
  if (number === 0) yield emptySrt(subtitled);
}

/** As srtCues(), behind the head of the file. */
export function* vttCues(subtitled: Subtitled): Generator<string> {
  yield 'WEBVTT\n';
  for (const { startSeconds, endSeconds, lines, speaker } of cuesOf(subtitled, ({ text }) => text)) {
    const times = `${clockTime(startSeconds, '.')} --> ${clockTime(endSeconds, '.')}`;
    // A voice that is all of a cue need not be ended.
    const who = speaker === undefined ? '' : `<v ${escaped(speaker)}>`;
    yield [times, who + lines.map(escaped).join('\n'), ''].join('\n');
  }
}

/** A file without any cue is not taken for SubRip, by ffmpeg above all: this one has a cue that shows nothing. */
function emptySrt({ durationSeconds }: Subtitled): string {
  return `1\n00:00:00,000 --> ${clockTime(Math.max(0.001, durationSeconds), ',')}\n\n`;
}

interface Cue {
  startSeconds: number;
  endSeconds: number;
  lines: string[];
  speaker?: string;
}

function* cuesOf(
  { segments, language, durationSeconds }: Subtitled,
  shown: (segment: TimedText) => string,
): Generator<Cue> {
  const spoken = segments
    .map((segment) => ({ ...segment, text: printable(segment.text) }))
    .filter(({ text }) => text !== '');
  for (const segment of readable(spoken, durationSeconds)) {
    const { startSeconds, endSeconds, speaker } = segment;
    const lines = linesOf(shown(segment), language);
    yield { startSeconds, endSeconds, lines, ...(speaker === undefined ? {} : { speaker }) };
  }
}

/** Line breaks and control characters would end a cue, or the file. */
function printable(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** Each shown for as long as it takes to read, into the pause behind it and no further, and never for no time. */
function readable(segments: readonly TimedText[], durationSeconds: number): TimedText[] {
  let free = 0;
  return segments.map((segment, index) => {
    const { startSeconds, endSeconds, text } = segment;
    const readSeconds = Math.max(LEAST_SHOWN_SECONDS, text.length / READING_SPEED);
    const next = segments[index + 1]?.startSeconds ?? inThousandths(durationSeconds);
    const end = Math.max(endSeconds, Math.min(inThousandths(startSeconds + readSeconds), next));
    // A text without duration, right before the next word or the end, is shown in the pause before it.
    const start = Math.max(free, end > startSeconds ? startSeconds : inThousandths(end - readSeconds));
    free = Math.max(end, inThousandths(start + 0.001));
    return { ...segment, startSeconds: start, endSeconds: free };
  });
}

/** Hours have two digits, or more. */
function clockTime(seconds: number, point: ',' | '.'): string {
  const milliseconds = Math.round(seconds * 1000);
  const [hours, minutes, rest] = [
    Math.floor(milliseconds / 3_600_000),
    Math.floor(milliseconds / 60_000) % 60,
    Math.floor(milliseconds / 1000) % 60,
  ];
  const [h, m, s] = [hours, minutes, rest].map((part) => String(part).padStart(2, '0'));
  return `${h}:${m}:${s}${point}${String(milliseconds % 1000).padStart(3, '0')}`;
}

/** SubRip has no way to write one, and takes it for the times of a cue. */
function withoutArrows(line: string): string {
  return line.replace(/--+>/g, '->');
}

function escaped(line: string): string {
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
