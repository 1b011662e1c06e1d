/** The published speech model that every machine which Verbatim supports runs, in any language of Whisper. */
export const FIRST_MODEL = 'base-q8_0';
