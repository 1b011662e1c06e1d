/** No identifier contains a word of an earlier private vocabulary: the message says what the field calls it. */
const GLOSSARY = {
  'report, notify or emit': ['tell', 'tells', 'told', 'teller', 'telling', 'news'],
  'recognise, detect or receive': ['hear', 'hears', 'heard'],
  'acquire, release, lease': ['lend', 'lent', 'giveback'],
  'dependencies, options or state': ['means', 'circumstances', 'surroundings', 'situation', 'standing'],
  'a page handler and its request': ['visit', 'visits'],
  'retry, recreate': ['anew'],
  'model store': ['shelf', 'shelved'],
  'balance, request': ['owed', 'wish', 'wished'],
  ledger: ['books'],
  'crash isolation': ['suspect', 'suspects'],
  task: ['errand', 'errands'],
};

const FIELD = new Map(Object.entries(GLOSSARY).flatMap(([field, words]) => words.map((word) => [word, field])));

/** Of `isGivenBack_now`: is, given, back, now. */
export function wordsIn(identifier) {
  return identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
}

/** The first private word in an identifier, and what the field says instead; two words may form one. */
export function privateWord(identifier) {
  const all = wordsIn(identifier);
  const pairs = all.slice(1).map((word, index) => `${all[index]}${word}`);
  const word = [...all, ...pairs].find((part) => FIELD.has(part));
  return word === undefined ? undefined : { word, field: FIELD.get(word) };
}

export default {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { word: '"{{name}}" has the word "{{word}}"; the field says: {{field}}.' },
  },
  create(context) {
    const check = (node) => {
      const name = String(node.name);
      const found = privateWord(name);
      if (found !== undefined) context.report({ node, messageId: 'word', data: { name, ...found } });
    };
    return { Identifier: check, PrivateIdentifier: check };
  },
};
