/** What /transcripts takes and answers. */
import { Type, type Static } from 'typebox';
import { TRANSCRIPT_SOURCES } from '../../ledger/transcripts.js';
import { MOST_NAME_CHARACTERS, MOST_SEGMENT_CHARACTERS, MOST_TITLE_CHARACTERS } from '../../library/corrections.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../library/exports/export.js';
import type { FoundTranscript } from '../../library/library.js';
import { transcriptRowBody } from '../../library/transcript-body.js';
import { checkedParameter, parameter } from '../schema/parameter.js';
import {
  languageCode,
  oneOf,
  passed,
  seconds,
  shape,
  textOrNull,
  timestamp,
  timestampOrNull,
} from '../schema/shape.js';
import { transcriptId } from '../transcripts/transcription-headers.js';
import { TimedSegments, TimedWords, TranscriptTranslation } from './transcription-schema.js';

const Snippet = shape(
  {
    text: Type.String({ description: 'The text that has the words.', examples: ['Hoy es domingo,'] }),
    at: Type.Unsafe<number | null>({
      ...{ type: ['number', 'null'], minimum: 0, examples: [0.24, null] },
      description: 'Where it is, in seconds from the start of the file; null: it has no time.',
    }),
  },
  'With `query`, unless the title alone has the words.',
);

const row = {
  id: transcriptId,
  title: Type.String({ description: "The file's name, or the first words.", examples: ['interview.mp3'] }),
  created_at: timestamp,
  expires_at: timestampOrNull,
  duration_sec: seconds('Of the recording.'),
  language: Type.String(languageCode),
  speakers: Type.Array(Type.String(), {
    description: 'As they are shown, in the order in which they first speak.',
    examples: [['Ada', 'S2']],
  }),
  model: textOrNull({ description: 'The speech model that made it; null: it is not known.', examples: ['base', null] }),
  source: shape({
    kind: oneOf(TRANSCRIPT_SOURCES, { description: 'Where it was made.', examples: ['api'] }),
    name: textOrNull({ description: 'Of the API key; null: there is none to show.', examples: ['laptop', null] }),
  }),
};

export const TranscriptList = shape({
  transcripts: Type.Array(shape({ ...row, snippet: Type.Optional(Snippet) }), { description: 'Newest first.' }),
  next_cursor: textOrNull({
    description: 'Send it as `cursor` to get the next page; null: this is the last page.',
    examples: ['MTc2MzY1OTQ0MDAwMCB0cl9qV2Ux', null],
  }),
});

export const KeptTranscriptBody = shape({
  ...row,
  speaker_names: Type.Record(Type.String({ pattern: '^S\\d+$' }), Type.String(), {
    description: 'The names of the speakers S1, S2, … of `segments` and `words`; those without one are named so.',
    examples: [{ S1: 'Ada', S2: 'S2' }],
  }),
  text: Type.String({ examples: ['Hoy es domingo, dieciocho de mayo.'] }),
  segments: TimedSegments,
  words: TimedWords,
  translation: Type.Optional(TranscriptTranslation),
  notes: Type.Array(
    shape({
      id: Type.String({ examples: ['note_mvC0kFvXqzT1'] }),
      at: seconds('Seconds from the start of the file.'),
      text: Type.String({ examples: ['Ask again.'] }),
    }),
  ),
  version: Type.Integer({ minimum: 1, description: '1, and one more with every change.', examples: [1] }),
  audio: passed('Whether the recording is kept, too.'),
});

const MOST_SEGMENTS_AT_ONCE = 5000;

export const UpdateTranscriptRequest = shape({
  version: Type.Integer({ minimum: 1, description: 'The one that the change is made to.', examples: [1] }),
  title: Type.Optional(
    Type.String({ description: `1 to ${MOST_TITLE_CHARACTERS} characters.`, examples: ['Interview'] }),
  ),
  speakers: Type.Optional(
    Type.Record(Type.String({ pattern: '^S\\d+$' }), Type.String(), {
      description:
        `New names by S1, S2, …, of at most ${MOST_NAME_CHARACTERS} characters; an empty one gives the first name ` +
        'back. Two speakers who get the same name become one.',
      examples: [{ S1: 'Ada' }],
    }),
  ),
  segments: Type.Optional(
    Type.Array(
      shape({
        index: Type.Integer({ minimum: 0, description: 'In `segments`, from 0.', examples: [0] }),
        text: Type.String({
          description: `At most ${MOST_SEGMENT_CHARACTERS} characters.`,
          examples: ['Hoy es lunes,'],
        }),
      }),
      {
        maxItems: MOST_SEGMENTS_AT_ONCE,
        description: 'New texts. Words that stay keep their times; those that change get the time of those before.',
      },
    ),
  ),
});

export const DeletedTranscript = shape({ id: transcriptId, deleted_at: timestamp });

export const TranscriptId = parameter({
  name: 'id',
  in: 'path',
  required: true,
  description: "The transcription's id.",
  schema: Type.String(),
  example: 'tr_jWe1pcjYDMW83_ro3txM0A',
});

const MOST_QUERY_CHARACTERS = 200;

export const TranscriptWords = checkedParameter({
  name: 'query',
  in: 'query',
  required: false,
  description:
    'Only transcripts that have all of these words, in any form of capitals and accents; the last one may be ' +
    'unfinished.',
  schema: Type.String({ maxLength: MOST_QUERY_CHARACTERS }),
  example: 'domingo mayo',
  refusal: `query must be one text of at most ${MOST_QUERY_CHARACTERS} characters.`,
});

const PAGE = { minimum: 1, maximum: 100, default: 20 } as const;

export const TranscriptLimit = checkedParameter({
  name: 'limit',
  in: 'query',
  required: false,
  description: 'Maximum number of transcripts in one answer.',
  schema: Type.Integer(PAGE),
  example: 50,
  refusal: `limit must be one integer from ${PAGE.minimum} to ${PAGE.maximum}.`,
});

export const DEFAULT_TRANSCRIPT_LIMIT = PAGE.default;

export const TranscriptCursor = checkedParameter({
  name: 'cursor',
  in: 'query',
  required: false,
  description: 'The `next_cursor` of the previous page.',
  schema: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,200}$' }),
  example: 'MTc2MzY1OTQ0MDAwMCB0cl9qV2Ux',
  refusal: 'cursor must be the next_cursor of an earlier answer.',
});

export const TranscriptFormat = checkedParameter({
  name: 'format',
  in: 'query',
  required: true,
  description: 'Of the file. csv is a table of the segments.',
  schema: Type.Unsafe<ExportFormat>({ type: 'string', enum: [...EXPORT_FORMATS] }),
  example: 'srt',
  refusal: `format must be one of: ${EXPORT_FORMATS.join(', ')}.`,
});

const EXPORTED_TEXTS = ['transcript', 'translation'] as const;

export const ExportedText = checkedParameter({
  name: 'text',
  in: 'query',
  required: false,
  description: 'Which text the file has; json has both. Default: transcript.',
  schema: Type.Unsafe<(typeof EXPORTED_TEXTS)[number]>({ type: 'string', enum: [...EXPORTED_TEXTS] }),
  example: 'transcript',
  refusal: `text must be one of: ${EXPORTED_TEXTS.join(', ')}.`,
});

/** `found`: one more than the page has, where there is one. */
export function transcriptListBody(found: readonly FoundTranscript[], limit: number): Static<typeof TranscriptList> {
  const page = found.slice(0, limit);
  return {
    transcripts: page.map(({ stored, snippet }) => ({
      ...transcriptRowBody(stored),
      ...(snippet === null ? {} : { snippet: { text: snippet.text, at: snippet.atSeconds } }),
    })),
    next_cursor: found.length > limit ? (page.at(-1)?.stored.place ?? null) : null,
  };
}
