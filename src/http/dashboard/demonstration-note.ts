/** That the demonstration model serves; for an operator with the one step that leads to a real one. */
import type { Account } from '../../ledger/types.js';
import { FIRST_MODEL } from '../../models/first-model.js';
import type { StoredModel } from '../../models/model-store.js';
import type { HttpDeps } from '../app/deps.js';
import { number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { PATHS, modelActionPath } from './paths.js';
import { TEXTS } from './texts.js';

const { demonstration: texts } = TEXTS;

type NoteDeps = Pick<HttpDeps, 'engine' | 'modelStore' | 'models' | 'automaticModel'>;

/** null where a real model serves. */
export function demonstrationNote(deps: NoteDeps, { role }: Account): Html | null {
  if (!deps.engine.info.isDemonstration) return null;
  return html`<section class="note">
    <h2>${texts.title}</h2>
    <p>${texts.note} ${role !== 'operator' && texts.ask}</p>
    ${role === 'operator' && html`<div class="row">${nextStep(deps)} <a href="${PATHS.models}">${texts.all}</a></div>`}
  </section>`;
}

/** A model that is here is used, before another is fetched. */
function nextStep({ modelStore, models, engine, automaticModel }: NoteDeps): HtmlValue {
  const { change } = models.state();
  if (change !== null) return texts.changing(change.to);
  const speech = modelStore.list().filter(({ kind, name }) => kind === 'speech' && name !== engine.info.modelName);
  const installed = speech.find(({ state }) => state === 'installed');
  if (installed !== undefined) return button(modelActionPath(installed.name, 'use'), texts.use(installed.name));
  const coming = speech.find(({ state }) => state === 'downloading' || state === 'checking');
  if (coming !== undefined) return comingText(coming);
  const search = automaticModel();
  if (search?.phase === 'measuring') return texts.searching;
  const waiting = search?.phase === 'waiting' ? search : null;
  const problem = waiting?.problem ?? null;
  const wanted = waiting?.model ?? FIRST_MODEL;
  const first = speech.find(({ name }) => name === wanted);
  return html`${problem !== null && texts.waiting(problem)}
  ${first !== undefined && isFetchable(first) && button(modelActionPath(first.name, 'download'), fetchText(first))}`;
}

function isFetchable({ state }: StoredModel): boolean {
  return state === 'available' || state === 'failed';
}

function comingText({ name, receivedBytes, totalBytes }: StoredModel): string {
  if (totalBytes === null) return texts.coming(name, null);
  return texts.coming(name, { received: mebibytes(receivedBytes), total: mebibytes(totalBytes) });
}

function mebibytes(bytes: number): string {
  return number(Math.round(bytes / 2 ** 20));
}

function fetchText({ name, totalBytes }: StoredModel): string {
  return texts.fetch(name, totalBytes === null ? null : mebibytes(totalBytes));
}

function button(action: string, text: string): Html {
  return html`<form method="post" action="${action}"><button>${text}</button></form>`;
}
