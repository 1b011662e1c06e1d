/** What a search finds of a transcript beside its title: the texts of segments first, at their indexes. */
import { namesOf, type TranscriptDocument } from './document.js';

export interface FoundText {
  text: string;
  /** Where it is on the file's time line; null: nowhere. */
  atSeconds: number | null;
}

/** Then the translation, the notes, and the names that speakers were given. */
export function searchTexts(document: TranscriptDocument): FoundText[] {
  const { segments, translation, notes, names } = document;
  const spoken = segments.map(({ text, startSeconds: atSeconds }): FoundText => ({ text, atSeconds }));
  const translated = translation?.segments?.map(({ text, startSeconds: atSeconds }) => ({ text, atSeconds }));
  const whole = translation === null ? [] : [{ text: translation.text, atSeconds: null }];
  return [
    ...spoken,
    ...(translated ?? whole),
    ...notes.map(({ text, atSeconds }) => ({ text, atSeconds })),
    ...(Object.keys(names).length === 0 ? [] : [{ text: namesOf(document).join(', '), atSeconds: null }]),
  ];
}
