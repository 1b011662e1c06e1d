/** Reads subtitle files by the letter of their formats: what a lenient player would put up with throws here. */

export interface ReadCue {
  startSeconds: number;
  endSeconds: number;
  lines: string[];
  /** Whose voice all of it is. */
  speaker?: string;
}

/** SubRip: numbers from 1, one empty line between cues, text that no player takes for times or an end. */
export function readSrt(file: string): ReadCue[] {
  if (isEmptySrt(file)) return [];
  const cues = blocksOf(file).map(([number, times = '', ...lines], index) => {
    if (number !== String(index + 1)) throw new Error(`Cue ${index + 1} has the number "${number}".`);
    if (lines.some((line) => line.includes('-->'))) throw new Error(`An arrow in the text of cue ${number}.`);
    return { ...timesOf(times, ','), lines };
  });
  return inOrder(cues);
}

/** Which needs a cue to be known for what it is: one that shows nothing, and nothing else. */
function isEmptySrt(file: string): boolean {
  const [number, times = '', ...lines] = file.split('\n');
  if (number !== '1' || lines.join('\n') !== '\n') return false;
  return inOrder([{ ...timesOf(times, ','), lines: ['-'] }]).length === 1;
}

/**
 * WebVTT without settings, identifiers, comments and tags but a voice around the whole cue: what the service writes.
 */
export function readVtt(file: string): ReadCue[] {
  const [header, ...cues] = blocksOf(file);
  if (header?.join('\n') !== 'WEBVTT') throw new Error(`The file begins with "${header?.join('\n')}".`);
  return inOrder(
    cues.map(([times = '', first = '', ...others]) => {
      const { speaker, text = first } = /^<v (?<speaker>[^<>&\s]+)>(?<text>.*)$/.exec(first)?.groups ?? {};
      const lines = [text, ...others].map(unescaped);
      return { ...timesOf(times, '.'), lines, ...(speaker === undefined ? {} : { speaker }) };
    }),
  );
}

function blocksOf(file: string): string[][] {
  if (!file.endsWith('\n')) throw new Error('The last line has no end.');
  if (/[\p{Cc}\u2028\u2029]/u.test(file.replaceAll('\n', ''))) throw new Error('A control character.');
  return file
    .slice(0, -1)
    .split('\n\n')
    .map((block) => block.split('\n'));
}

function timesOf(line: string, point: ',' | '.'): Pick<ReadCue, 'startSeconds' | 'endSeconds'> {
  const time = String.raw`(\d{2,}):([0-5]\d):([0-5]\d)[${point}](\d{3})`;
  const match = new RegExp(`^${time} --> ${time}$`).exec(line);
  if (match === null) throw new Error(`These are no times: "${line}".`);
  const [h1, m1, s1, ms1, h2, m2, s2, ms2] = match.slice(1).map(Number) as [
    ...[number, number, number, number],
    ...[number, number, number, number],
  ];
  const seconds = (h: number, m: number, s: number, ms: number): number => (((h * 60 + m) * 60 + s) * 1000 + ms) / 1000;
  return { startSeconds: seconds(h1, m1, s1, ms1), endSeconds: seconds(h2, m2, s2, ms2) };
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

function unescaped(line: string): string {
  if (/[<>]|&(?!amp;|lt;|gt;)/.test(line)) throw new Error(`This is not escaped: "${line}".`);
  return line.replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);
}

function inOrder(cues: ReadCue[]): ReadCue[] {
  let free = 0;
  for (const { startSeconds, endSeconds, lines } of cues) {
    const at = `The cue at ${startSeconds} s`;
    if (startSeconds < free) throw new Error(`${at} begins before the last one ends.`);
    if (endSeconds <= startSeconds) throw new Error(`${at} is shown for no time.`);
    if (lines.length === 0 || lines.some((line) => line.trim() !== line || line === '')) {
      throw new Error(`${at} has an empty line, or none.`);
    }
    free = endSeconds;
  }
  return cues;
}
