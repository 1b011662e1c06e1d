/** A transcript beside its audio: lines with their speakers, words that follow it, its translation, files to keep. */
import { offerFiles, type NamedFile } from './downloads.js';
import { follow, jump, type Mark } from './following.js';
import { clockText } from './page-parts.js';
import { readingParagraphs } from './paragraphs.js';

interface Timed {
  start: number;
  end: number;
  speaker?: string;
}
type Segment = Timed & { text: string };
type Word = Timed & { word: string };
interface Text {
  language: string;
  text: string;
  segments?: Segment[];
  words?: Word[];
}

export interface RunAnswer {
  transcription: Text & { translation?: Text; credits_used: number; credits_remaining: number };
  files: Record<string, string>;
  translated_files?: Record<string, string>;
  /** The page of the transcript, where it is kept. */
  kept_at?: string;
}

interface Place {
  audio: HTMLAudioElement;
  texts: Readonly<Record<string, string>>;
  byId: (id: string) => HTMLElement;
  /** Of the recording: its transcript's files are called after it. */
  fileName: string;
  /** A file is saved. */
  saved: () => void;
}

const COLOURS = 6;
/** Of the languages that are transcribed, those that are written from right to left. */
const RIGHT_TO_LEFT = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

export function directionOf(language: string): 'rtl' | 'auto' {
  return RIGHT_TO_LEFT.has(language) ? 'rtl' : 'auto';
}

export function showTranscript(answer: RunAnswer, place: Place): void {
  const { transcription } = answer;
  const { byId, audio, texts } = place;
  const translation = otherLanguage(transcription);
  byId('result').hidden = false;
  byId('language-found').textContent = (texts['language'] ?? '').replace('{language}', nameOf(transcription.language));
  const spoken = show(transcription, byId('transcript'), place);
  byId('translated').hidden = translation === null;
  if (translation === null) byId('translation').replaceChildren();
  else show(spokenParts(translation), byId('translation'), place);
  byId('word-help').hidden = spoken.length === 0;
  follow(audio, byId('transcript'), spoken);
  linkKept(byId('open-kept') as HTMLAnchorElement, answer);
  offerFiles(byId('files'), filesOf(answer, place.fileName), place.saved);
}

function linkKept(link: HTMLAnchorElement, { kept_at: address }: RunAnswer): void {
  link.hidden = address === undefined;
  if (address !== undefined) link.href = address;
}

/** null: there is none, or it is the transcript itself. */
function otherLanguage({ language, translation }: RunAnswer['transcription']): Text | null {
  return translation === undefined || translation.language === language ? null : translation;
}

/** In the page's language. */
function nameOf(code: string): string {
  return new Intl.DisplayNames(document.documentElement.lang, { type: 'language' }).of(code) ?? code;
}

function filesOf({ transcription, files, translated_files = {} }: RunAnswer, fileName: string): NamedFile[] {
  const source = fileName.replace(/\.[^.]+$/, '');
  const translation = otherLanguage(transcription);
  const named = (of: Record<string, string>, name: string): NamedFile[] =>
    Object.entries(of).map(([kind, content]) => ({ name: `${name}.${kind}`, content }));
  return [
    ...named({ ...files, json: JSON.stringify(transcription, null, 2) }, source),
    ...(translation === null ? [] : named(translated_files, `${source}.${translation.language}`)),
  ];
}

/** Speakers without recognised words are only in the transcript. */
function spokenParts(translation: Text): Text {
  return { ...translation, segments: (translation.segments ?? []).filter(({ text }) => text !== '') };
}

/** Its lines; answers its words. A transcript without text says so. */
function show({ language, segments = [], words = [] }: Text, region: HTMLElement, place: Place): Mark[] {
  const marks: Mark[] = [];
  const ofSegment = wordsBySegment(segments, words);
  region.lang = language;
  const indexes = new Map(segments.map((segment, index) => [segment, index]));
  const paragraphs = readingParagraphs(segments);
  const lines = paragraphs.map((paragraph, number) => lineOf(paragraph, paragraphs[number - 1]));
  function lineOf(paragraph: readonly Segment[], before: readonly Segment[] | undefined): HTMLElement {
    const line = document.createElement('p');
    line.dir = directionOf(language);
    const spoken = document.createElement('span');
    const [first] = paragraph;
    if (first === undefined) return line;
    line.append(playButton(first, place), spoken);
    const { speaker } = first;
    if (speaker !== undefined && speaker !== before?.[0]?.speaker) spoken.append(speakerName(speaker, place), ' ');
    for (const segment of paragraph) {
      const own = ofSegment[indexes.get(segment) ?? -1] ?? [];
      if (own.length === 0) spoken.append(segment.text === '' ? remark('noWords', place) : segment.text, ' ');
      for (const word of own) {
        const element = wordElement(word.word);
        marks.push({ start: word.start, end: word.end, element });
        spoken.append(element, ' ');
      }
    }
    return line;
  }
  region.replaceChildren(...(lines.length > 0 ? lines : [remark('silence', place)]));
  return marks.sort((one, other) => one.start - other.start);
}

function wordElement(text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = 'word';
  element.tabIndex = -1;
  element.textContent = text;
  return element;
}

/** Of the page, not of who speaks. */
function remark(name: string, { texts }: Place): HTMLElement {
  const element = document.createElement('em');
  element.textContent = texts[name] ?? '';
  return ofPage(element);
}

/** Each word in the first segment that it lies in and whose speaker says it. */
function wordsBySegment(segments: readonly Segment[], words: readonly Word[]): Word[][] {
  const found = segments.map((): Word[] => []);
  let from = 0;
  for (const word of words) {
    while ((segments[from]?.end ?? Infinity) < word.start) from += 1;
    for (let index = from; (segments[index]?.start ?? Infinity) <= word.start; index += 1) {
      const segment = segments[index];
      if (segment === undefined || word.end > segment.end || word.speaker !== segment.speaker) continue;
      found[index]?.push(word);
      break;
    }
  }
  return found;
}

function playButton({ start }: Segment, { audio, texts }: Place): HTMLElement {
  const time = clockText(start);
  const play = document.createElement('button');
  play.type = 'button';
  play.className = 'quiet time';
  play.textContent = time;
  play.setAttribute('aria-label', (texts['playFrom'] ?? '').replace('{time}', time));
  play.addEventListener('click', () => jump(audio, start));
  return ofPage(play);
}

function speakerName(speaker: string, { texts }: Place): HTMLElement {
  const name = document.createElement('strong');
  const number = Number(/\d+/.exec(speaker)?.[0] ?? 1);
  name.className = `speaker series-${((number - 1) % COLOURS) + 1}`;
  name.textContent = (texts['speaker'] ?? '').replace('{name}', speaker);
  return ofPage(name);
}

/** In the page's language and direction, whatever those of the line are. */
function ofPage(element: HTMLElement): HTMLElement {
  element.dir = 'ltr';
  element.lang = document.documentElement.lang;
  return element;
}
