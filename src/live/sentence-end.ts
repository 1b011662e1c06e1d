const SENTENCE_END = /[.!?。！？…]["'”’»)]*$/u;

/** Whether the text ends as a whole sentence does. */
export function endsSentence(text: string): boolean {
  return SENTENCE_END.test(text.trimEnd());
}
