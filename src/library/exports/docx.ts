/** A transcript as a document for word processors. */
import { Document, HeadingLevel, type IRunOptions, Packer, Paragraph, TextRun } from 'docx';
import type { Paragraph as SpokenParagraph } from '../paragraphs.js';

export interface DocxTranscript {
  title: string;
  paragraphs: readonly SpokenParagraph[];
}

const GREY = '6b7280';
const NAME: IRunOptions = { bold: true };

/** Text is text here: nothing of it becomes a field, a link or a formula. */
export async function docxOf({ title, paragraphs }: DocxTranscript): Promise<Buffer> {
  const heading = new Paragraph({ heading: HeadingLevel.HEADING_1, children: [new TextRun(printable(title))] });
  const document = new Document({
    title: printable(title),
    creator: 'Verbatim',
    sections: [{ children: [heading, ...paragraphs.map(spoken)] }],
  });
  return Packer.toBuffer(document);
}

function spoken({ startSeconds, speaker, text }: SpokenParagraph): Paragraph {
  return new Paragraph({
    spacing: { after: 160 },
    children: [
      ...(speaker === null ? [] : [new TextRun({ ...NAME, text: `${printable(speaker)}  ` })]),
      new TextRun({ text: `${clockTime(startSeconds)}  `, color: GREY, size: 18 }),
      new TextRun(printable(text)),
    ],
  });
}

/** XML has no place for the other characters. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]+/gu, ' ');
}

function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  return [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
