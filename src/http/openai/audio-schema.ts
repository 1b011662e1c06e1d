/** What OpenAI's audio endpoints take and answer here. */
import { Type } from 'typebox';
import { warningsField } from '../api/transcription-schema.js';
import { fileField, oneOf, seconds, shape } from '../schema/shape.js';
import { GRANULARITIES, RESPONSE_FORMATS, TRANSLATION_FORMATS } from './audio-fields.js';

const file = fileField(
  'One file of at most 100,000,000 bytes, of a format that POST /api/v1/transcribe takes. The format ' +
    'is decided by content, not by name or type.',
);

const model = Type.String({
  description:
    'The name of an installed speech model. Any other that begins with `whisper-` or `gpt-` means the default model.',
  examples: ['whisper-1', 'base'],
});

const prompt = Type.Optional(
  Type.String({
    description: 'Names and words to expect. Only the last 1,000 characters are used.',
    examples: ['Verbatim, whisper.cpp, Ada Lovelace'],
  }),
);

const temperature = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0,
    description: '0: the most likely text, and higher temperatures only where that fails.',
    examples: [0, 0.2],
  }),
);

const stream = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'Whether the answer comes in events, `transcript.text.delta` while it is made and ' +
      '`transcript.text.done`, with json, verbose_json and text; refused with srt and vtt. A client that ' +
      'disconnects after the first piece pays for the minutes delivered.',
    examples: [true],
  }),
);

const responseFormat = (formats: readonly string[], more = '') =>
  Type.Optional(
    oneOf(formats, {
      default: 'json',
      description: `Format of the answer.${more === '' ? '' : ` ${more}`}`,
      examples: ['json', 'verbose_json'],
    }),
  );

const items = (allowed: object, example: string, description: string) =>
  Type.Optional(
    Type.Array(Type.Unsafe<string>({ type: 'string', ...allowed }), { description, examples: [[example]] }),
  );

const NO_SPEAKERS = 'Refused: speakers are distinguished by their voices in the file alone.';

export const CreateTranscriptionRequest = shape({
  file,
  model,
  language: Type.Optional(
    Type.String({
      description:
        'Spoken language, as in POST /api/v1/transcribe. Detected when it is absent, empty, `null` or ' +
        '`auto`, and when the model does not speak it; `X-Ignored-Fields` then names it. Anything but an ISO ' +
        '639 code is refused.',
      examples: ['es', 'pt-BR'],
    }),
  ),
  prompt,
  response_format: responseFormat(
    RESPONSE_FORMATS,
    'diarized_json has speakers; refused where no models that distinguish speakers are installed, or none for ' +
      'the language.',
  ),
  temperature,
  'timestamp_granularities[]': items(
    { enum: GRANULARITIES },
    'word',
    'For verbose_json: `words`, `segments` (the default), or both. With json they only matter for a ' +
      'stream: its last event is then that of verbose_json.',
  ),
  stream,
  chunking_strategy: Type.Optional(
    oneOf(['auto'], {
      description:
        'Only `auto`, which the service always does: a voice activity model finds the speech. Others are ' + 'refused.',
      examples: ['auto'],
    }),
  ),
  'include[]': items({}, '', 'Refused unless it is empty: log-probabilities of tokens are not returned.'),
  'known_speaker_names[]': items({}, 'Ada', NO_SPEAKERS),
  'known_speaker_references[]': items({}, 'data:audio/wav;base64,UklGRg==', NO_SPEAKERS),
});

export const CreateTranslationRequest = shape({
  ...{ file, model, prompt, temperature, stream },
  response_format: responseFormat(TRANSLATION_FORMATS),
});

const usage = shape({
  type: Type.Unsafe<'duration'>({ type: 'string', const: 'duration', examples: ['duration'] }),
  seconds: Type.Integer({ minimum: 1, description: 'Started minutes of the audio.', examples: [9] }),
});

const transcriptText = Type.String({ examples: ['Hoy es domingo, dieciocho de mayo.'] });

export const PlainTranscription = shape({ text: transcriptText, usage, warnings: warningsField });

const times = {
  start: seconds('Seconds from the start of the file.'),
  end: seconds('Never past `duration`.'),
};

export const OpenAiWord = shape({
  word: Type.String({ description: 'Without the punctuation around it.', examples: ['domingo'] }),
  ...times,
});

export const OpenAiSegment = shape({
  id: Type.Integer({ minimum: 0, examples: [0] }),
  seek: Type.Integer({
    minimum: 0,
    description: 'Start of the window in which it was recognised, in hundredths of a second.',
    examples: [0],
  }),
  ...times,
  text: Type.String({
    description: 'With the space before it.',
    examples: [' Hoy es domingo, dieciocho de mayo.'],
  }),
  tokens: Type.Array(Type.Integer({ examples: [50364] }), {
    description: 'Of its text and time stamps. None where a translation model wrote the text.',
    examples: [[50364, 28664, 785, 23435, 50464]],
  }),
  temperature: Type.Number({ description: 'Of the decoding pass that gave its text.', examples: [0] }),
  avg_logprob: Type.Number({
    description: 'Mean log-probability of its tokens; of a translated one, of the spoken text.',
    examples: [-0.21],
  }),
  compression_ratio: Type.Number({
    minimum: 0,
    description: 'Bytes of the text divided by its bytes after zlib.',
    examples: [0.81],
  }),
  no_speech_prob: Type.Number({ minimum: 0, maximum: 1, examples: [0.02] }),
});

export const VerboseTranscription = shape({
  task: oneOf(['transcribe', 'translate'], { examples: ['transcribe'] }),
  language: Type.String({ description: 'Its English name, in lower case.', examples: ['spanish'] }),
  duration: seconds('Of the audio.'),
  text: transcriptText,
  words: Type.Optional(Type.Array(OpenAiWord)),
  segments: Type.Optional(Type.Array(OpenAiSegment, { description: "The model's own." })),
  usage,
  warnings: warningsField,
});

export const DiarizedSegment = shape({
  type: Type.Unsafe<'transcript.text.segment'>({
    type: 'string',
    const: 'transcript.text.segment',
    examples: ['transcript.text.segment'],
  }),
  id: Type.String({ pattern: '^seg_\\d+$', examples: ['seg_001'] }),
  ...times,
  text: Type.String({
    description: 'Empty for a turn of a speaker in which no word was recognised.',
    examples: ['Hoy es domingo, dieciocho de mayo.'],
  }),
  speaker: Type.String({
    pattern: '^[A-Z]+$',
    description: 'A, B, … in the order in which they first speak.',
    examples: ['A'],
  }),
});

export const DiarizedTranscription = shape({
  task: Type.Unsafe<'transcribe'>({ type: 'string', const: 'transcribe', examples: ['transcribe'] }),
  duration: seconds('Of the audio.'),
  text: Type.String({
    description: 'A line for each turn, starting with its speaker.',
    examples: ['A: Hoy es domingo, dieciocho de mayo.'],
  }),
  segments: Type.Array(DiarizedSegment),
  usage,
  warnings: warningsField,
});

/** All are JSON; `response_format` says which. */
export const OpenAiTranscription = Type.Union([PlainTranscription, VerboseTranscription, DiarizedTranscription]);
