/** A published speech model that every supported machine can run. It supports all languages of Whisper. */
export const FIRST_MODEL = 'base-q8_0';
