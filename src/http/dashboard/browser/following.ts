/**
 * Words that light up while they are played; clicked, or chosen with the arrow keys and Enter, they are played from.
 */
export interface Mark {
  start: number;
  end: number;
  element: HTMLElement;
}

const LIT = 'now';
let ended = new AbortController();

export function jump(audio: HTMLAudioElement, seconds: number): void {
  audio.currentTime = seconds;
  // A pause that comes first is no error, nor a browser that cannot play the file.
  audio.play().catch(() => undefined);
}

/**
 * `marks`: in the order of time, in `region`, which scrolls with them. Replaces the marks that were followed before.
 */
export function follow(audio: HTMLAudioElement, region: HTMLElement, marks: readonly Mark[]): void {
  ended.abort();
  ended = new AbortController();
  const { signal } = ended;
  let lit: HTMLElement | undefined;
  const light = (): void => {
    const now = audio.currentTime;
    const mark = marks[lastBegun(marks, now)];
    const next = mark !== undefined && now < mark.end ? mark.element : undefined;
    if (next === lit) return;
    lit?.classList.remove(LIT);
    next?.classList.add(LIT);
    lit = next;
    if (next !== undefined) keepInSight(next, region);
  };
  const tick = (): void => {
    light();
    if (!audio.paused && !signal.aborted) requestAnimationFrame(tick);
  };
  audio.addEventListener('play', tick, { signal });
  audio.addEventListener('seeked', light, { signal });
  listen(audio, region, marks, signal);
  light();
}

/** The index of the last mark that has begun by then; -1: none has. */
function lastBegun(marks: readonly Mark[], seconds: number): number {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.start ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Scrolls the region, never the page. */
function keepInSight(element: HTMLElement, region: HTMLElement): void {
  const [word, sight] = [element.getBoundingClientRect(), region.getBoundingClientRect()];
  if (word.top >= sight.top && word.bottom <= sight.bottom) return;
  region.scrollTop += word.top - sight.top - sight.height / 3;
}

/** One word of all is reached by Tab: the one that had the focus last. */
function listen(audio: HTMLAudioElement, region: HTMLElement, marks: readonly Mark[], signal: AbortSignal): void {
  const places = new Map(marks.map(({ element }, index) => [element, index]));
  const placeOf = ({ target }: Event): number => places.get(target as HTMLElement) ?? -1;
  let reached = marks[0]?.element;
  if (reached !== undefined) reached.tabIndex = 0;
  const reach = (element: HTMLElement | undefined): void => {
    if (element === undefined) return;
    if (reached !== undefined) reached.tabIndex = -1;
    reached = element;
    element.tabIndex = 0;
    element.focus();
  };
  const play = (event: Event): void => {
    const mark = marks[placeOf(event)];
    if (mark !== undefined) jump(audio, mark.start);
  };
  region.addEventListener('click', play, { signal });
  region.addEventListener(
    'keydown',
    (event) => {
      const place = placeOf(event);
      if (place < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
      const to = destination(event, place, marks);
      if (to !== null) reach(marks[to]?.element);
      else if (event.key === 'Enter' || event.key === ' ') play(event);
      else return;
      event.preventDefault();
    },
    { signal },
  );
}

/** The word that the key leads to; null: none. Left and right follow the direction of the script. */
function destination({ key }: KeyboardEvent, place: number, marks: readonly Mark[]): number | null {
  const element = marks[place]?.element;
  const isRightToLeft = element !== undefined && getComputedStyle(element).direction === 'rtl';
  if (key === (isRightToLeft ? 'ArrowLeft' : 'ArrowRight')) return Math.min(place + 1, marks.length - 1);
  if (key === (isRightToLeft ? 'ArrowRight' : 'ArrowLeft')) return Math.max(place - 1, 0);
  if (key === 'Home') return 0;
  if (key === 'End') return marks.length - 1;
  return null;
}
