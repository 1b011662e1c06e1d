/**
 * The fields of OpenAI's audio endpoints, in the terms of the service. Unknown ones are ignored, as OpenAI's clients
 * expect.
 */
import { namesLanguage, normalizeLanguage } from '../../engine/languages.js';
import { ANY_SPEAKERS, MOST_PROMPT_CHARACTERS, type TranscriptionOptions } from '../../transcription/options.js';
import { invalid } from '../schema/shape.js';
import type { FormRules, ReceivedFields } from '../upload/upload.js';
import { namedModel, type ModelService } from './model-names.js';

export const RESPONSE_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
/** Of translations. */
export const TRANSLATION_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

export const GRANULARITIES = ['word', 'segment'] as const;
type Granularity = (typeof GRANULARITIES)[number];

const MOST_FIELD_CHARACTERS = 1024;
/** Taken before a prompt is cut: more is no prompt. */
const LONGEST_PROMPT_CHARACTERS = 50_000;

const STRATEGY_MEMBERS = ['type', 'prefix_padding_ms', 'silence_duration_ms', 'threshold'].map(
  (member) => `chunking_strategy[${member}]`,
);
const LISTS = ['include', 'timestamp_granularities', 'known_speaker_names', 'known_speaker_references'];
const FIELDS = ['model', 'response_format', 'temperature', 'stream'];
const TRANSCRIPTION_FIELDS = [...FIELDS, 'language', 'chunking_strategy', ...STRATEGY_MEMBERS];

export const TRANSCRIPTION_FORM = form(TRANSCRIPTION_FIELDS, LISTS);
export const TRANSLATION_FORM = form(FIELDS, []);

function form(fields: readonly string[], lists: readonly string[]): FormRules {
  const short = [...fields, ...lists].map((name): [string, number] => [name, MOST_FIELD_CHARACTERS]);
  const textFields = new Map([...short, ['prompt', LONGEST_PROMPT_CHARACTERS]]);
  return { fileField: 'file', textFields, lists: new Set(lists), ignoresUnknown: true };
}

/** The options that the answer is made by. */
export interface OpenAiRequest {
  options: TranscriptionOptions;
  responseFormat: ResponseFormat;
  granularities: readonly Granularity[];
  /** Whether it is sent in events while it is made. */
  stream: boolean;
  /** Fields that were understood, and did nothing. */
  ignored: readonly string[];
}

/** Throws `invalid_request`. */
export function askedTranscription({ one, lists }: ReceivedFields, service: ModelService): OpenAiRequest {
  const { name: modelName, model } = namedModel(required(one, 'model'), service);
  refuseUnserved({ one, lists });
  const format = wordOf(one, 'response_format', RESPONSE_FORMATS, 'json');
  const stream = streamOf(one, format);
  const asked = (lists.get('timestamp_granularities') ?? []).filter(isGiven);
  // Subtitle Edit asks so, and reads the times from the last event.
  const responseFormat = stream && format === 'json' && asked.length > 0 ? 'verbose_json' : format;
  const granularities = granularitiesOf(asked, responseFormat);
  const { language, ignored } = languageOf(one.get('language'), model?.info.languages ?? null);
  const options = optionsOf(one, responseFormat, granularities);
  return { options: { ...options, model: modelName, language }, responseFormat, granularities, stream, ignored };
}

/** Into English. Throws as askedTranscription() does. */
export function askedTranslation({ one }: ReceivedFields, service: ModelService): OpenAiRequest {
  const { name: model } = namedModel(required(one, 'model'), service);
  const responseFormat = wordOf(one, 'response_format', TRANSLATION_FORMATS, 'json');
  const granularities = ['segment'] as const;
  const options = { ...optionsOf(one, responseFormat, granularities), model, translateTo: 'en' };
  return { options, responseFormat, granularities, stream: streamOf(one, responseFormat), ignored: [] };
}

function optionsOf(
  fields: ReadonlyMap<string, string>,
  responseFormat: ResponseFormat,
  granularities: readonly Granularity[],
): Omit<TranscriptionOptions, 'model'> {
  const isVerbose = responseFormat === 'verbose_json';
  const times = granularities.includes('word') ? 'word' : 'segment';
  return {
    ...{ language: null, translateTo: null, punctuate: true },
    diarize: responseFormat === 'diarized_json',
    ...ANY_SPEAKERS,
    timestamps: isVerbose ? times : 'none',
    format: responseFormat === 'verbose_json' || responseFormat === 'diarized_json' ? 'json' : responseFormat,
    prompt: promptOf(fields.get('prompt') ?? ''),
    describe: isVerbose && granularities.includes('segment'),
    temperature: temperatureOf(given(fields, 'temperature')),
  };
}

/** What would silently do nothing. */
function refuseUnserved({ one, lists }: ReceivedFields): void {
  const strategy = given(one, 'chunking_strategy');
  const members = STRATEGY_MEMBERS.filter((name) => one.has(name));
  if ((strategy !== '' && strategy !== 'auto') || members.length > 0) {
    const message = 'chunking_strategy must be auto: the service finds speech with its own voice activity model.';
    throw invalid('chunking_strategy', message);
  }
  if ((lists.get('include') ?? []).some(isGiven)) {
    throw invalid('include[]', 'include[] must be empty: log-probabilities of tokens are not returned.');
  }
  for (const name of ['known_speaker_names', 'known_speaker_references']) {
    if (!lists.has(name)) continue;
    throw invalid(
      `${name}[]`,
      `${name}[] must not be sent: speakers are distinguished by their voices in the file alone.`,
    );
  }
}

/** Clients write nothing in many ways. */
function isGiven(value: string): boolean {
  return !['', 'null', 'none', 'undefined'].includes(value.trim().toLowerCase());
}

function given(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name) ?? '';
  return isGiven(value) ? value.trim() : '';
}

function required(fields: ReadonlyMap<string, string>, name: string): string {
  const value = given(fields, name);
  if (value === '') throw invalid(name, `The field "${name}" is missing.`);
  return value;
}

function wordOf<T extends string>(
  fields: ReadonlyMap<string, string>,
  name: string,
  allowed: readonly T[],
  fallback: T,
): T {
  const value = given(fields, name).toLowerCase() || fallback;
  const word = allowed.find((known) => known === value);
  if (word === undefined) throw invalid(name, `${name} must be one of: ${allowed.join(', ')}.`);
  return word;
}

/** Events carry text only: numbers and cuts of subtitles depend on the text that follows. */
function streamOf(fields: ReadonlyMap<string, string>, responseFormat: ResponseFormat): boolean {
  const value = given(fields, 'stream').toLowerCase();
  if (['', 'false', '0'].includes(value)) return false;
  if (!['true', '1'].includes(value)) throw invalid('stream', 'stream must be one of: true, false.');
  if (responseFormat !== 'srt' && responseFormat !== 'vtt') return true;
  throw invalid('stream', `stream must be false with response_format ${responseFormat}.`);
}

function granularitiesOf(values: readonly string[], responseFormat: ResponseFormat): Granularity[] {
  const name = 'timestamp_granularities[]';
  const asked = values.map((value) => {
    const known = GRANULARITIES.find((granularity) => granularity === value.trim().toLowerCase());
    if (known === undefined) throw invalid(name, `${name} must be one of: ${GRANULARITIES.join(', ')}.`);
    return known;
  });
  if (asked.length === 0) return ['segment'];
  if (responseFormat === 'verbose_json') return asked;
  throw invalid(name, `${name} needs response_format verbose_json, or json with stream.`);
}

function temperatureOf(value: string): number {
  const temperature = Number(value);
  if (temperature >= 0 && temperature <= 1) return temperature;
  throw invalid('temperature', 'temperature must be a number from 0 to 1.');
}

/**
 * One that the model does not speak is detected: clients that guess it, from what their users speak in a browser say,
 * would upload the file once more without it. `spoken`: null where the model is not installed; its repeats are known by
 * the language that they name.
 */
function languageOf(
  value = '',
  spoken: readonly string[] | null,
): { language: string | null; ignored: readonly string[] } {
  if (!isGiven(value) || value.trim().toLowerCase() === 'auto') return { language: null, ignored: [] };
  if (!namesLanguage(value))
    throw invalid('language', `language must be an ISO 639 code, such as en or pt-BR; "${value.trim()}" is not one.`);
  const language = normalizeLanguage(value);
  if (language !== null && (spoken === null || spoken.includes(language))) return { language, ignored: [] };
  return { language: null, ignored: ['language'] };
}

/** The end of a long one counts, from a whole word on; the model takes fewer tokens still. */
function promptOf(value: string): string | null {
  const characters = Array.from(value.trim());
  if (characters.length === 0) return null;
  if (characters.length <= MOST_PROMPT_CHARACTERS) return characters.join('');
  const end = characters.slice(-MOST_PROMPT_CHARACTERS - 1).join('');
  const cut = end.search(/\s/u);
  return cut === -1 ? Array.from(end).slice(1).join('') : end.slice(cut).trim();
}
