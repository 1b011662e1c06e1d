/** The page of a kept transcript: its words are played, its lines corrected. */
import { byId, clockText } from './page-parts.js';
import { Corrections } from './transcript-corrections.js';
import { TranscriptLines, type LineWords } from './transcript-lines.js';
import { TranscriptPlayer } from './transcript-player.js';

const region = document.getElementById('transcript');
if (region !== null) void start(region);

async function start(region: HTMLElement): Promise<void> {
  const texts = JSON.parse(region.dataset['texts'] ?? '{}') as Record<string, string>;
  const answer = await fetch(`${region.dataset['path'] ?? ''}/words`);
  const lines = new TranscriptLines(region, answer.ok ? ((await answer.json()) as LineWords) : []);
  const audio = document.getElementById('audio') as HTMLAudioElement | null;
  const player = audio === null ? null : new TranscriptPlayer(audio, lines);
  const corrections = new Corrections({
    ...{ lines, texts, fetch: post },
    status: byId('transcript-status'),
    failure: byId('transcript-failure'),
  });
  const help = byId('transcript-help');
  const explain = (): void => {
    help.textContent = corrections.isOn ? (texts['correcting'] ?? '') : player === null ? '' : (texts['words'] ?? '');
  };
  const correct = byId('correct');
  correct.hidden = region.querySelector('.line-text') === null;
  correct.addEventListener('click', () => {
    corrections.isOn = !corrections.isOn;
    correct.setAttribute('aria-pressed', String(corrections.isOn));
    explain();
  });
  explain();
  if (player !== null && audio !== null) listen(region, { lines, player, corrections, audio });
}

interface Listening {
  lines: TranscriptLines;
  player: TranscriptPlayer;
  corrections: Corrections;
  audio: HTMLAudioElement;
}

function listen(region: HTMLElement, { lines, player, corrections, audio }: Listening): void {
  region.tabIndex = 0;
  region.addEventListener('click', (event) => {
    const start = event.target instanceof Element && !corrections.isOn ? lines.startOf(event.target) : null;
    if (start !== null) player.playFrom(start);
  });
  region.addEventListener('keydown', (event) => {
    const isTyped = event.target instanceof HTMLElement && event.target.isContentEditable;
    if (isTyped || event.altKey || event.ctrlKey || event.metaKey) return;
    if (player.key(event.key)) event.preventDefault();
  });
  const at = document.getElementById('at') as HTMLInputElement | null;
  document.getElementById('text')?.addEventListener('focus', () => {
    if (at?.value === at?.defaultValue && at !== null) at.value = clockText(audio.currentTime);
  });
}

async function post(url: string, body: object): Promise<{ status: number; body: unknown }> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json().catch(() => null) };
}
