/** What POST /transcribe takes and answers. */
import { Type, type Static } from 'typebox';
import type { TranscriptionResult } from '../../transcription/result.js';
import { warningsOf } from '../../transcription/warnings.js';
import { responseHeader } from '../headers.js';
import { checkedParameter } from '../parameter.js';
import { count, id, languageCode, oneOf, seconds, shape } from '../shape.js';

/** How a form says yes and no, in any case. */
export const BOOLEANS = {
  ...{ true: true, false: false },
  ...{ '1': true, '0': false },
  ...{ yes: true, no: false },
  ...{ on: true, off: false },
} as const;

/** In the order in which people are told. */
export const BOOLEAN_WORDS = ['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'] as const;

export const DEFAULTS = { punctuate: true, diarize: false } as const;

const anyCase = (word: string): string =>
  word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const boolean = (fallback: boolean, description: string) =>
  Type.Optional(
    Type.String({
      pattern: `^(${BOOLEAN_WORDS.map(anyCase).join('|')})$`,
      default: String(fallback),
      description: `${description} One of ${BOOLEAN_WORDS.join(', ')}, in any case.`,
      examples: [String(fallback)],
    }),
  );

const language = Type.String(languageCode);

/** The text fields of the form. */
export const TranscribeFields = {
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
  punctuate: boolean(DEFAULTS.punctuate, 'false: lower-case words without punctuation.'),
  diarize: boolean(
    DEFAULTS.diarize,
    'true is answered 422 `unsupported_diarization`: nothing tells speakers apart yet.',
  ),
};

export const IdempotencyKey = checkedParameter({
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeat within 24 hours by the same account returns the stored answer and charges nothing. The whole request (fields ' +
    'and audio) must be the same. A request that failed stored nothing and may be repeated under the same key.',
  schema: Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' }),
  example: '0f0b2c1e-6a57-4c39-9a53-0d8a9d0b7c11',
  refusal: 'Idempotency-Key must have 1 to 255 printable characters.',
});

export const TranscribeRequest = shape({
  audio: Type.String({
    contentMediaType: 'application/octet-stream',
    examples: ['(the bytes of the file)'],
    description:
      'One WAV, FLAC, MP3 or OGG (Vorbis, Opus, FLAC) file of at most 100,000,000 bytes. The format is decided by content.',
  }),
  ...TranscribeFields,
});

const [warning] = warningsOf({ unsureWindows: 1 }, { modelName: 'verbatim-small' });

export const Transcription = shape({
  id: id('tr', 'jWe1pcjYDMW83_ro3txM0A'),
  duration_sec: seconds('Of the decoded audio; its started minutes are billed.'),
  language,
  text: Type.String({ examples: ['Hoy es domingo, dieciocho de mayo.'] }),
  translation: Type.Optional(
    shape(
      { language, text: Type.String({ examples: ['Today is Sunday.'] }) },
      'Present when translate_to was sent.',
    ),
  ),
  warnings: Type.Optional(
    Type.Array(
      shape({
        code: oneOf(['demonstration_model'], {
          description:
            'demonstration_model: text was left out, since the bundled model knows synthetic voices and a phrase book ' +
            'only; the message says how to install a published one.',
          examples: ['demonstration_model'],
        }),
        message: Type.String({ examples: [warning?.message] }),
      }),
      { minItems: 1, description: 'What to know of this answer; absent when there is nothing.' },
    ),
  ),
  credits_used: count('Charged for this request.'),
  credits_remaining: count("The account's balance after it."),
});

const PHASES = ['upload', 'queue', 'decode', 'speech', 'translate'] as const;

export const ServerTiming = responseHeader({
  name: 'Server-Timing',
  description:
    'upload, queue, decode, speech and translate, each with dur in milliseconds. Decode is reading the file and speech the ' +
    'model; both add up the time of all windows, which run side by side.',
  required: true,
  schema: Type.String({ pattern: `^${PHASES.map((phase) => `${phase};dur=[\\d.]+`).join(', ')}$` }),
  example: timing({ upload: 12, queue: 3.1, decode: 5.2, speech: 310.4, translate: 0 }),
});

/** What Server-Timing says, from milliseconds. */
export function timing(phases: Readonly<Record<(typeof PHASES)[number], number>>): string {
  return PHASES.map((phase) => `${phase};dur=${phases[phase].toFixed(1)}`).join(', ');
}

export const IdempotencyReplayed = responseHeader({
  name: 'Idempotency-Replayed',
  description: 'Present when the answer is the stored one of an earlier request.',
  required: false,
  schema: Type.Unsafe<'true'>({ type: 'string', const: 'true' }),
  example: 'true',
});

export function transcriptionBody(result: TranscriptionResult): Static<typeof Transcription> {
  return {
    id: result.id,
    duration_sec: Math.round(result.durationSeconds * 1000) / 1000,
    language: result.language,
    text: result.text,
    ...(result.translation === null ? {} : { translation: result.translation }),
    ...(result.warnings.length === 0 ? {} : { warnings: [...result.warnings] }),
    credits_used: result.creditsUsed,
    credits_remaining: result.creditsRemaining,
  };
}
