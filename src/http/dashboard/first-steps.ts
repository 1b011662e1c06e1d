/** What a new account has still to do, as the ledger and the engine say. */
import { card } from './components/card.js';
import { icon } from './components/icon.js';
import { html, type Html } from './html.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { steps: texts } = TEXTS.home;

export interface StepStates {
  /** null: not this account's to do. */
  model: boolean | null;
  key: boolean;
  recording: boolean;
  /** A program has used a key. */
  call: boolean;
}

const PLACES = [
  ['model', PATHS.models],
  ['key', PATHS.keys],
  ['recording', PATHS.try],
  ['call', PATHS.try],
] as const;

/** null: all is done. */
export function firstSteps(states: StepStates): Html | null {
  const steps = PLACES.flatMap(([name, path]) => {
    const isDone = states[name];
    return isDone === null ? [] : [{ path, isDone, ...texts[name] }];
  });
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  const list = html`<ol class="steps">
    ${steps.map(
      ({ path, isDone, title, text }) =>
        html`<li class="${isDone ? 'done' : 'open'}">
          ${icon(isDone ? 'check' : 'circle')}
          <span class="visually-hidden">${isDone ? texts.done : texts.open}</span>
          <div>
            <a href="${path}">${title}</a>
            <p>${text}</p>
          </div>
        </li>`,
    )}
  </ol>`;
  return card({ title: texts.title, note: texts.note(done, steps.length), content: list });
}
