/** A transcript beside its audio: lines with their speakers, words that light up as they are played, files to keep. */
interface Timed {
  start: number;
  end: number;
  speaker?: string;
}
type Segment = Timed & { text: string };
type Word = Timed & { word: string };

export interface TriedAnswer {
  transcription: {
    language: string;
    text: string;
    segments?: Segment[];
    words?: Word[];
    translation?: { language: string; text: string; segments?: Segment[] };
    credits_used: number;
    credits_remaining: number;
  };
  files: Record<'txt' | 'srt' | 'vtt', string>;
}

interface Place {
  audio: HTMLAudioElement;
  texts: Record<string, string>;
  byId: (id: string) => HTMLElement;
}

const COLOURS = 6;
let downloads: string[] = [];

export function showTranscript(answer: TriedAnswer, place: Place): void {
  const { transcription } = answer;
  const { byId, audio } = place;
  const { segments = [], words = [], translation } = transcription;
  byId('result').hidden = false;
  const spoken = lines(segments, words, transcription.language, place);
  byId('transcript').replaceChildren(...spoken.lines);
  byId('translated').hidden = translation === undefined;
  const translated = lines(translation?.segments ?? [], [], translation?.language ?? '', place);
  byId('translation').replaceChildren(...translated.lines);
  follow(audio, spoken.marks);
  offer(answer, byId('files'));
}

interface Mark extends Timed {
  element: HTMLElement;
}

function lines(
  segments: readonly Segment[],
  words: readonly Word[],
  language: string,
  place: Place,
): { lines: HTMLElement[]; marks: Mark[] } {
  const marks: Mark[] = [];
  const ofSegment = wordsBySegment(segments, words);
  const made = segments.map((segment, index) => {
    const line = document.createElement('p');
    line.append(...heading(segment, place), ' ');
    const text = document.createElement('span');
    text.lang = language;
    text.dir = 'auto';
    const own = ofSegment[index] ?? [];
    if (own.length === 0) text.textContent = segment.text;
    for (const word of own) {
      const element = document.createElement('span');
      element.className = 'word';
      element.textContent = word.word;
      element.addEventListener('click', () => jump(place.audio, word.start));
      marks.push({ ...word, element });
      text.append(element, ' ');
    }
    line.append(text);
    return line;
  });
  return { lines: made, marks };
}

/** Each word in the first segment that it lies in and whose speaker says it. */
function wordsBySegment(segments: readonly Segment[], words: readonly Word[]): Word[][] {
  const found = segments.map((): Word[] => []);
  for (const word of words) {
    const index = segments.findIndex(
      ({ start, end, speaker }) => start <= word.start && word.end <= end && speaker === word.speaker,
    );
    found[index]?.push(word);
  }
  return found;
}

function heading({ start, speaker }: Segment, { audio, texts }: Place): HTMLElement[] {
  const time = `${Math.floor(start / 60)}:${String(Math.floor(start % 60)).padStart(2, '0')}`;
  const play = document.createElement('button');
  play.type = 'button';
  play.className = 'quiet time';
  play.textContent = time;
  play.setAttribute('aria-label', (texts['playFrom'] ?? '').replace('{time}', time));
  play.addEventListener('click', () => jump(audio, start));
  if (speaker === undefined) return [play];
  const name = document.createElement('strong');
  const number = Number(/\d+/.exec(speaker)?.[0] ?? 1);
  name.className = `speaker series-${((number - 1) % COLOURS) + 1}`;
  name.textContent = (texts['speaker'] ?? '').replace('{name}', speaker);
  return [play, name];
}

function jump(audio: HTMLAudioElement, seconds: number): void {
  audio.currentTime = seconds;
  void audio.play();
}

let stopFollowing = new AbortController();

function follow(audio: HTMLAudioElement, marks: readonly Mark[]): void {
  stopFollowing.abort();
  stopFollowing = new AbortController();
  const { signal } = stopFollowing;
  const light = (): void => {
    const now = audio.currentTime;
    for (const { start, end, element } of marks) element.classList.toggle('now', start <= now && now < end);
  };
  const tick = (): void => {
    light();
    if (!audio.paused && !signal.aborted) requestAnimationFrame(tick);
  };
  audio.addEventListener('play', tick, { signal });
  audio.addEventListener('seeked', light, { signal });
  light();
}

function offer({ transcription, files }: TriedAnswer, list: HTMLElement): void {
  for (const url of downloads) URL.revokeObjectURL(url);
  const all = { ...files, json: JSON.stringify(transcription, null, 2) };
  const links = Object.entries(all).map(([kind, content]) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
    link.download = `transcript.${kind}`;
    link.textContent = kind;
    return link;
  });
  downloads = links.map(({ href }) => href);
  list.replaceChildren(
    ...links.map((link) => {
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
}
