/** Models on the disk and those that can be downloaded, each with what can be done about it now. */
import type { ShelvedModel } from '../model-shelf.js';
import { number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { PATHS, shelfPath } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';

const { models: texts } = TEXTS;

/** `serving`: the name of the one that serves, wherever it lies. */
export function modelsSection(models: readonly ShelvedModel[], serving: string): Html {
  const isRunning = models.some(({ state }) => state === 'downloading' || state === 'checking');
  return html`<section id="models">
    <h2>${texts.title}</h2>
    <p>${texts.note} ${texts.serveNote}</p>
    <noscript>
      <p><a href="${PATHS.server}">${texts.reload}</a></p>
    </noscript>
    <div id="live" ${isRunning && html`data-running`}>
      <div>${modelTable(models, serving)}</div>
    </div>
  </section>`;
}

function modelTable(models: readonly ShelvedModel[], serving: string): Html {
  return table({
    caption: texts.title,
    columns: [texts.name, texts.kind, texts.size, texts.licence, texts.state, texts.action],
    figures: [2],
    rows: [...unlisted(models, serving), ...models.map((model) => rowOf(model, serving))],
  });
}

/** The one that serves may be a file that no list knows. */
function unlisted(models: readonly ShelvedModel[], serving: string): HtmlValue[][] {
  if (models.some(({ name }) => name === serving)) return [];
  return [[html`<code>${serving}</code>`, '', '', '', texts.serves, '']];
}

function rowOf(model: ShelvedModel, serving: string): HtmlValue[] {
  const { name, kind, licence, totalBytes } = model;
  return [
    html`<code>${name}</code>`,
    kind,
    totalBytes === null ? texts.unknown : mib(totalBytes),
    licence,
    name === serving ? texts.serves : stateOf(model),
    actionOf(model),
  ];
}

const mib = (bytes: number): string => number(Math.round(bytes / 2 ** 20));

function stateOf(model: ShelvedModel): HtmlValue {
  const { name, state, receivedBytes, totalBytes, problem } = model;
  if (state === 'failed') return html`<span role="alert">${problem}</span>`;
  if (state === 'available') return receivedBytes > 0 ? texts.begun(mib(receivedBytes)) : texts.available;
  if (state !== 'downloading' && state !== 'checking') return texts[state];
  const total = totalBytes === null ? texts.unknown : mib(totalBytes);
  const percent = totalBytes === null ? 0 : Math.min(100, Math.floor((100 * receivedBytes) / totalBytes));
  return html`<progress max="100" value="${percent}" aria-label="${texts.progressOf(name)}"></progress>
    ${state === 'checking' ? texts.checking : texts.downloading(mib(receivedBytes), total)}`;
}

function actionOf({ name, state }: ShelvedModel): HtmlValue {
  if (state === 'downloading' || state === 'checking') {
    return button(shelfPath(name, 'cancel'), { label: texts.cancelThe(name), text: texts.cancel });
  }
  if (state !== 'available' && state !== 'failed') return '';
  const [label, text] =
    state === 'failed' ? [texts.againThe(name), texts.again] : [texts.downloadThe(name), texts.download];
  return button(shelfPath(name, 'download'), { label, text });
}

function button(action: string, { label, text }: { label: string; text: string }): Html {
  return html`<form method="post" action="${action}"><button aria-label="${label}">${text}</button></form>`;
}
