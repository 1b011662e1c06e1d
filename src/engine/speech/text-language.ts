/**
 * Which language a text is in, for models that do not report which was spoken: eld's n-grams, limited to the model's
 * languages.
 */

/** Code -> share, summing to 1; empty where the text says nothing about it (numbers, names). */
export type TextLanguage = (text: string) => Readonly<Record<string, number>>;

/**
 * Null: fewer than two of the languages can be distinguished, so none is guessed. Languages that the identifier does
 * not know (Maltese, of Parakeet v3's) are never answered.
 */
export async function loadTextLanguage(languages: readonly string[]): Promise<TextLanguage | null> {
  // Some 60 MB of n-grams: read only where a model needs them.
  const { eld } = await import('eld/extrasmall');
  const identifier = eld.newInstance();
  const known = Object.values(identifier.setLanguageSubset([...languages]));
  if (known.length < 2) return null;
  return (text) => shares(identifier.detect(text).getScores());
}

function shares(scores: Readonly<Record<string, number>>): Record<string, number> {
  const total = Object.values(scores).reduce((sum, score) => sum + score, 0);
  return Object.fromEntries(Object.entries(scores).map(([code, score]) => [code, score / total]));
}
