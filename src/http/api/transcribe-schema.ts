/** What POST /transcribe takes. */
import { Type } from 'typebox';
import { MOST_SPEAKERS } from '../../engine/speakers/speaker-engine.js';
import { ANSWER_FORMATS, MOST_PROMPT_CHARACTERS, TIMESTAMPS } from '../../transcription/options.js';
import { fileField, oneOf, shape } from '../schema/shape.js';

/** How a form says yes and no, in any case. */
export const BOOLEANS = {
  ...{ true: true, false: false },
  ...{ '1': true, '0': false },
  ...{ yes: true, no: false },
  ...{ on: true, off: false },
} as const;

/** In the order in which error messages list them. */
export const BOOLEAN_WORDS = ['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'] as const;

/** The values of fields that are absent. */
export const DEFAULTS = { punctuate: 'true', diarize: 'false', timestamps: 'none', format: 'json' } as const;

/** A field that says one of these, in any case. */
const word = (allowed: readonly string[], fallback: string, description: string) =>
  Type.Optional(
    oneOf(allowed, {
      default: fallback,
      description: `${description} Case-insensitive.`,
      examples: [...new Set([fallback, allowed.at(-1)])],
    }),
  );

const yesOrNo = (fallback: boolean, description: string) =>
  Type.Optional(
    Type.Boolean({
      default: fallback,
      description: `${description} Also taken: ${BOOLEAN_WORDS.join(', ')}, in any case.`,
      examples: [fallback, !fallback],
    }),
  );

/** Refused without `diarize`. */
export const SPEAKER_COUNTS = ['num_speakers', 'min_speakers', 'max_speakers'] as const;

const speakerCount = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_SPEAKERS,
      description: `${description} Only with \`diarize\`.`,
      examples: [2],
    }),
  );

/** The text fields of the form. */
export const TranscribeFields = {
  model: Type.Optional(
    Type.String({
      description:
        'The name of an installed speech model, as `GET /v1/models` lists them. Absent or empty: the default model. ' +
        'One that is not in memory is loaded for the request. `X-Model` names the model that made the answer.',
      examples: ['base', 'large-v3-turbo'],
    }),
  ),
  language: Type.Optional(
    Type.String({
      description:
        'Spoken language: ISO 639-1, or 639-2/3 mapped to it, any case; a region is dropped. Detected when absent.',
      examples: ['es', 'spa', 'es-MX'],
    }),
  ),
  translate_to: Type.Optional(
    Type.String({
      description:
        'Language to translate the transcript into; the spoken language gives the transcript itself. A pair that no ' +
        'installed model covers, directly or through English, is refused before anything is transcribed when ' +
        '`language` is given, and before anything is charged when it is detected.',
      examples: ['en'],
    }),
  ),
  punctuate: yesOrNo(BOOLEANS[DEFAULTS.punctuate], 'false: lower-case words without punctuation.'),
  diarize: yesOrNo(
    BOOLEANS[DEFAULTS.diarize],
    'true: speakers are identified. JSON gains `segments` and `words` with speakers, whatever `timestamps` ' +
      'says; text has a line for each ' +
      'turn, srt begins each text with its speaker, and vtt has voices. Answered 422 ' +
      '`unsupported_diarization` where no models that ' +
      'distinguish speakers are installed, or none for the language that is spoken.',
  ),
  num_speakers: speakerCount('Number of speakers, if known. Not with min_speakers or max_speakers.'),
  min_speakers: speakerCount('Minimum number of speakers.'),
  max_speakers: speakerCount('Maximum number of speakers.'),
  timestamps: word(
    TIMESTAMPS,
    DEFAULTS.timestamps,
    'Times in a JSON answer. segment: `segments`; word: `segments` and `words`, or 400 if the decoder in ' +
      'use aligns no words.',
  ),
  format: word(
    ANSWER_FORMATS,
    DEFAULTS.format,
    'Format of the answer. text, srt and vtt are the text alone, or subtitles; with `translate_to`, of ' +
      'the translation. Other details are then in the headers. Errors are always JSON.',
  ),
  keep: Type.Optional(
    Type.Boolean({
      description:
        'Whether the transcript is kept: found, read and corrected under `/api/v1/transcripts`. Absent: as the ' +
        'account is set, which at first is not to keep. true with the setting off: for 30 days. The recording is ' +
        `kept as the account is set. Also taken: ${BOOLEAN_WORDS.join(', ')}, in any case.`,
      examples: [true, false],
    }),
  ),
  prompt: Type.Optional(
    Type.String({
      maxLength: MOST_PROMPT_CHARACTERS,
      description: 'Names and words to expect, spelt as they are to be written.',
      examples: ['Verbatim, whisper.cpp, Ada Lovelace'],
    }),
  ),
};

export const TranscribeRequest = shape({
  audio: fileField(
    'One file of at most 100,000,000 bytes: WAV, FLAC, MP3 or OGG (Vorbis, Opus, FLAC); where ffmpeg is installed ' +
      'WebM, Matroska, MP4, M4A, MOV, 3GP, AAC (ADTS), CAF, AIFF, AMR or WMA, too, of a video the first audio track. ' +
      'The format is decided by content.',
  ),
  ...TranscribeFields,
});
