/** The list of an account's kept transcripts, and what it keeps from now on. */
import { isLanguageCode } from '../../../engine/languages.js';
import { TRANSCRIPT_SOURCES, type TranscriptQuery, type TranscriptSource } from '../../../ledger/transcripts.js';
import type { FoundTranscript, Library } from '../../../library/library.js';
import type { HttpDeps } from '../../app/deps.js';
import type { Route } from '../../app/route.js';
import { noticeOf } from '../notice.js';
import type { MemberRequest, PageHandlers, PageReply } from '../page-handlers.js';
import { PATHS } from '../paths.js';
import { Refusal } from '../refusal.js';
import { TEXTS } from '../texts.js';
import { highlighted } from './highlight.js';
import { KEEP_CHOICES, listView, type KeepChoice, type ListedTranscript, type ListFilters } from './list-view.js';

const PER_PAGE = 25;
const MOST_CHARACTERS = 200;
const DAY_MS = 86_400_000;

export function transcriptListRoutes({ library, transcription }: HttpDeps, pages: PageHandlers): Route[] {
  async function list({ account, exchange }: MemberRequest): Promise<PageReply> {
    const { query } = exchange.req;
    const filters = filtersOf(query);
    const after = typeof query['cursor'] === 'string' && query['cursor'] !== '' ? query['cursor'] : null;
    const found = await library.list(account.id, { ...queryOf(filters), limit: PER_PAGE + 1, after });
    const shown = found.slice(0, PER_PAGE);
    const usage = await library.usage(account.id);
    return listView({
      notice: noticeOf(query['notice']),
      filters,
      listed: shown.map((one) => listed(one, filters.query)),
      cursor: found.length > PER_PAGE ? (shown.at(-1)?.stored.place ?? null) : null,
      isFirst: after === null,
      settings: await library.settings(account.id),
      ...{ usage, mostBytes: usage.maxBytes, languages: transcription.offer.languages },
    });
  }

  return [
    { path: PATHS.transcripts, methods: { GET: pages.memberPage(list) } },
    {
      path: PATHS.transcriptSettings,
      methods: {
        GET: pages.memberPage(() => ({ to: `${PATHS.transcripts}#keep` })),
        POST: pages.memberForm(async ({ account }, form) => {
          await decide(library, account.id, form);
          return { to: `${form.get('from') === 'try' ? PATHS.try : PATHS.transcripts}?notice=keep-saved` };
        }),
      },
    },
  ];
}

/** The fields of keepFields(). */
export async function decide(library: Library, accountId: string, form: URLSearchParams): Promise<void> {
  const choice = form.get('keep') ?? '';
  if (!Object.hasOwn(KEEP_CHOICES, choice)) throw new Refusal(400, TEXTS.errors.form('keep'));
  const { isOn, keepDays } = KEEP_CHOICES[choice as KeepChoice];
  await library.setSettings(accountId, { isOn, keepDays, keepsAudio: form.get('audio') === 'true' });
}

function filtersOf(query: Readonly<Record<string, unknown>>): ListFilters {
  const text = (name: string): string => {
    const value = query[name];
    return typeof value === 'string' ? value.slice(0, MOST_CHARACTERS) : '';
  };
  return {
    ...{ query: text('query').trim(), speaker: text('speaker').trim() },
    language: isLanguageCode(text('language')) ? text('language') : '',
    source: isSource(text('source')) ? text('source') : '',
    ...{ from: dayOf(text('from')), to: dayOf(text('to')) },
  };
}

function isSource(text: string): text is TranscriptSource {
  return (TRANSCRIPT_SOURCES as readonly string[]).includes(text);
}

function dayOf(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '';
}

function queryOf({
  query,
  language,
  source,
  speaker,
  from,
  to,
}: ListFilters): Omit<TranscriptQuery, 'limit' | 'after'> {
  return {
    words: query || null,
    language: language || null,
    source: isSource(source) ? source : null,
    speaker: speaker || null,
    from: from === '' ? null : new Date(from).toISOString(),
    // The last day is one of them.
    to: to === '' ? null : new Date(Date.parse(to) + DAY_MS).toISOString(),
  };
}

function listed({ stored, snippet }: FoundTranscript, query: string): ListedTranscript {
  if (snippet === null) return { stored, found: [] };
  return { stored, found: [{ startSeconds: snippet.atSeconds ?? 0, pieces: highlighted(snippet.text, query) }] };
}
