/** /transcripts, and the pages that links lead to, as path items of the document. */
import { ShareId } from '../api/shares-schema.js';
import {
  ExportedText,
  TranscriptCursor,
  TranscriptFormat,
  TranscriptId,
  TranscriptLimit,
  TranscriptWords,
} from '../api/transcripts-schema.js';
import { RequestId } from '../schema/headers.js';
import { EXPORT_TYPES } from '../../library/exports/export.js';
import { AUDIO_TYPES } from '../../library/audio-type.js';
import type { InvalidRequestExample } from './error-responses.js';
import { textExamples } from './examples.js';
import { answer, BEHIND_KEY, content, errors, path } from './path-items.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

const BAD_LIMIT: InvalidRequestExample = { message: TranscriptLimit.refusal, param: TranscriptLimit.name };
const BAD_FORMAT: InvalidRequestExample = { message: TranscriptFormat.refusal, param: TranscriptFormat.name };
const BAD_SPEAKER: InvalidRequestExample = {
  message: 'There is no speaker "S9" in this transcript; it has: S1, S2.',
  param: 'speakers',
};
const BAD_EXPIRY: InvalidRequestExample = {
  message: 'expires_at must be a date and time to come.',
  param: 'expires_at',
};

const CSV = '\ufeffstart,end,speaker,text\r\n"0.240","3.100","Ada","Hoy es domingo, dieciocho de mayo."\r\n';

const bytes = { type: 'string', format: 'binary' };

function mediaType(full: string): string {
  return full.split(';', 1)[0] ?? full;
}

const files: Json = {
  ...content('application/json', 'KeptTranscript'),
  ...Object.fromEntries(
    Object.entries(textExamples).map(([type, example]) => [type, { schema: { type: 'string' }, example }]),
  ),
  [mediaType(EXPORT_TYPES.csv)]: { schema: { type: 'string' }, example: CSV },
  [EXPORT_TYPES.docx]: { schema: bytes, example: '(the bytes of the file)' },
};

const recording: Json = {
  headers: headerRefs(RequestId),
  content: Object.fromEntries(AUDIO_TYPES.map((type) => [type, { schema: bytes, example: '(the bytes of the file)' }])),
};

function operation(operationId: string, summary: string, more: Json, refused?: InvalidRequestExample): Json {
  const { responses, ...rest } = more as { responses: Json };
  return {
    ...{ tags: ['transcripts'], operationId, summary },
    ...rest,
    responses: { ...responses, ...errors(operationId, BEHIND_KEY, refused) },
  };
}

export const transcriptPaths: Json = {
  '/api/v1/transcripts': path({
    get: operation(
      'listTranscripts',
      'Kept transcripts, newest first, or those that have some words',
      {
        parameters: parameterRefs(TranscriptWords, TranscriptLimit, TranscriptCursor),
        responses: { '200': answer('TranscriptList', 'A page of transcripts, without their texts.') },
      },
      BAD_LIMIT,
    ),
  }),
  '/api/v1/transcripts/{id}': path(
    {
      get: operation('getTranscript', 'A kept transcript', {
        responses: { '200': answer('KeptTranscript', 'The transcript, as it is now.') },
      }),
      patch: operation(
        'updateTranscript',
        'Correct a transcript',
        {
          description:
            'The title, names of speakers, and texts of segments. The original and every change are kept. Made to a ' +
            '`version` that is not the newest, it is answered 409 `conflict`. The body has at most 1 MiB.',
          requestBody: { required: true, content: content('application/json', 'UpdateTranscriptRequest') },
          responses: { '200': answer('KeptTranscript', 'The transcript after the change.') },
        },
        BAD_SPEAKER,
      ),
      delete: operation('deleteTranscript', 'Delete a transcript, at once', {
        description:
          'With its recording, its links, the job that made it, and the stored answer: a repeat of that request ' +
          'under its Idempotency-Key is answered 409.',
        responses: { '200': answer('DeletedTranscript', 'It is deleted.') },
      }),
    },
    TranscriptId,
  ),
  '/api/v1/transcripts/{id}/export': path(
    {
      get: operation(
        'exportTranscript',
        'A transcript as a file',
        {
          description:
            'Speakers have the names that they were given. Cells of csv that a spreadsheet would run as a formula ' +
            'begin with an apostrophe.',
          parameters: parameterRefs(TranscriptFormat, ExportedText),
          responses: { '200': { description: 'The file.', headers: headerRefs(RequestId), content: files } },
        },
        BAD_FORMAT,
      ),
    },
    TranscriptId,
  ),
  '/api/v1/transcripts/{id}/audio': path(
    {
      get: operation('getTranscriptAudio', 'The recording, as it was received', {
        description: '`Range` is served. 404 where the recording is not kept.',
        responses: {
          '200': { description: 'The recording.', ...recording },
          '206': { description: 'The part of it that `Range` asks for.', ...recording },
        },
      }),
    },
    TranscriptId,
  ),
  '/api/v1/transcripts/{id}/shares': path(
    {
      get: operation('listShares', 'The links of a transcript', {
        responses: { '200': answer('ShareList', 'Those that have not expired.') },
      }),
      post: operation(
        'createShare',
        'Make a link by which anybody may read a transcript',
        {
          description:
            'It reads only, shows no account, and stops at `expires_at` or when it is revoked. The token in it is ' +
            'stored as a hash.',
          requestBody: { required: true, content: content('application/json', 'CreateShareRequest') },
          responses: { '201': answer('CreatedShare', 'The link.') },
        },
        BAD_EXPIRY,
      ),
    },
    TranscriptId,
  ),
  '/api/v1/transcripts/{id}/shares/{share}': path(
    {
      delete: operation('revokeShare', 'Revoke a link, at once', {
        responses: { '200': answer('RevokedShare', 'The link is revoked.') },
      }),
    },
    TranscriptId,
    ShareId,
  ),
};
