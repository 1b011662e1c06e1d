/** A model on the disk or in the list of what can be downloaded, with what can be done about it now. */
import type { StoredModel } from '../../models/model-store.js';
import type { ModelState } from '../../models/model-switch.js';
import { badge } from './components/badge.js';
import { buttonForm, type ButtonKind } from './components/button.js';
import { progressBar } from './components/progress-bar.js';
import { number } from './format.js';
import { html, type HtmlValue } from './html.js';
import { modelActionPath } from './paths.js';
import { TEXTS } from './texts.js';

const { models: texts } = TEXTS;

export interface ModelsInUse {
  turn: ModelState;
  /** Names of the speech models in memory. */
  loaded: readonly string[];
}

export const mebibytes = (bytes: number): string => number(Math.round(bytes / 2 ** 20));

export function modelSize({ totalBytes }: StoredModel): string {
  return totalBytes === null ? texts.unknown : mebibytes(totalBytes);
}

export function modelState(model: StoredModel, { turn, loaded }: ModelsInUse): HtmlValue {
  const { name, state, receivedBytes, totalBytes, problem } = model;
  if (name === turn.serving) return badge(texts.serves, 'good');
  if (state === 'failed') return html`${badge(texts.failed, 'bad')} <span role="alert">${problem}</span>`;
  if (state === 'installed') {
    return html`${badge(texts.installed, 'information')} ${loaded.includes(name) && badge(texts.loaded, 'good')}`;
  }
  if (state === 'unavailable') return html`<span class="soft">${texts.unavailable}</span>`;
  if (state === 'available') {
    return html`<span class="soft"
      >${receivedBytes > 0 ? texts.begun(mebibytes(receivedBytes)) : texts.available}</span
    >`;
  }
  const percent = totalBytes === null ? 0 : Math.min(100, Math.floor((100 * receivedBytes) / totalBytes));
  const text = state === 'checking' ? texts.checking : texts.downloading(mebibytes(receivedBytes), modelSize(model));
  return progressBar({ label: texts.progressOf(name), percent, text });
}

/** `kind`: of the button that brings the model. */
export function actionOf(model: StoredModel, { turn }: ModelsInUse, kind: ButtonKind = 'secondary'): HtmlValue {
  const { name, state } = model;
  const { serving, change } = turn;
  if (state === 'downloading' || state === 'checking') {
    const look = { label: texts.cancel, fullLabel: texts.cancelThe(name), kind: 'danger' } as const;
    return buttonForm(modelActionPath(name, 'cancel'), look);
  }
  const isUsable = state === 'installed' && model.kind === 'speech' && name !== serving && change === null;
  if (isUsable) {
    return buttonForm(modelActionPath(name, 'use'), { label: texts.use, fullLabel: texts.useThe(name), kind });
  }
  if (state !== 'available' && state !== 'failed') return '';
  const [label, fullLabel] =
    state === 'failed' ? [texts.again, texts.againThe(name)] : [texts.download, texts.downloadThe(name)];
  return buttonForm(modelActionPath(name, 'download'), { label, fullLabel, kind, icon: 'download' });
}
