/** The recording of a kept transcript: played from a word, followed in the text, and moved through with keys. */
import { jump } from './following.js';
import type { TranscriptLines } from './transcript-lines.js';

const NOW = 'now';
const JUMP_SECONDS = 5;

export class TranscriptPlayer {
  #lit: HTMLElement | null = null;

  constructor(
    private readonly audio: HTMLAudioElement,
    private readonly lines: TranscriptLines,
  ) {
    const tick = (): void => {
      this.#light();
      if (!audio.paused) requestAnimationFrame(tick);
    };
    audio.addEventListener('play', tick);
    audio.addEventListener('seeked', () => this.#light());
    this.#buttons();
    addEventListener('hashchange', () => this.openAddress());
    this.openAddress();
  }

  /** Plays from a time in the address, as links to a time have it; else shows the line of that time. */
  openAddress(): void {
    const seconds = Number(/^#t=(\d+(?:\.\d+)?)$/.exec(location.hash)?.[1] ?? NaN);
    if (Number.isNaN(seconds)) return;
    this.audio.currentTime = seconds;
    this.#lineAt(seconds)?.scrollIntoView({ block: 'center' });
  }

  playFrom(seconds: number): void {
    jump(this.audio, seconds);
  }

  /** Whether the key was one of the player's. */
  key(key: string): boolean {
    if (key === ' ') this.#toggle();
    else if (key === 'j' || key === 'J') this.#move(-JUMP_SECONDS);
    else if (key === 'l' || key === 'L') this.#move(JUMP_SECONDS);
    else return false;
    return true;
  }

  #toggle(): void {
    if (this.audio.paused) this.audio.play().catch(() => undefined);
    else this.audio.pause();
  }

  #move(seconds: number): void {
    this.audio.currentTime = Math.max(0, this.audio.currentTime + seconds);
  }

  #lineAt(seconds: number): HTMLElement | undefined {
    const lines = [...this.lines.region.querySelectorAll<HTMLElement>('.text-line')];
    return lines.filter((line) => Number(line.dataset['start']) <= seconds).at(-1) ?? lines[0];
  }

  #light(): void {
    const place = this.lines.at(this.audio.currentTime * 1000);
    const next = place === null ? null : this.lines.element(place);
    if (next === this.#lit) return;
    this.#lit?.classList.remove(NOW);
    next?.classList.add(NOW);
    this.#lit = next;
    if (next !== null) keepInSight(next);
    else if (place !== null) this.lines.textElement(place.line)?.scrollIntoView({ block: 'center' });
  }

  #buttons(): void {
    const byId = (id: string): HTMLElement | null => document.getElementById(id);
    const buttons = byId('player-buttons');
    if (buttons !== null) buttons.hidden = false;
    byId('back-5')?.addEventListener('click', () => this.#move(-JUMP_SECONDS));
    byId('forward-5')?.addEventListener('click', () => this.#move(JUMP_SECONDS));
    byId('speed')?.addEventListener('change', ({ target }) => {
      this.audio.playbackRate = Number((target as HTMLSelectElement).value);
    });
  }
}

/** Under the player, which stays in sight, and above the end of the window. */
function keepInSight(word: HTMLElement): void {
  const { top, bottom } = word.getBoundingClientRect();
  const player = document.getElementById('player')?.getBoundingClientRect().bottom ?? 0;
  if (top < player || bottom > innerHeight) word.scrollIntoView({ block: 'center' });
}
