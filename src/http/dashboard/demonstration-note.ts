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

type NoteDeps = Pick<HttpDeps, 'engine' | 'modelStore' | 'models'>;

/** null where a real model serves. */
export function demonstrationNote(deps: NoteDeps, { role }: Account): Html | null {
  if (!deps.engine.info.isDemonstration) return null;
  return html`<section class="note">
    <h2>${texts.title}</h2>
    <p>${texts.note} ${role !== 'operator' && texts.ask}</p>
    ${role === 'operator' && html`<div class="row">${nextStep(deps)} <a href="${PATHS.server}">${texts.all}</a></div>`}
  </section>`;
}

/** A model that is here is used, before another is fetched. */
function nextStep({ modelStore, models, engine }: NoteDeps): HtmlValue {
  const { change } = models.state();
  if (change !== null) return texts.changing(change.to);
  const speech = modelStore.list().filter(({ kind, name }) => kind === 'speech' && name !== engine.info.modelName);
  const installed = speech.find(({ state }) => state === 'installed');
  if (installed !== undefined) return button(modelActionPath(installed.name, 'use'), texts.use(installed.name));
  const coming = speech.find(({ state }) => state === 'downloading' || state === 'checking');
  if (coming !== undefined) return texts.coming(coming.name);
  const first = speech.find(({ name }) => name === FIRST_MODEL);
  return first !== undefined && isFetchable(first) && button(modelActionPath(first.name, 'download'), fetchText(first));
}

function isFetchable({ state }: StoredModel): boolean {
  return state === 'available' || state === 'failed';
}

function fetchText({ name, totalBytes }: StoredModel): string {
  return texts.fetch(name, totalBytes === null ? null : number(Math.round(totalBytes / 2 ** 20)));
}

function button(action: string, text: string): Html {
  return html`<form method="post" action="${action}"><button>${text}</button></form>`;
}
