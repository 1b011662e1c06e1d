/** What one speaker says in a row is one paragraph, which is broken at a sentence's end when it gets long. */
interface Spoken {
  text: string;
  speaker?: string;
}

const LONG = 600;
const SENTENCE_END = /[.!?…。！？؟।]["'»”’)\]]*\s*$/u;

/** Segments in their order; each paragraph has one speaker. */
export function readingParagraphs<T extends Spoken>(segments: readonly T[]): T[][] {
  const paragraphs: T[][] = [];
  let length = 0;
  for (const segment of segments) {
    const current = paragraphs.at(-1);
    const before = current?.at(-1);
    const isLong = length >= LONG && before !== undefined && SENTENCE_END.test(before.text);
    if (current === undefined || before?.speaker !== segment.speaker || isLong) {
      paragraphs.push([segment]);
      length = segment.text.length;
    } else {
      current.push(segment);
      length += segment.text.length;
    }
  }
  return paragraphs;
}
