import type { Activity, ActivityState } from '../../ledger/history.js';
import { modelOfJob } from '../../jobs/job-body.js';
import type { WatchedJob } from '../../jobs/job-service.js';
import { badge, type Tone } from './components/badge.js';
import { linkButton } from './components/button.js';
import { progressBar } from './components/progress-bar.js';
import { table } from './components/table.js';
import { duration, moment, number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { cancelRequestPath, endJobPath, jobPath, transcriptPath } from './paths.js';
import { TEXTS } from './texts.js';

const { history: texts, jobs } = TEXTS;

export const STATE_TONES: Readonly<Record<ActivityState, Tone>> = {
  queued: 'neutral',
  running: 'information',
  done: 'good',
  failed: 'bad',
  cancelled: 'neutral',
};

export interface ActivityDetails {
  /** Jobs that have not ended, by their ids. */
  open: ReadonlyMap<string, WatchedJob>;
  /** Ids of transcriptions whose transcripts are kept. */
  kept: ReadonlySet<string>;
}

export function activityTable(entries: readonly Activity[], { open, kept }: ActivityDetails): Html {
  return table({
    caption: texts.title,
    columns: [
      ...[texts.file, texts.at, texts.key, texts.endpoint, texts.model],
      ...[texts.length, texts.state, texts.credits, texts.action],
    ],
    figures: [5, 7],
    rows: entries.map((entry) => [
      fileOf(entry),
      moment(entry.at),
      entry.keyName,
      entry.endpoint,
      modelOf(entry, open.get(entry.jobId ?? '')),
      entry.audioSeconds === null ? '' : duration(entry.audioSeconds),
      stateOf(entry, open.get(entry.jobId ?? '')),
      entry.state === 'queued' || entry.state === 'running' ? texts.held(number(entry.credits)) : number(entry.credits),
      html`${transcriptOf(entry, kept)} ${actionOf(entry)}`,
    ]),
  });
}

/** The name, and the id by which the API and the log of the service know it. */
function fileOf({ fileName, jobId, transcriptionId, requestId }: Activity): Html {
  return html`<span class="file-name">${fileName ?? html`<span class="soft">${texts.unnamed}</span>`}</span>
    <code class="soft ids">${jobId ?? transcriptionId ?? requestId}</code>`;
}

/** Of an open job: the one that it asks for. */
function modelOf({ model, language }: Activity, watched: WatchedJob | undefined): Html {
  const asked = watched === undefined ? null : (modelOfJob(watched.job) ?? jobs.defaultModel);
  return html`${model ?? asked} ${language !== null && html`<span class="soft">${language}</span>`}`;
}

function stateOf({ state, error, jobId, fileName }: Activity, watched: WatchedJob | undefined): Html {
  const eta = watched?.etaSeconds ?? null;
  const percent = Math.floor(100 * (watched?.progress ?? 0));
  return html`${badge(texts.states[state], STATE_TONES[state])}
  ${error !== null && html`<br /><span class="soft">${error.message}</span>`}
  ${
    eta !== null &&
    html`<br />${progressBar({
        label: jobs.progressOf(fileName ?? jobId ?? ''),
        percent,
        text: jobs.progress(percent, eta),
      })}`
  }`;
}

function transcriptOf({ transcriptionId, fileName }: Activity, kept: ActivityDetails['kept']): HtmlValue {
  if (transcriptionId === null || !kept.has(transcriptionId)) return '';
  const fullLabel = texts.transcriptOf(fileName ?? transcriptionId);
  return linkButton({ href: transcriptPath(transcriptionId), label: texts.transcript, fullLabel, kind: 'quiet' });
}

function actionOf({ jobId, requestId, state, fileName }: Activity): HtmlValue {
  const name = fileName ?? jobId ?? requestId;
  if (state === 'queued' || state === 'running') {
    const look = { label: jobs.cancel, fullLabel: jobs.cancelThe(name), kind: 'danger' } as const;
    const href = jobId === null ? cancelRequestPath(requestId) : endJobPath(jobId);
    return linkButton({ href, asks: true, ...look });
  }
  if (jobId === null) return '';
  const [label, fullLabel] = state === 'done' ? [jobs.open, jobs.openThe(name)] : [jobs.show, jobs.showThe(name)];
  return linkButton({ href: jobPath(jobId), label, fullLabel, kind: 'quiet' });
}
