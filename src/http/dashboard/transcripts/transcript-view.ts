/** A kept transcript: listened to, read and corrected. All of it can be read without scripts. */
import { languageName } from '../../../engine/languages.js';
import type { StoredTranscript } from '../../../ledger/transcripts.js';
import { nameOf, type KeptSegment, type TranscriptDocument } from '../../../library/document.js';
import type { TimedText } from '../../../transcription/timed-text.js';
import { linkButton } from '../components/button.js';
import { moment } from '../format.js';
import { html, type Html } from '../html.js';
import { AUDIO_FROM_HERE, type View } from '../page.js';
import { PATHS, transcriptPath } from '../paths.js';
import { TEXTS } from '../texts.js';
import { undoForm } from './changes-view.js';
import { clockOf } from './clock.js';
import type { OpenedTranscript } from './opened-transcript.js';
import { exportMenu, notesCard, replaceCard, speakersCard } from './transcript-tools.js';

const { transcripts: texts } = TEXTS;

/** Lines that are laid out together, once they come near the screen. */
const LINES_PER_GROUP = 40;
/** Of speakers; more than these share them. */
const COLOURS = 6;
/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

export function transcriptView(opened: OpenedTranscript): View {
  const { stored, notice } = opened;
  const main = html`<nav class="crumbs" aria-label="${texts.title}">
      <a href="${PATHS.transcripts}">${texts.back}</a>
    </nav>
    ${notice} ${factsLine(opened)}
    <div class="transcript-tools row">${tools(opened)}</div>
    ${player(stored)}
    <p id="transcript-failure" role="alert"></p>
    ${transcriptText(opened)}
    <div class="transcript-more">${speakersCard(opened)} ${replaceCard(opened)} ${notesCard(opened)}</div>`;
  return { title: stored.title, main, modules: ['transcript-page.js'], headers: AUDIO_FROM_HERE };
}

function factsLine({ stored, document }: OpenedTranscript): Html {
  const { createdAt, expiresAt, durationSeconds, source, model } = stored;
  const { translation, language } = document;
  return html`<p class="row-facts">
    <span>${moment(createdAt)}</span>
    <span>${clockOf(durationSeconds)}</span>
    <span
      >${languageName(language)} ${translation !== null && texts.translated(languageName(translation.language))}</span
    >
    <span dir="auto">${texts.sources[source.kind]}${source.name !== null && `: ${source.name}`}</span>
    ${model !== null && html`<span>${model}</span>`}
    ${expiresAt !== null && html`<span>${texts.expires} ${moment(expiresAt)}</span>`}
  </p>`;
}

function tools({ stored, document, showsTranslation }: OpenedTranscript): Html {
  const path = transcriptPath(stored.id);
  const { translation } = document;
  return html`<button type="button" class="button primary" id="correct" aria-pressed="false" hidden>
      ${texts.correct}
    </button>
    ${
      translation !== null &&
      linkButton({
        label: showsTranslation ? texts.hideTranslation : texts.showTranslation,
        href: showsTranslation ? path : `${path}?translation=shown`,
      })
    }
    ${exportMenu(stored.id, translation !== null)}
    ${linkButton({ label: texts.share, href: transcriptPath(stored.id, 'shares'), icon: 'link' })}
    ${linkButton({ label: texts.history, href: transcriptPath(stored.id, 'changes'), kind: 'quiet' })}
    ${linkButton({
      ...{ label: texts.delete, href: transcriptPath(stored.id, 'delete') },
      ...{ kind: 'quiet', icon: 'delete', asks: true },
    })}
    ${stored.version > 1 && undoForm(stored.id, stored.version)}
    <span id="transcript-status" role="status"></span>`;
}

function player({ id, audioBytes }: StoredTranscript): Html {
  if (audioBytes === 0) return html`<p class="note-line">${texts.noAudio}</p>`;
  const speeds = [0.75, 1, 1.25, 1.5, 2];
  return html`<section class="kept-player" id="player" aria-label="${texts.listen}">
    <audio id="audio" controls preload="metadata" src="${transcriptPath(id, 'audio')}"></audio>
    <div class="row" id="player-buttons" hidden>
      <button type="button" class="button quiet" id="back-5">${texts.backFive}</button>
      <button type="button" class="button quiet" id="forward-5">${texts.forwardFive}</button>
      <label class="speed"
        ><span>${texts.speed}</span>
        <select id="speed">
          ${speeds.map(
            (speed) => html`<option value="${speed}" ${speed === 1 && html`selected`}>${texts.times(speed)}</option>`,
          )}
        </select>
      </label>
    </div>
  </section>`;
}

function transcriptText(opened: OpenedTranscript): Html {
  const { stored, document, showsTranslation } = opened;
  const { segments, translation } = document;
  const shown = showsTranslation ? translation : null;
  const groups: Html[] = [];
  for (let from = 0; from < segments.length; from += LINES_PER_GROUP)
    groups.push(group(document, from, shown !== null));
  const script = {
    correcting: texts.correcting,
    words: texts.words,
    ...{ saved: texts.saved, saving: texts.saving, conflict: texts.conflict, failed: texts.failed },
  };
  return html`<section class="card transcript ${shown !== null && 'with-translation'}">
    <div class="card-head">
      <h2 id="text-title">${texts.text}</h2>
      ${shown !== null && html`<h2 id="translation-title">${texts.translation(languageName(shown.language))}</h2>`}
    </div>
    ${shown !== null && html`<p class="note-line">${texts.translationNote}</p>`}
    <p class="note-line" id="transcript-help"></p>
    <div
      id="transcript"
      role="region"
      aria-labelledby="text-title"
      lang="${document.language}"
      data-path="${transcriptPath(stored.id)}"
      data-version="${stored.version}"
      data-texts="${JSON.stringify(script)}"
    >
      ${segments.length === 0 ? html`<p>${texts.silence}</p>` : groups}
    </div>
    ${shown !== null && shown.segments === null && wholeTranslation(shown)}
  </section>`;
}

/** Of a translation whose parts have no times. */
function wholeTranslation({ language, text }: { language: string; text: string }): Html {
  return html`<p lang="${language}" dir="${textDirection(language)}">${text}</p>`;
}

function group(document: TranscriptDocument, from: number, isTranslated: boolean): Html {
  const { segments } = document;
  const lines = segments.slice(from, from + LINES_PER_GROUP);
  return html`<div class="lines-group" data-from="${from}">
    ${lines.map((segment, index) => {
      const before = segments[from + index - 1];
      const translated = isTranslated ? translationOf(document, from + index) : null;
      return line(document, segment, { index: from + index, isTurn: before?.speaker !== segment.speaker, translated });
    })}
  </div>`;
}

interface LinePlace {
  index: number;
  /** Whether another one spoke before. */
  isTurn: boolean;
  translated: string | null;
}

function line(document: TranscriptDocument, segment: KeptSegment, { index, isTurn, translated }: LinePlace): Html {
  const { startSeconds, endSeconds, speaker, text } = segment;
  const time = clockOf(startSeconds);
  const direction = textDirection(document.language);
  return html`<div class="text-line" id="s${index}" data-start="${startSeconds}" data-end="${endSeconds}">
    <a class="time" href="#t=${startSeconds}" lang="${TEXTS.language}">${time}</a>
    ${isTurn && speaker !== undefined && speakerName(document, speaker)}
    <p class="line-text" dir="${direction}">
      ${text === '' ? html`<em lang="${TEXTS.language}">${texts.empty}</em>` : text}
    </p>
    ${translated !== null && translatedLine(document, translated)}
  </div>`;
}

function translatedLine({ translation }: TranscriptDocument, text: string): Html | null {
  if (translation === null) return null;
  const { language } = translation;
  return html`<p class="translated" lang="${language}" dir="${textDirection(language)}">${text}</p>`;
}

export function speakerName(document: TranscriptDocument, speaker: string): Html {
  const number = Number(/\d+/.exec(speaker)?.[0] ?? 1);
  return html`<strong class="speaker series-${((number - 1) % COLOURS) + 1}" dir="auto"
    >${nameOf(document, speaker)}</strong
  >`;
}

/** What begins while the segment is spoken; the texts' cuts differ, so a line may have several, or none. */
function translationOf({ segments, translation }: TranscriptDocument, index: number): string | null {
  const parts = translation?.segments ?? null;
  const segment = segments[index];
  if (parts === null || segment === undefined) return null;
  const from = index === 0 ? -1 : segment.startSeconds;
  const to = segments[index + 1]?.startSeconds ?? Infinity;
  return partsFrom(parts, from, to)
    .map(({ text }) => text)
    .join(' ');
}

/** `parts`: in the order of their times. */
function partsFrom(parts: readonly TimedText[], from: number, to: number): TimedText[] {
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle]?.startSeconds ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  const found: TimedText[] = [];
  for (let at = low; (parts[at]?.startSeconds ?? Infinity) < to; at += 1) {
    const part = parts[at];
    if (part !== undefined) found.push(part);
  }
  return found;
}

export function textDirection(language: string): 'rtl' | 'auto' {
  return RIGHT_TO_LEFT.has(language) ? 'rtl' : 'auto';
}
