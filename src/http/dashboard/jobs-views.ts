/** A job, its result, and the question before it is cancelled or deleted. */
import { modelOfJob } from '../../jobs/job-body.js';
import type { WatchedJob } from '../../jobs/job-service.js';
import { speakerLines } from '../../transcription/diarized.js';
import type { TranscriptionResult } from '../../transcription/result.js';
import { STATE_TONES } from './activity-view.js';
import { badge } from './components/badge.js';
import { linkButton } from './components/button.js';
import { card, facts } from './components/card.js';
import { progressBar } from './components/progress-bar.js';
import { questionView } from './components/question.js';
import { duration, moment, number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import type { View } from './page.js';
import { endJobPath, jobDownloadPath, jobPath, PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { jobs: texts } = TEXTS;

export const RESULT_FORMATS = ['text', 'srt', 'vtt', 'json'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

/** `result`: null unless it is done. */
export function jobView({ job, progress, etaSeconds }: WatchedJob, result: TranscriptionResult | null): View {
  const { id, fileName, status, error } = job;
  const isOpen = job.finishedAt === null;
  const percent = Math.floor(100 * progress);
  const label = texts.progressOf(fileName ?? id);
  const state = html`${badge(texts.statuses[status], STATE_TONES[status === 'succeeded' ? 'done' : status])}
  ${etaSeconds !== null && progressBar({ label, percent, text: texts.progress(percent, etaSeconds) })}
  ${error !== null && html`<code>${error.code}</code> ${error.message}`}`;
  const main = html`<div class="stack">
    <div id="live" ${isOpen && html`data-running`}>
      ${card({ title: texts.status, content: facts(factsOf(job, result, state)) })}
    </div>
    ${result === null ? isOpen && html`<p class="soft">${texts.running}</p>` : resultCards(id, result)}
    <p><a href="${PATHS.history}">${texts.back}</a></p>
  </div>`;
  const [end, kind] = isOpen ? [texts.cancel, 'danger' as const] : [texts.delete, 'secondary' as const];
  return {
    title: fileName ?? id,
    actions: linkButton({ href: endJobPath(id), label: end, kind, asks: true }),
    main,
    modules: ['refresh.js'],
  };
}

function factsOf(
  job: WatchedJob['job'],
  result: TranscriptionResult | null,
  state: HtmlValue,
): (readonly [string, HtmlValue])[] {
  const { id, requestId, createdAt, startedAt, finishedAt, audioSeconds } = job;
  const code = (text: string): Html => html`<code>${text}</code>`;
  return [
    [texts.status, state],
    [texts.length, duration(audioSeconds)],
    [texts.model, modelOfJob(job) ?? texts.defaultModel],
    ...(result === null ? [] : ([[texts.language, result.language]] as const)),
    ...(result === null ? [] : ([[texts.credits, number(result.creditsUsed)]] as const)),
    [texts.created, moment(createdAt)],
    ...(startedAt === null ? [] : ([[texts.started, moment(startedAt)]] as const)),
    ...(finishedAt === null ? [] : ([[texts.finished, moment(finishedAt)]] as const)),
    [texts.id, code(id)],
    [texts.request, code(requestId)],
    ...(result === null ? [] : ([[texts.transcription, code(result.id)]] as const)),
  ];
}

function resultCards(id: string, result: TranscriptionResult): Html {
  const { translation } = result;
  const formats = RESULT_FORMATS.filter((format) => hasFormat(result, format));
  const downloads = formats.map((format) =>
    linkButton({ href: jobDownloadPath(id, format), label: texts.formats[format], icon: 'download', isDownload: true }),
  );
  const action = html`<div class="row" role="group" aria-label="${texts.downloads}">${downloads}</div>`;
  const note = formats.includes('srt') ? undefined : texts.noSegments;
  return html`${card({ title: texts.result, action, content: textOf(result), ...(note === undefined ? {} : { note }) })}
  ${
    translation !== null &&
    card({ title: texts.translation, content: html`<p lang="${translation.language}">${translation.text}</p>` })
  }`;
}

/** Where it is known who speaks, a line for each turn. */
function textOf({ language, text, segments }: TranscriptionResult): Html {
  if (text === '') return html`<p class="soft">${texts.noWords}</p>`;
  const isDiarized = segments?.some(({ speaker }) => speaker !== undefined) === true;
  const lines = isDiarized ? speakerLines(segments, language) : [text];
  return html`<div class="transcript-text" dir="auto" lang="${language}">
    ${lines.map((line) => html`<p>${line}</p>`)}
  </div>`;
}

/** Subtitles need segments. */
export function hasFormat({ segments, translation }: TranscriptionResult, format: ResultFormat): boolean {
  return format === 'text' || format === 'json' || (translation ?? { segments }).segments !== null;
}

export function endJobView({ job }: WatchedJob): View {
  const { id, fileName, status } = job;
  const isOpen = job.finishedAt === null;
  return questionView({
    title: isOpen ? texts.cancelTitle : texts.deleteTitle,
    about: html`${fileName ?? id} ${badge(texts.statuses[status])}`,
    note: isOpen ? texts.confirmCancel : texts.confirmDelete,
    action: endJobPath(id),
    submit: isOpen ? texts.cancel : texts.delete,
    value: { name: 'end', value: isOpen ? 'cancel' : 'delete' },
    back: isOpen ? { href: PATHS.history, label: texts.keep } : { href: jobPath(id), label: texts.keep },
  });
}
