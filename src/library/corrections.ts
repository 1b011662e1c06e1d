/** What a person may change of a transcript: checked, and made an edit. All throw `invalid_request`. */
import { VerbatimError } from '../errors.js';
import { hasWords, nameOf, speakerIds, type KeptSegment, type Note, type TranscriptDocument } from './document.js';
import { merged, type Edit } from './edits.js';
import { retimedWords } from './retimed-words.js';

/** Characters are Unicode code points. */
export const MOST_TITLE_CHARACTERS = 200;
export const MOST_NAME_CHARACTERS = 100;
export const MOST_SEGMENT_CHARACTERS = 2000;
export const MOST_NOTE_CHARACTERS = 2000;
export const MOST_NOTES = 500;
export const MOST_SOUGHT_CHARACTERS = 200;

export interface SegmentText {
  index: number;
  text: string;
}

export function titled(title: string): Edit {
  return { title: checkedText('title', title, { least: 1, most: MOST_TITLE_CHARACTERS }) };
}

/**
 * New names by S1, S2, …; a name that is empty gives the speaker its first one back. Speakers who then have the same
 * name are one from now on: the one who speaks first.
 */
export function renamed(document: TranscriptDocument, names: Readonly<Record<string, string>>): Edit {
  const speakers = speakerIds(document);
  const after: Record<string, string> = { ...document.names };
  for (const [speaker, given] of Object.entries(names)) {
    if (!speakers.includes(speaker)) throw unknownSpeaker(speaker, speakers);
    const name = checkedText('speakers', given, { least: 0, most: MOST_NAME_CHARACTERS });
    if (name === '' || name === speaker) Reflect.deleteProperty(after, speaker);
    else after[speaker] = name;
  }
  return asOne({ ...document, names: after }, speakers);
}

/** Everything that `from` says is said by `into`. */
export function mergedSpeakers(document: TranscriptDocument, { from, into }: { from: string; into: string }): Edit {
  const speakers = speakerIds(document);
  for (const speaker of [from, into]) if (!speakers.includes(speaker)) throw unknownSpeaker(speaker, speakers);
  if (from === into) throw invalid('speakers', 'Choose two different speakers to merge.');
  const names = { ...document.names };
  Reflect.deleteProperty(names, from);
  return merged({ names }, { segments: spokenBy(document, new Map([[from, into]])) });
}

function asOne(document: TranscriptDocument, speakers: readonly string[]): Edit {
  const first = new Map<string, string>();
  const others = new Map<string, string>();
  const names: Record<string, string> = { ...document.names };
  for (const speaker of speakers) {
    const name = nameOf(document, speaker);
    const known = first.get(name);
    if (known === undefined) first.set(name, speaker);
    else {
      others.set(speaker, known);
      // A name that is another speaker's first one stays with the speaker who has it now.
      if (name !== known) names[known] = name;
      Reflect.deleteProperty(names, speaker);
    }
  }
  return others.size === 0 ? { names } : { names, segments: spokenBy(document, others) };
}

function spokenBy({ segments }: TranscriptDocument, others: ReadonlyMap<string, string>): Map<number, KeptSegment> {
  return new Map(
    segments.flatMap((segment, index) => {
      const speaker = segment.speaker === undefined ? undefined : others.get(segment.speaker);
      return speaker === undefined ? [] : [[index, { ...segment, speaker }]];
    }),
  );
}

/** Words that stay keep their times; see retimedWords(). Texts that are as before are left out. */
export function corrected(document: TranscriptDocument, texts: readonly SegmentText[]): Edit {
  const isTimed = hasWords(document);
  const segments = new Map<number, KeptSegment>();
  for (const { index, text: given } of texts) {
    const segment = document.segments[index];
    if (segment === undefined) {
      throw invalid('segments', `There is no segment ${index}; the last one is ${document.segments.length - 1}.`);
    }
    if (segments.has(index)) throw invalid('segments', `Segment ${index} was sent more than once.`);
    const text = checkedText('segments', given, { least: 0, most: MOST_SEGMENT_CHARACTERS });
    if (text === segment.text) continue;
    segments.set(index, { ...segment, text, words: isTimed ? retimedWords(segment, text, document.language) : [] });
  }
  return segments.size === 0 ? {} : { segments };
}

export interface Replacement {
  find: string;
  replaceWith: string;
  /** Whether capitals matter; default: no. */
  matchCase?: boolean;
  /** Whether the match may not be a part of a longer word; default: no. */
  wholeWords?: boolean;
}

/** In the texts of all segments, as corrected(); `count`: how often it was found. */
export function replaced(document: TranscriptDocument, replacement: Replacement): { edit: Edit; count: number } {
  const { replaceWith, matchCase = false, wholeWords = false } = replacement;
  const find = checkedText('find', replacement.find, { least: 1, most: MOST_SOUGHT_CHARACTERS });
  const written = checkedText('replace', replaceWith, { least: 0, most: MOST_SOUGHT_CHARACTERS });
  const escaped = find.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const edge = '[\\p{L}\\p{M}\\p{N}]';
  const source = wholeWords ? `(?<!${edge})${escaped}(?!${edge})` : escaped;
  const pattern = new RegExp(source, matchCase ? 'gu' : 'giu');
  let count = 0;
  const texts = document.segments.flatMap(({ text }, index): SegmentText[] => {
    const found = text.match(pattern)?.length ?? 0;
    count += found;
    return found === 0 ? [] : [{ index, text: text.replace(pattern, () => written) }];
  });
  return { edit: corrected(document, texts), count };
}

export function noted(document: TranscriptDocument, note: Note): Edit {
  const others = document.notes.filter(({ id }) => id !== note.id);
  if (others.length >= MOST_NOTES) throw invalid('notes', `A transcript may have at most ${MOST_NOTES} notes.`);
  const text = checkedText('text', note.text, { least: 1, most: MOST_NOTE_CHARACTERS });
  const { atSeconds } = note;
  if (!(atSeconds >= 0 && atSeconds <= document.durationSeconds)) {
    throw invalid('at', `The time of a note must be from 0 to ${document.durationSeconds} s.`);
  }
  const notes = [...others, { id: note.id, atSeconds: Math.round(atSeconds * 1000) / 1000, text }];
  return { notes: notes.sort((one, other) => one.atSeconds - other.atSeconds) };
}

/** null: there is no such note. */
export function withoutNote({ notes }: TranscriptDocument, id: string): Edit | null {
  const left = notes.filter((note) => note.id !== id);
  return left.length === notes.length ? null : { notes: left };
}

/** Without control characters and halves of characters, with single spaces. */
export function cleanText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();
}

function checkedText(param: string, given: string, { least, most }: { least: number; most: number }): string {
  const text = cleanText(given);
  const { length } = Array.from(text);
  if (length >= least && length <= most) return text;
  throw invalid(param, `${param} must have ${least === 0 ? 'at most' : `${least} to`} ${most} characters.`);
}

function unknownSpeaker(speaker: string, speakers: readonly string[]): VerbatimError {
  const known = speakers.length === 0 ? 'none' : speakers.join(', ');
  return invalid('speakers', `There is no speaker "${speaker.slice(0, 20)}" in this transcript; it has: ${known}.`);
}

function invalid(param: string, message: string): VerbatimError {
  return new VerbatimError('invalid_request', message, { param });
}
