import { ModelRefused } from '../../src/errors.js';
import type { ModelState, ModelSwitch } from '../../src/models/model-switch.js';

/** What was asked of it stays under way until the test says how it ends. */
export class FakeModelSwitch implements ModelSwitch {
  readonly asked: { name: string; by: string }[] = [];
  #state: ModelState;

  constructor(serving: string) {
    this.#state = { serving, since: 0, afterRestart: serving, change: null, last: null };
  }

  state(): ModelState {
    return this.#state;
  }

  use(name: string, by: string): void {
    const { serving: from } = this.#state;
    if (name === from) throw new ModelRefused(`"${name}" serves already.`);
    this.asked.push({ name, by });
    this.#state = { ...this.#state, change: { phase: 'starting', from, to: name, requests: 0 } };
  }

  /** `afterRestart`: default, the one that serves then. */
  end(error: string | null, afterRestart?: string): void {
    const { change, serving } = this.#state;
    const to = change?.to ?? '';
    const served = error === null ? to : serving;
    this.#state = {
      ...this.#state,
      ...{ serving: served, afterRestart: afterRestart ?? served, change: null, last: { to, error } },
    };
  }
}
