/** What the page is about to send, as a program would send it: in curl, Python and JavaScript. */
export interface CodedCall {
  /** Scheme, host and port of the server. */
  origin: string;
  fileName: string;
  /** Fields of POST /api/v1/transcribe, those that are filled in. */
  fields: Readonly<Record<string, string>>;
}

export interface CallCode {
  curl: string;
  python: string;
  javascript: string;
  client: string;
}

/** OpenAI's name that means the default model. */
const DEFAULT_MODEL = 'whisper-1';

export function callCode(call: CodedCall, notes: { translation: string; fields: string }): CallCode {
  const left = leftOut(call, notes);
  return {
    curl: curl(call),
    python: python(call, left),
    javascript: javascript(call, left),
    client: client(call),
  };
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A field's value is taken as it is, whatever it begins with; a file's name is quoted for curl. */
function curl({ origin, fileName, fields }: CodedCall): string {
  const isPlain = /^[\w.-]+$/.test(fileName);
  const file = isPlain ? fileName : `"${fileName.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const lines = [
    `curl ${origin}/api/v1/transcribe`,
    `-H "Authorization: Bearer $VERBATIM_API_KEY"`,
    `-F ${quoted(`audio=@${file}`)}`,
    ...Object.entries(fields).map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`),
  ];
  return lines.join(' \\\n  ');
}

/** Into English alone, and from another language. */
function isIntoEnglish({ fields }: CodedCall): boolean {
  return fields['translate_to'] === 'en' && fields['language'] !== 'en';
}

/** What OpenAI's endpoints have no field for, in words. */
function leftOut(call: CodedCall, notes: { translation: string; fields: string }): string[] {
  const { translate_to: target, punctuate, num_speakers: speakers } = call.fields;
  const names = [
    ...(punctuate === undefined ? [] : ['punctuate']),
    ...(speakers === undefined ? [] : ['num_speakers']),
    ...(isIntoEnglish(call) ? ['language', 'diarize'].filter((name) => call.fields[name] !== undefined) : []),
  ];
  return [
    ...(target === undefined || isIntoEnglish(call) ? [] : [notes.translation]),
    ...(names.length === 0 ? [] : [notes.fields.replace('{fields}', names.join(', '))]),
  ];
}

interface OpenAiCall {
  method: 'translations' | 'transcriptions';
  fields: [name: string, value: string][];
}

function openAiCall(call: CodedCall): OpenAiCall {
  const { model = DEFAULT_MODEL, language, prompt, diarize } = call.fields;
  const given = (name: string, value: string | undefined): [string, string][] =>
    value === undefined ? [] : [[name, value]];
  if (isIntoEnglish(call)) {
    const fields = [...given('model', model), ...given('prompt', prompt), ...given('response_format', 'verbose_json')];
    return { method: 'translations', fields };
  }
  const format = diarize === undefined ? 'verbose_json' : 'diarized_json';
  const fields = [...given('model', model), ...given('language', language), ...given('prompt', prompt)];
  return { method: 'transcriptions', fields: [...fields, ...given('response_format', format)] };
}

function python(call: CodedCall, left: readonly string[]): string {
  const { method, fields } = openAiCall(call);
  return [
    ...left.map((line) => `# ${line}`),
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${text(`${call.origin}/v1`)}, api_key=os.environ["VERBATIM_API_KEY"])`,
    `with open(${text(call.fileName)}, "rb") as audio:`,
    `    transcript = client.audio.${method}.create(`,
    '        file=audio,',
    ...fields.map(([name, value]) => `        ${name}=${text(value)},`),
    '    )',
    'print(transcript.text)',
  ].join('\n');
}

function javascript(call: CodedCall, left: readonly string[]): string {
  const { method, fields } = openAiCall(call);
  return [
    ...left.map((line) => `// ${line}`),
    `import { createReadStream } from 'node:fs';`,
    `import OpenAI from 'openai';`,
    '',
    'const openai = new OpenAI({',
    `  baseURL: ${text(`${call.origin}/v1`)},`,
    '  apiKey: process.env.VERBATIM_API_KEY,',
    '});',
    `const transcript = await openai.audio.${method}.create({`,
    `  file: createReadStream(${text(call.fileName)}),`,
    ...fields.map(([name, value]) => `  ${name}: ${text(value)},`),
    '});',
    'console.log(transcript.text);',
  ].join('\n');
}

const CLIENT_NAMES: Readonly<Record<string, string>> = { translate_to: 'translateTo', num_speakers: 'numSpeakers' };
/** Of which the value is no text. */
const PLAIN = new Set(['punctuate', 'diarize', 'num_speakers']);

function client({ origin, fileName, fields }: CodedCall): string {
  const more = Object.entries(fields).map(
    ([name, value]) => `  ${CLIENT_NAMES[name] ?? name}: ${PLAIN.has(name) ? value : text(value)},`,
  );
  return [
    `import { VerbatimClient } from '@verbatim/client';`,
    '',
    'const client = new VerbatimClient({',
    `  baseUrl: ${text(origin)},`,
    '  apiKey: process.env.VERBATIM_API_KEY,',
    '});',
    'const transcript = await client.transcribe({',
    `  audio: ${text(fileName)},`,
    ...more,
    '});',
    'console.log(transcript.text);',
  ].join('\n');
}

/** As Python and JavaScript both write it. */
function text(value: string): string {
  return JSON.stringify(value);
}
