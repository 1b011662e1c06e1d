import { modelOfJob } from '../../jobs/job-body.js';
import type { WatchedJob } from '../../jobs/job-service.js';
import type { RunningRequest } from '../../ledger/history.js';
import { moment, number } from './format.js';
import { html, type Html } from './html.js';
import type { View } from './page.js';
import { PATHS, endJobPath } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';

const { jobs: texts } = TEXTS;

/** Some of an account's jobs. */
export interface JobsPage {
  jobs: readonly WatchedJob[];
  /** null: there are no older ones. */
  older: string | null;
  isFirst: boolean;
}

/** `held`: what is set aside for requests that run, jobs among them. */
export function jobsSection({ jobs, older, isFirst }: JobsPage, held: readonly RunningRequest[]): Html {
  const heldOf = new Map(held.map(({ requestId, credits }) => [requestId, credits]));
  return html`<section id="jobs">
    <h2>${texts.title}</h2>
    <p>${texts.note}</p>
    ${jobs.length === 0 ? html`<p>${texts.none}</p>` : jobTable(jobs, heldOf)}
    <p class="row">
      ${!isFirst && html`<a href="${PATHS.history}">${texts.newest}</a>`}
      ${older !== null && html`<a href="${PATHS.history}?jobs=${older}">${texts.older}</a>`}
    </p>
  </section>`;
}

function jobTable(jobs: readonly WatchedJob[], heldOf: ReadonlyMap<string, number>): Html {
  return table({
    caption: texts.title,
    columns: [
      ...[texts.created, texts.id, texts.status, texts.finished],
      ...[texts.model, texts.seconds, texts.credits, texts.action],
    ],
    figures: [5, 6],
    rows: jobs.map((watched) => {
      const { job } = watched;
      return [
        moment(job.createdAt),
        html`<code>${job.id}</code>`,
        state(watched),
        job.finishedAt === null ? '' : moment(job.finishedAt),
        modelOfJob(job) ?? texts.defaultModel,
        job.audioSeconds.toFixed(1),
        credits(watched, heldOf),
        endLink(watched),
      ];
    }),
  });
}

/** With its progress, or its error. */
function state({ job, progress, etaSeconds }: WatchedJob): Html {
  const { error } = job;
  const percent = Math.floor(100 * progress);
  return html`${texts.statuses[job.status]}
  ${error !== null && html`<br /><code>${error.code}</code><br />${error.message}`}
  ${
    etaSeconds !== null &&
    html`<meter min="0" max="100" value="${percent}" aria-label="${texts.progressOf(job.id)}"></meter>
      ${texts.percent(percent)} <br />${texts.eta(etaSeconds)}`
  }`;
}

/** Spent, or held; one that failed or was cancelled cost nothing. */
function credits({ job }: WatchedJob, heldOf: ReadonlyMap<string, number>): string {
  if (job.outcome !== null) return number(job.outcome.charge.creditsUsed);
  const held = heldOf.get(job.requestId);
  if (job.finishedAt !== null) return number(0);
  return held === undefined ? '' : texts.held(number(held));
}

function endLink({ job }: WatchedJob): Html {
  const [label, text] =
    job.finishedAt === null ? [texts.cancelThe(job.id), texts.cancel] : [texts.deleteThe(job.id), texts.delete];
  return html`<a href="${endJobPath(job.id)}" aria-label="${label}">${text}</a>`;
}

export function endJobView({ job }: WatchedJob): View {
  const isOpen = job.finishedAt === null;
  const main = html`<form class="card" method="post" action="${endJobPath(job.id)}">
    <p><code>${job.id}</code> ${texts.statuses[job.status]}</p>
    <p>${isOpen ? texts.confirmCancel : texts.confirmDelete}</p>
    <div class="row">
      <button class="danger" name="end" value="${isOpen ? 'cancel' : 'delete'}">
        ${isOpen ? texts.cancel : texts.delete}
      </button>
      <a href="${PATHS.history}">${texts.keep}</a>
    </div>
  </form>`;
  return { title: isOpen ? texts.cancelTitle : texts.deleteTitle, main };
}
