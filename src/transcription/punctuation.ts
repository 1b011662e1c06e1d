/**
 * punctuate=false: lower-case words without punctuation. Apostrophes and hyphens inside words stay. So do marks that
 * are part of a number ("3,5", "1.000,5", "-5"). Signs that are spoken as words ("50 %", "AT&T", "C++") are no
 * punctuation.
 */

// Letters with their vowel signs and accents, and digits.
const LETTER = String.raw`[\p{L}\p{M}]`;
const WORD = String.raw`[\p{L}\p{M}\p{N}]`;

const APOSTROPHES = `'’‘＇\u05f3`; // the last is the Hebrew geresh
const HYPHENS = `\\-‐‑\u05be`; // the last is the Hebrew maqaf
const SPOKEN_SIGNS = String.raw`\p{Sc}%‰&@#§°+=×÷№`;

/** Marks that stay: tried at the mark's own place, with a look to both sides. */
const KEPT = new RegExp(
  [
    `(?<=${WORD})[${APOSTROPHES}${HYPHENS}](?=${WORD})`,
    // Marks that spell a word: the Catalan l·l, the Tibetan tsheg, the Hebrew acronym.
    `(?<=[lL])·(?=[lL])|(?<=${WORD})\u0f0b(?=${WORD})|(?<=\\p{Script=Hebrew})["״](?=\\p{Script=Hebrew})`,
    // Decimal marks and grouping marks between digits; a number may also begin with its mark, or with a sign.
    String.raw`(?<=\p{Nd})[.,．٫٬](?=\p{Nd})`,
    String.raw`(?<=(?:^|[\s\p{Ps}])[-−]?\p{Sc}?)[.,٫](?=\p{Nd})`,
    String.raw`(?<=^|[\s\p{Ps}])[-−](?=[.,]?\p{Nd}|\p{Sc}\p{Nd})`,
    `[${SPOKEN_SIGNS}]`,
  ].join('|'),
  'uy',
);

/**
 * Marks that vanish without parting a word: dots of initialisms ("U.S.", "z.B."), the Armenian marks that sit on a
 * vowel, soft hyphens and direction marks. The (?<!...) keeps "end. A" from passing for one.
 */
const INSIDE_WORD = new RegExp(
  [
    String.raw`(?<=(?<!${WORD})\p{L}\p{M}*|\.\p{L}\p{M}*)\.(?=\p{L}\p{M}*\.|\p{L}\p{M}*(?!${WORD}))`,
    `(?<=${LETTER})[\u055b\u055c\u055e](?=${LETTER})`,
    `[\u00ad\u2060\ufeff\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]`,
  ].join('|'),
  'gu',
);

const MARKS = /[\p{P}\p{S}]/gu;

/** `language`: the ISO 639-1 code of the text; it decides how letters are lowered (Turkish I -> ı). */
export function withoutPunctuation(text: string, language: string): string {
  return piecesWithoutPunctuation([text], language)[0] ?? '';
}

/** The same for every piece of a text, each with regard to its neighbours: "3." and "5" make a number. */
export function piecesWithoutPunctuation(pieces: readonly string[], language: string): string[] {
  const composed = pieces.map((piece) => piece.normalize('NFC'));
  const joined = replaceMarks(composed, INSIDE_WORD, () => '');
  const bare = replaceMarks(joined, MARKS, (mark, at, whole) => (isKept(whole, at) ? mark : ' '));
  return bare.map((piece) =>
    piece
      .toLocaleLowerCase(language)
      .split(/\s+/u)
      .filter((word) => word !== '')
      .join(' '),
  );
}

/** Replaces in each piece the marks that the pattern, of single characters, finds in the joined pieces. */
function replaceMarks(
  pieces: readonly string[],
  pattern: RegExp,
  replacement: (mark: string, at: number, whole: string) => string,
): string[] {
  const whole = pieces.join('');
  const marks = [...whole.matchAll(pattern)];
  let [start, next] = [0, 0];
  return pieces.map((piece) => {
    let [replaced, copied] = ['', 0];
    for (; next < marks.length; next++) {
      const { 0: mark = '', index = 0 } = marks[next] ?? {};
      if (index >= start + piece.length) break;
      replaced += piece.slice(copied, index - start) + replacement(mark, index, whole);
      copied = index - start + mark.length;
    }
    start += piece.length;
    return replaced + piece.slice(copied);
  });
}

function isKept(text: string, offset: number): boolean {
  KEPT.lastIndex = offset;
  return KEPT.test(text);
}
