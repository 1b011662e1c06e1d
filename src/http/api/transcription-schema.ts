/** What POST /transcribe answers. */
import { Type } from 'typebox';
import { warningsOf } from '../../transcription/warnings.js';
import { languageCode, oneOf, seconds, shape } from '../schema/shape.js';
import { creditsRemaining, creditsUsed, transcriptId } from '../transcripts/transcription-headers.js';

const language = Type.String(languageCode);
const [warning] = warningsOf({ text: '', unsureWindows: 1 }, { modelName: 'verbatim-small', isDemonstration: true });

const times = {
  start: seconds(
    'Seconds from the start of the file, with millisecond precision; never before the end of the previous ' +
      'entry, unless that has another speaker.',
  ),
  end: seconds('Never past `duration_sec`.'),
};

const speaker = Type.Optional(
  Type.String({
    pattern: '^S\\d+$',
    description: 'With `diarize`: S1, S2, … in the order in which they first speak.',
    examples: ['S1'],
  }),
);

const segment = shape({
  ...times,
  text: Type.String({
    description: 'Empty for a turn of a speaker in which no word was recognised.',
    examples: ['Hoy es domingo,'],
  }),
  speaker,
});

export const TimedSegments = Type.Array(segment, {
  description:
    'With `timestamps` segment or word, or with `diarize`: lines of subtitles, each a sentence or a part ' +
    'of one, of at most 7 s and ' +
    '84 characters where words allow. With `diarize` each is of one speaker, and those of several may overlap.',
});

const segments = Type.Optional(TimedSegments);

const timedWord = shape({
  word: Type.String({ description: 'Includes its punctuation.', examples: ['domingo,'] }),
  ...times,
  probability: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Probability that the model gave it.',
    examples: [0.98],
  }),
  speaker,
});

export const TimedWords = Type.Array(timedWord, {
  description: 'With `timestamps` word, or with `diarize`; joined they are `text`, spaces aside.',
});

export const TranscriptTranslation = shape(
  { language, text: Type.String({ examples: ['Today is Sunday.'] }), segments },
  'Present when translate_to was sent.',
);

export const warningsField = Type.Optional(
  Type.Array(
    shape({
      code: oneOf(['demonstration_model', 'not_kept'], {
        description:
          'demonstration_model: text was left out, since the bundled model knows synthetic voices and a phrase book ' +
          'only; the message says how to install a published one. not_kept: the transcript was to be kept, and there ' +
          'was no room for it, or it could not be written.',
        examples: ['demonstration_model'],
      }),
      message: Type.String({ examples: [warning?.message] }),
    }),
    { minItems: 1, description: 'Warnings about this answer; absent when there are none.' },
  ),
);

export const Transcription = shape({
  id: transcriptId,
  duration_sec: seconds('Of the decoded audio; its started minutes are billed.'),
  language,
  text: Type.String({ examples: ['Hoy es domingo, dieciocho de mayo.'] }),
  segments,
  words: Type.Optional(TimedWords),
  translation: Type.Optional(TranscriptTranslation),
  warnings: warningsField,
  credits_used: creditsUsed,
  credits_remaining: creditsRemaining,
});
