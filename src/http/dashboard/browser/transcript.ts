/** A transcript beside its audio: lines with their speakers, words that follow it, its translation, files to keep. */
import { offerFiles, type NamedFile } from './downloads.js';
import { follow, jump, type Mark } from './following.js';

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
}

interface Place {
  audio: HTMLAudioElement;
  texts: Record<string, string>;
  byId: (id: string) => HTMLElement;
}

const COLOURS = 6;
/** Of the languages that are transcribed, those that are written from right to left. */
const RIGHT_TO_LEFT = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

export function directionOf(language: string): 'rtl' | 'auto' {
  return RIGHT_TO_LEFT.has(language) ? 'rtl' : 'auto';
}

export function showTranscript(answer: RunAnswer, place: Place): void {
  const { transcription } = answer;
  const { byId, audio } = place;
  const { translation } = transcription;
  byId('result').hidden = false;
  const spoken = show(transcription, byId('transcript'), place);
  byId('translated').hidden = translation === undefined;
  if (translation === undefined) byId('translation').replaceChildren();
  else show(spokenParts(translation), byId('translation'), place);
  byId('word-help').hidden = spoken.length === 0;
  follow(audio, byId('transcript'), spoken);
  offerFiles(byId('files'), filesOf(answer));
}

function filesOf({ transcription, files, translated_files = {} }: RunAnswer): NamedFile[] {
  const named = (of: Record<string, string>, name: string): NamedFile[] =>
    Object.entries(of).map(([kind, content]) => ({ name: `${name}.${kind}`, content }));
  return [
    ...named({ ...files, json: JSON.stringify(transcription, null, 2) }, 'transcript'),
    ...named(translated_files, `translation.${transcription.translation?.language ?? ''}`),
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
  const lines = segments.map((segment, index) => {
    const line = document.createElement('p');
    line.dir = directionOf(language);
    const spoken = document.createElement('span');
    line.append(playButton(segment, place), spoken);
    if (segment.speaker !== undefined) spoken.append(speakerName(segment.speaker, place), ' ');
    const own = ofSegment[index] ?? [];
    if (own.length === 0) spoken.append(segment.text === '' ? remark('noWords', place) : segment.text);
    for (const word of own) {
      const element = document.createElement('span');
      element.className = 'word';
      element.tabIndex = -1;
      element.textContent = word.word;
      marks.push({ start: word.start, end: word.end, element });
      spoken.append(element, ' ');
    }
    return line;
  });
  region.replaceChildren(...(lines.length > 0 ? lines : [remark('silence', place)]));
  return marks.sort((one, other) => one.start - other.start);
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
  const time = `${Math.floor(start / 60)}:${String(Math.floor(start % 60)).padStart(2, '0')}`;
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
