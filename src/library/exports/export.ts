/** A kept transcript as a file to download, with the names that its speakers were given. */
import { answerText } from '../../transcription/answer-text.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import type { TimedText } from '../../transcription/timed-text.js';
import { namedSegments, namedTranslation, readableText, type TranscriptDocument } from '../document.js';
import { spokenParagraphs } from '../paragraphs.js';
import type { TranscriptBody } from '../transcript-body.js';
import { csvOf } from './csv.js';
import { docxOf } from './docx.js';

export const EXPORT_FORMATS = ['txt', 'srt', 'vtt', 'json', 'csv', 'docx'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportedTranscript {
  title: string;
  document: TranscriptDocument;
  /** What the JSON file has. */
  body: () => Promise<TranscriptBody>;
}

/** The media types of the files. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  txt: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

/** `translated`: of the translation, which there is; JSON has both. */
export async function exported(
  { title, document, body }: ExportedTranscript,
  format: ExportFormat,
  { translated = false }: { translated?: boolean } = {},
): Promise<string | Buffer> {
  if (format === 'json') return jsonBytes(await body());
  const { language, segments, text } = translated ? translationOf(document) : speechOf(document);
  const { durationSeconds } = document;
  if (format === 'txt') return `${text}\n`;
  if (format === 'csv') return csvOf(segments);
  if (format === 'docx') return docxOf({ title, paragraphs: spokenParagraphs(segments, language) });
  return answerText({ language, segments, durationSeconds, text: '', translation: null }, format);
}

interface Exportable {
  language: string;
  segments: TimedText[];
  text: string;
}

function speechOf(document: TranscriptDocument): Exportable {
  return { language: document.language, segments: namedSegments(document), text: readableText(document) };
}

/** Without times it is one segment. */
function translationOf(document: TranscriptDocument): Exportable {
  const { translation, durationSeconds } = document;
  if (translation === null) throw new Error('The transcript has no translation.');
  const { language, text } = translation;
  const whole: TimedText[] = [{ startSeconds: 0, endSeconds: durationSeconds, text }];
  return { language, text, segments: namedTranslation(document) ?? whole };
}
