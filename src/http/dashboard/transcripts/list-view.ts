/** The list of kept transcripts: search, filters, what is kept from now on, and how much room it takes. */
import { languageName } from '../../../engine/languages.js';
import type { LibrarySettings, LibraryUsage, StoredTranscript } from '../../../ledger/transcripts.js';
import { TRANSCRIPT_SOURCES } from '../../../ledger/transcripts.js';
import { button, linkButton } from '../components/button.js';
import { card } from '../components/card.js';
import { emptyState } from '../components/empty-state.js';
import { field, select } from '../components/field.js';
import { pager } from '../components/pager.js';
import { banner } from '../components/toast.js';
import { moment } from '../format.js';
import { html, type Html, type HtmlValue } from '../html.js';
import type { View } from '../page.js';
import { PATHS, transcriptPath } from '../paths.js';
import { TEXTS } from '../texts.js';
import { clockOf, sizeOf } from './clock.js';

const { transcripts: texts } = TEXTS;

/** As they stand in the address. */
export interface ListFilters {
  query: string;
  language: string;
  source: string;
  speaker: string;
  from: string;
  to: string;
}

/** A sentence with words that were sought, and where it is spoken. */
export interface FoundSentence {
  startSeconds: number;
  pieces: readonly { text: string; isMatch: boolean }[];
}

export interface ListedTranscript {
  stored: StoredTranscript;
  found: readonly FoundSentence[];
}

export interface TranscriptsPage {
  notice: HtmlValue;
  filters: ListFilters;
  listed: readonly ListedTranscript[];
  /** Of the page after this one; null: there is none. */
  cursor: string | null;
  isFirst: boolean;
  settings: LibrarySettings;
  usage: LibraryUsage;
  mostBytes: number;
  languages: readonly string[];
}

export function listView(list: TranscriptsPage): View {
  const { notice, filters, settings, usage, mostBytes } = list;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const main = html`${notice} ${!settings.isOn && usage.transcripts > 0 && banner('information', texts.off)}
  ${usage.bytes >= mostBytes && banner('warning', texts.full)}
  ${(isFiltered || usage.transcripts > 0) && searchForm(list, isFiltered)} ${results(list, isFiltered)}
  ${keepCard(list)}`;
  return { title: texts.title, lead: texts.lead, main };
}

function searchForm({ filters, languages }: TranscriptsPage, isFiltered: boolean): Html {
  const { query, language, source, speaker, from, to } = filters;
  const languageChoices = languages.map((code) => ({ value: code, label: languageName(code) }));
  const hasMore = [language, source, speaker, from, to].some((value) => value !== '');
  return html`<form class="search-form" method="get" action="${PATHS.transcripts}" role="search">
    <div class="search-line">
      ${field({
        label: texts.search,
        name: 'query',
        value: query,
        help: texts.searchHelp,
        attributes: { type: 'search', maxlength: 200, autocomplete: 'off' },
      })}
      ${button({ label: texts.filter, icon: 'search' })}
      ${isFiltered && linkButton({ label: texts.clear, href: PATHS.transcripts, kind: 'quiet' })}
    </div>
    <details ${hasMore && html`open`}>
      <summary>${TEXTS.transcripts.moreFilters}</summary>
      <div class="filters">
        ${select({
          ...{ label: texts.language, name: 'language', value: language },
          choices: [{ value: '', label: texts.anyLanguage }, ...languageChoices],
        })}
        ${select({
          ...{ label: texts.source, name: 'source', value: source },
          choices: [
            { value: '', label: texts.anySource },
            ...TRANSCRIPT_SOURCES.map((kind) => ({ value: kind, label: texts.sources[kind] })),
          ],
        })}
        ${field({ label: texts.speaker, name: 'speaker', value: speaker, attributes: { maxlength: 100 } })}
        ${field({ label: texts.from, name: 'from', value: from, attributes: { type: 'date' } })}
        ${field({ label: texts.to, name: 'to', value: to, attributes: { type: 'date' } })}
      </div>
    </details>
  </form>`;
}

function results(list: TranscriptsPage, isFiltered: boolean): Html {
  const { listed, filters } = list;
  if (listed.length === 0) return isFiltered ? nothingFound() : nothingYet();
  const title = filters.query === '' ? texts.list : texts.found(filters.query);
  return html`<section class="transcript-list" aria-label="${title}">
    <ul>
      ${listed.map(row)}
    </ul>
    ${pages(list)}
  </section>`;
}

function nothingFound(): Html {
  return emptyState({ icon: 'search', title: texts.nothingTitle, text: texts.nothing });
}

function nothingYet(): Html {
  const action = linkButton({ label: texts.transcribe, href: PATHS.try, kind: 'primary', icon: 'transcribe' });
  return emptyState({ icon: 'transcripts', title: texts.noneTitle, text: texts.none, action });
}

function row({ stored, found }: ListedTranscript): Html {
  const { id, title, createdAt, expiresAt, durationSeconds, language, translationLanguage, speakers } = stored;
  const { source, model } = stored;
  const from = source.name === null ? texts.sources[source.kind] : `${texts.sources[source.kind]}: ${source.name}`;
  return html`<li>
    <div class="row-head">
      <a class="row-title" dir="auto" href="${transcriptPath(id)}">${title}</a>
      <span class="row-time">${moment(createdAt)}</span>
    </div>
    <p class="row-facts">
      <span>${clockOf(durationSeconds)}</span>
      <span
        >${languageName(language)}
        ${translationLanguage !== null && texts.translated(languageName(translationLanguage))}</span
      >
      ${speakers.length > 0 && html`<span dir="auto">${speakers.slice(0, 6).join(', ')}</span>`}
      <span dir="auto">${from}</span>
      ${model !== null && html`<span>${model}</span>`}
      ${expiresAt !== null && html`<span>${texts.expires} ${moment(expiresAt)}</span>`}
    </p>
    ${
      found.length > 0 &&
      html`<ul class="found">
        ${found.map((sentence) => foundItem(id, sentence))}
      </ul>`
    }
  </li>`;
}

function foundItem(id: string, { startSeconds, pieces }: FoundSentence): Html {
  const time = clockOf(startSeconds);
  return html`<li>
    <a href="${transcriptPath(id)}#t=${startSeconds}" aria-label="${texts.playFrom(time)}">${time}</a>
    <span dir="auto">${pieces.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : text))}</span>
  </li>`;
}

function pages({ filters, cursor, isFirst }: TranscriptsPage): Html | null {
  const address = (more: Record<string, string>): string => {
    const given = Object.entries({ ...filters, ...more }).filter(([, value]) => value !== '');
    return given.length === 0 ? PATHS.transcripts : `${PATHS.transcripts}?${new URLSearchParams(given).toString()}`;
  };
  return pager({
    label: texts.pages,
    first: isFirst ? null : { href: address({}), label: texts.newest },
    next: cursor === null ? null : { href: address({ cursor }), label: texts.older },
  });
}

/** The choices of the form, by what they set. */
export const KEEP_CHOICES = {
  off: { isOn: false, keepDays: 30 },
  month: { isOn: true, keepDays: 30 },
  always: { isOn: true, keepDays: null },
} as const;
export type KeepChoice = keyof typeof KEEP_CHOICES;

export function keepChoiceOf({ isOn, keepDays }: LibrarySettings): KeepChoice {
  if (!isOn) return 'off';
  return keepDays === null ? 'always' : 'month';
}

function keepCard({ settings, usage, mostBytes }: TranscriptsPage): Html {
  const percent = Math.min(100, Math.round((100 * usage.bytes) / mostBytes));
  const used = texts.used(sizeOf(usage.bytes), sizeOf(mostBytes), usage.transcripts);
  return card({
    title: texts.settings,
    id: 'keep',
    note: texts.settingsNote,
    content: html`<form class="keep-form" method="post" action="${PATHS.transcriptSettings}">
        ${keepFields(settings)} ${button({ label: texts.save, kind: 'secondary' })}
      </form>
      <div class="storage">
        <h3>${texts.storage}</h3>
        <meter min="0" max="100" high="90" value="${percent}" aria-label="${texts.storage}"></meter>
        <p>${used}</p>
      </div>`,
  });
}

/** Of any form that asks what is kept. */
export function keepFields(settings: LibrarySettings): Html {
  const chosen = keepChoiceOf(settings);
  const days = settings.keepDays ?? 30;
  const labels = { ...texts.keepChoices, ...(days === 30 ? {} : { month: texts.keepDays(days) }) };
  return html`<fieldset>
      <legend>${texts.keep}</legend>
      ${Object.entries(labels).map(
        ([value, label]) =>
          html`<label class="choice">
            <input type="radio" name="keep" value="${value}" ${value === chosen && html`checked`} /> ${label}
          </label>`,
      )}
    </fieldset>
    <label class="choice">
      <input type="checkbox" name="audio" value="true" ${settings.keepsAudio && html`checked`} /> ${texts.audio}
    </label>
    <p class="field-help">${texts.audioHelp}</p>`;
}
