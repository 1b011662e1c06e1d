import { languageName } from '../../engine/languages.js';
import type { WatchedJob } from '../../jobs/job-service.js';
import type { HistoryEntry, RunningRequest } from '../../ledger/history.js';
import type { StoredTranscript } from '../../ledger/transcripts.js';
import type { Balance } from '../../ledger/types.js';
import { badge } from './components/badge.js';
import { linkButton } from './components/button.js';
import { card, figures } from './components/card.js';
import { emptyState } from './components/empty-state.js';
import { shortList } from './components/short-list.js';
import { progressBar } from './components/progress-bar.js';
import { table } from './components/table.js';
import { packTable, type Pack } from './credit-packs.js';
import { firstSteps, type StepStates } from './first-steps.js';
import { moment, number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import type { View } from './page.js';
import { PATHS, transcriptPath } from './paths.js';
import { sevenDays } from './seven-days.js';
import { TEXTS } from './texts.js';
import { clockOf } from './transcripts/clock.js';

const { home: texts } = TEXTS;

export interface HomeState {
  balance: Balance;
  packs: readonly Pack[];
  /** At the pace of the last days; null: nothing was spent. */
  daysLeft: number | null;
  days: readonly { date: string; minutes: number }[];
  /** In these days. */
  requests: number;
  /** With those of jobs. */
  running: readonly RunningRequest[];
  /** Some of those that run. */
  jobs: readonly WatchedJob[];
  waitingJobs: number;
  recent: readonly HistoryEntry[];
  /** That are kept, the newest first. */
  transcripts: readonly StoredTranscript[];
  steps: StepStates;
}

export function homeView(state: HomeState, note: Html | null): View {
  const { packs, running } = state;
  const main = html`${note} ${figuresOf(state)} ${firstSteps(state.steps)}
    ${running.length > 0 && html`<div id="live" data-running>${atWork(state)}</div>`}
    ${state.transcripts.length > 0 && recentTranscripts(state)}
    <div class="columns">${lastDays(state)} ${recentActivity(state)}</div>
    <section>
      <h2>${TEXTS.packs.title}</h2>
      ${packs.length === 0 ? html`<p>${TEXTS.packs.none}</p>` : packTable(packs)}
    </section>`;
  const actions = linkButton({ href: PATHS.try, label: texts.transcribe, icon: 'transcribe', kind: 'primary' });
  return { title: TEXTS.pages.overview, actions, main, modules: ['refresh.js'] };
}

function figuresOf({ balance: { balance, lifetimePurchased }, daysLeft, days, requests, ...state }: HomeState): Html {
  const minutes = days.reduce((sum, day) => sum + day.minutes, 0);
  const pace = daysLeft === null ? texts.noPace : texts.lasts(daysLeft);
  return figures([
    {
      label: texts.credits,
      value: number(balance),
      note: html`${balance === 0 ? texts.empty : pace} ${texts.granted(number(lifetimePurchased))}`,
    },
    { label: texts.minutes, value: number(minutes), note: texts.requests(number(requests)) },
    {
      label: texts.running,
      value: number(state.running.length),
      note: state.waitingJobs === 0 ? texts.noneWaiting : texts.waiting(number(state.waitingJobs)),
    },
  ]);
}

function lastDays({ days }: HomeState): Html {
  const { title, link, none } = texts.days;
  const isEmpty = days.every(({ minutes }) => minutes === 0);
  return card({
    title,
    action: html`<a href="${PATHS.usage}?days=7">${link}</a>`,
    content: isEmpty ? emptyState({ icon: 'usage', ...none }) : sevenDays(days),
  });
}

function recentTranscripts({ transcripts }: HomeState): Html {
  const { title, link } = texts.transcripts;
  return card({
    title,
    action: html`<a href="${PATHS.transcripts}">${link}</a>`,
    content: shortList(
      title,
      transcripts.map((kept) => ({
        title: html`<a dir="auto" href="${transcriptPath(kept.id)}">${kept.title}</a>`,
        note: html`${moment(kept.createdAt)} · ${languageName(kept.language)}`,
        value: clockOf(kept.durationSeconds),
      })),
    ),
  });
}

function recentActivity({ recent }: HomeState): Html {
  const { title, link, none, seconds, unknown, credits } = texts.recent;
  const items = recent.map((entry) => ({
    title: moment(entry.at),
    note: `${seconds(number(Math.round(entry.audioSeconds)))} · ${entry.language ?? unknown}`,
    value: credits(number(entry.credits)),
  }));
  return card({
    title,
    action: html`<a href="${PATHS.history}">${link}</a>`,
    content: items.length === 0 ? emptyState({ icon: 'activity', ...none }) : shortList(title, items),
  });
}

function atWork({ running, jobs }: HomeState): Html {
  const { title, at, what, progress, held } = texts.work;
  const jobOf = new Map(jobs.map((watched) => [watched.job.requestId, watched]));
  return card({
    title,
    action: html`<a href="${PATHS.history}">${texts.recent.link}</a>`,
    content: table({
      caption: title,
      columns: [what, at, progress, held],
      figures: [3],
      rows: running
        .slice(0, 5)
        .map(({ requestId, at: since, credits }) => [
          html`<code>${requestId}</code>`,
          moment(since),
          progressOf(jobOf.get(requestId)),
          number(credits),
        ]),
    }),
  });
}

function progressOf(watched: WatchedJob | undefined): HtmlValue {
  if (watched === undefined) return badge(texts.work.running, 'information');
  const percent = Math.floor(100 * watched.progress);
  return progressBar({ label: texts.work.progressOf(watched.job.id), percent, text: texts.work.percent(percent) });
}
