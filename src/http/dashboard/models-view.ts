/** Models on the disk and those that can be downloaded, each with what can be done about it now. */
import type { ModelState } from '../../models/model-switch.js';
import type { StoredModel } from '../../models/model-store.js';
import { number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { PATHS, modelActionPath } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';

const { models: texts } = TEXTS;

export function modelsSection(models: readonly StoredModel[], turn: ModelState): Html {
  const isLoading = models.some(({ state }) => state === 'downloading' || state === 'checking');
  const isRunning = isLoading || turn.change !== null;
  return html`<section id="models">
    <p>${texts.note} ${texts.useNote}</p>
    <noscript>
      <p><a href="${PATHS.models}">${texts.reload}</a></p>
    </noscript>
    <div id="live" ${isRunning && html`data-running`}>
      ${turnText(turn)}
      <div>${modelTable(models, turn)}</div>
    </div>
  </section>`;
}

/**
 * The change of models that runs, or the error of the last one; and the model of the next start, if that is another.
 */
function turnText({ change, last, serving, afterRestart }: ModelState): Html {
  return html`<div>
    ${change !== null && html`<p role="status">${texts.changing(change)}</p>`}
    ${change === null && last?.error && html`<p role="alert">${texts.refused(last.to, last.error)}</p>`}
    ${afterRestart !== serving && html`<p>${texts.afterRestart(afterRestart)}</p>`}
  </div>`;
}

function modelTable(models: readonly StoredModel[], turn: ModelState): Html {
  return table({
    caption: texts.title,
    columns: [texts.name, texts.kind, texts.size, texts.licence, texts.state, texts.action],
    figures: [2],
    rows: [...unlisted(models, turn), ...models.map((model) => rowOf(model, turn))],
  });
}

/** The one that serves may be a file that no list knows. */
function unlisted(models: readonly StoredModel[], { serving }: ModelState): HtmlValue[][] {
  if (models.some(({ name }) => name === serving)) return [];
  return [[html`<code>${serving}</code>`, '', '', '', texts.serves, '']];
}

function rowOf(model: StoredModel, turn: ModelState): HtmlValue[] {
  const { name, kind, licence, totalBytes } = model;
  return [
    html`<code>${name}</code>`,
    kind,
    totalBytes === null ? texts.unknown : mib(totalBytes),
    licence,
    name === turn.serving ? texts.serves : stateOf(model),
    actionOf(model, turn),
  ];
}

const mib = (bytes: number): string => number(Math.round(bytes / 2 ** 20));

function stateOf(model: StoredModel): HtmlValue {
  const { name, state, receivedBytes, totalBytes, problem } = model;
  if (state === 'failed') return html`<span role="alert">${problem}</span>`;
  if (state === 'available') return receivedBytes > 0 ? texts.begun(mib(receivedBytes)) : texts.available;
  if (state !== 'downloading' && state !== 'checking') return texts[state];
  const total = totalBytes === null ? texts.unknown : mib(totalBytes);
  const percent = totalBytes === null ? 0 : Math.min(100, Math.floor((100 * receivedBytes) / totalBytes));
  return html`<progress max="100" value="${percent}" aria-label="${texts.progressOf(name)}"></progress>
    ${state === 'checking' ? texts.checking : texts.downloading(mib(receivedBytes), total)}`;
}

function actionOf({ name, kind, state }: StoredModel, { serving, change }: ModelState): HtmlValue {
  if (state === 'downloading' || state === 'checking') {
    return button(modelActionPath(name, 'cancel'), { label: texts.cancelThe(name), text: texts.cancel });
  }
  const isUsable = state === 'installed' && kind === 'speech' && name !== serving && change === null;
  if (isUsable) return button(modelActionPath(name, 'use'), { label: texts.useThe(name), text: texts.use });
  if (state !== 'available' && state !== 'failed') return '';
  const [label, text] =
    state === 'failed' ? [texts.againThe(name), texts.again] : [texts.downloadThe(name), texts.download];
  return button(modelActionPath(name, 'download'), { label, text });
}

function button(action: string, { label, text }: { label: string; text: string }): Html {
  return html`<form method="post" action="${action}"><button aria-label="${label}">${text}</button></form>`;
}
