/** What POST /v1/listen takes and answers. */
import { Type, type Static } from 'typebox';
import { parameter } from '../schema/parameter.js';
import { count, oneOf, seconds, shape } from '../schema/shape.js';

const query = (name: string, description: string, example: string) =>
  parameter({ ...{ name, in: 'query', required: false, description, example }, schema: Type.String() });

/** `absent`: what an absent one means; null: its description says so. */
const flag = (name: string, description: string, absent: 'false' | null = 'false') =>
  parameter({
    ...{ name, in: 'query', required: false, description, example: 'true' },
    schema: oneOf(['true', 'false'], absent === null ? {} : { default: absent }),
  });

export const ListenModel = query(
  'model',
  'The name of an installed speech model. `nova*`, `enhanced*` and `base*` that are not installed mean the default.',
  'nova-3',
);
export const ListenLanguage = query(
  'language',
  'An ISO 639 code; `multi` detects it, and names it in every word. Default: `en`.',
  'en-US',
);
export const DetectLanguage = flag('detect_language', 'Detects the language, whatever `language` says.');
export const Punctuate = flag('punctuate', 'Punctuation and capital letters.');
export const SmartFormat = flag('smart_format', 'Means `punctuate` and `paragraphs`.');
export const Diarize = flag('diarize', 'Who speaks: words get a `speaker`.');
export const Utterances = flag('utterances', 'The speech in pieces between pauses.');
export const UtteranceSplit = query(
  'utt_split',
  'Seconds of silence between two utterances, up to 60. Default: 0.8.',
  '0.8',
);
export const Paragraphs = flag('paragraphs', 'Means `punctuate`; sentences in paragraphs.');

export const Keep = flag(
  'keep',
  'Whether the transcript is kept, as `keep` of `/api/v1/transcribe`. Absent: as the account is set.',
  null,
);

export const LISTEN_PARAMETERS = {
  ...{ ListenModel, ListenLanguage, DetectLanguage, Punctuate, SmartFormat, Diarize },
  ...{ Utterances, UtteranceSplit, Paragraphs, Keep },
};

const times = { start: seconds('Seconds from the start of the file.'), end: seconds('Never past `duration`.') };
const confidence = Type.Number({ minimum: 0, maximum: 1, examples: [0.98] });
const speaker = Type.Optional(
  Type.Integer({ minimum: 0, description: 'With `diarize`, in the order in which they first speak.', examples: [0] }),
);
const transcript = Type.String({ examples: ['Hoy es domingo, dieciocho de mayo.'] });
const language = Type.String({ description: 'ISO 639-1 code.', examples: ['es'] });

export const ListenWord = shape({
  word: Type.String({ description: 'Without punctuation, in lower case.', examples: ['domingo'] }),
  ...times,
  confidence,
  punctuated_word: Type.Optional(Type.String({ description: 'With `punctuate`.', examples: ['domingo,'] })),
  speaker,
  language: Type.Optional(language),
});

export const ListenParagraph = shape({
  sentences: Type.Array(shape({ text: transcript, ...times })),
  num_words: count('Of the paragraph.'),
  ...times,
  speaker,
});

export const ListenUtterance = shape({
  ...times,
  confidence,
  channel: Type.Integer({ minimum: 0, examples: [0] }),
  transcript,
  words: Type.Array(ListenWord),
  speaker,
  id: Type.String({ format: 'uuid', examples: ['4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10'] }),
});

const alternative = shape({
  transcript,
  confidence,
  words: Type.Array(ListenWord, { description: 'None where the model gives no times of words.' }),
  paragraphs: Type.Optional(shape({ transcript, paragraphs: Type.Array(ListenParagraph) })),
  languages: Type.Optional(Type.Array(Type.String(), { description: 'With `language=multi`.', examples: [['es']] })),
});

const modelInfo = shape({
  name: Type.String({ examples: ['base'] }),
  version: Type.String({ examples: ['1'] }),
  arch: Type.String({ examples: ['verbatim'] }),
});

export const ListenAnswer = shape({
  metadata: shape({
    transaction_key: Type.String({ examples: ['deprecated'] }),
    request_id: Type.String({ examples: ['req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10'] }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the body.', examples: ['0'.repeat(64)] }),
    created: Type.String({ format: 'date-time', examples: ['2026-11-20T17:24:00.000Z'] }),
    duration: seconds('Of the decoded audio; its started minutes are billed.'),
    channels: Type.Integer({ minimum: 1, description: '1: all channels are mixed.', examples: [1] }),
    models: Type.Array(Type.String(), { description: 'The speech model.', examples: [['base']] }),
    model_info: Type.Record(Type.String(), modelInfo, {
      description: 'By the entries of `models`.',
      examples: [{ base: { name: 'base', version: '1', arch: 'verbatim' } }],
    }),
  }),
  results: shape({
    channels: Type.Array(
      shape({
        alternatives: Type.Array(alternative),
        detected_language: Type.Optional(language),
      }),
      { description: 'One, with one alternative.' },
    ),
    utterances: Type.Optional(Type.Array(ListenUtterance)),
  }),
});

export const LISTEN_EXAMPLE: Static<typeof ListenAnswer> = {
  metadata: {
    transaction_key: 'deprecated',
    request_id: 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10',
    sha256: '9f86d081884c7d65'.repeat(4),
    created: '2026-11-20T17:24:00.000Z',
    ...{ duration: 1.9, channels: 1, models: ['base'] },
    model_info: { base: { name: 'base', version: '1', arch: 'verbatim' } },
  },
  results: {
    channels: [
      {
        alternatives: [
          {
            ...{ transcript: 'Hoy es domingo.', confidence: 0.992 },
            words: [
              { word: 'hoy', start: 0.24, end: 0.48, confidence: 0.991, punctuated_word: 'Hoy' },
              { word: 'es', start: 0.48, end: 0.63, confidence: 0.998, punctuated_word: 'es' },
              { word: 'domingo', start: 0.63, end: 1.29, confidence: 0.987, punctuated_word: 'domingo.' },
            ],
          },
        ],
      },
    ],
  },
};
