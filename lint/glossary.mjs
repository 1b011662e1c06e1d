/**
 * No identifier, file name or name of an SQL object contains a word of an earlier private vocabulary: the message says
 * what the field calls it. `patience` and `trial` are no such words: beam search and parameter search have them.
 */
import { basename } from 'node:path';

const GLOSSARY = {
  'report, notify or emit': ['tell', 'tells', 'told', 'teller', 'telling', 'news'],
  'recognise, detect or receive': ['hear', 'hears', 'heard'],
  'text, output, spoken': ['said', 'spokenof'],
  'acquire, release, lease': ['lend', 'lent', 'giveback'],
  'dependencies, options or state': ['means', 'circumstances', 'surroundings', 'situation', 'standing'],
  'a page handler and its request': ['visit', 'visits'],
  'retry, recreate': ['anew'],
  'model store': ['shelf', 'shelved'],
  'balance, request': ['owed', 'wish', 'wished'],
  'timeout, retry': ['patiently', 'impatient', 'impatience'],
  suspend: ['shutout', 'shutsout'],
  'accept, claim': ['takein', 'takesin'],
  'fault, problem': ['trouble', 'troubles'],
  options: ['course', 'courses'],
  delete: ['forget', 'forgets', 'forgotten'],
  'release, end': ['bury', 'buries', 'buried', 'reap', 'reaps', 'reaped'],
  housekeeping: ['keephouse', 'keepshouse', 'kepthouse'],
  'grace period, isolation run': ['istried', 'hastrial', 'ontrial'],
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

/** Stored in databases: with another name, servers of the version before would not find them there. */
const STORED = new Set(['bury', 'reap', 'end_as_wished', 'cancel_or_forget_job']);

const SQL_NAME =
  /\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+)?(?:TEMP(?:ORARY)?\s+)?(?:FUNCTION|TABLE|TRIGGER|VIEW|INDEX)\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)/gi;

/** Functions, tables, triggers, views and indexes that a text in SQL makes. */
export function sqlNames(text) {
  return [...text.matchAll(SQL_NAME)].map(([, name]) => name).filter((name) => !STORED.has(name));
}

export default {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { word: '"{{name}}" has the word "{{word}}"; the field says: {{field}}.' },
  },
  create(context) {
    const check = (node, name) => {
      const found = privateWord(name);
      if (found !== undefined) context.report({ node, messageId: 'word', data: { name, ...found } });
    };
    const checkName = (node) => check(node, String(node.name));
    const checkText = (node, text) => {
      for (const name of sqlNames(text)) check(node, name);
    };
    return {
      Program: (node) => check(node, basename(context.filename)),
      Identifier: checkName,
      PrivateIdentifier: checkName,
      Literal: (node) => checkText(node, String(node.value)),
      TemplateElement: (node) => checkText(node, node.value.raw),
    };
  },
};
