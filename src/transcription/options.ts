/** What the client asked of a transcription; language codes are ISO 639-1 already. */
export interface TranscriptionOptions {
  /** null: detect. */
  language: string | null;
  translateTo: string | null;
  punctuate: boolean;
  diarize: boolean;
  timestamps: (typeof TIMESTAMPS)[number];
  format: AnswerFormat;
  /** Names and words to expect; null: none. */
  prompt: string | null;
  /** With what the model's own segments were decoded to. */
  describe: boolean;
  /** Of decoding, from 0 to 1; 0: the likeliest text. */
  temperature: number;
}

/** Which times an answer in JSON has; 'word': segments, too. */
export const TIMESTAMPS = ['none', 'segment', 'word'] as const;

/** Subtitles carry the times of segments, whatever `timestamps` says, and text carries none. */
export const ANSWER_FORMATS = ['json', 'text', 'srt', 'vtt'] as const;
export type AnswerFormat = (typeof ANSWER_FORMATS)[number];

/** Most characters (Unicode code points) of a prompt. */
export const MOST_PROMPT_CHARACTERS = 1000;

type TimeOptions = Pick<TranscriptionOptions, 'timestamps' | 'format'>;

/** Segments are cut from words: whoever asks for them needs the words aligned. */
export function wantsSegments({ timestamps, format }: TimeOptions): boolean {
  return format === 'json' ? timestamps !== 'none' : format !== 'text';
}

export function wantsWords({ timestamps, format }: TimeOptions): boolean {
  return format === 'json' && timestamps === 'word';
}
