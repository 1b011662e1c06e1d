/** Translation engines on a fake binding. */
import { expect } from 'chai';
import type { TranslationModelSpec } from '../../../src/engine/translation/translation-model.js';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import type { TranslatedText } from '../../../src/engine/types.js';
import { FakeTranslation } from '../../support/fake-translation.js';

export const pair = (from: string, to: string): TranslationModelSpec => ({
  name: `${from}-${to}`,
  path: `${from}-${to}`,
  from: [from],
  to: [to],
});

export async function translationFailure(work: Promise<unknown>): Promise<Error & { code?: string }> {
  return work.then(
    () => expect.fail('resolved'),
    (error: unknown) => error as Error,
  );
}

/** Enough for short texts to be queued, and for what was queued to go on: all of that is microtasks. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Options {
  accountId?: string;
  from?: string;
  to?: string;
  signal?: AbortSignal;
}

/** Engines on one fake binding. */
export class TranslationFixture {
  fake!: FakeTranslation;
  readonly #engines: TranslationEngine[] = [];

  readonly engineOf = (models: TranslationModelSpec[], translators = 1): TranslationEngine => {
    const engine = new TranslationEngine({
      ...{ binding: this.fake, models, device: 'cpu', backend: 'auto', translators, threads: 1 },
    });
    this.#engines.push(engine);
    return engine;
  };

  async close(): Promise<void> {
    for (const engine of this.#engines.splice(0)) await engine.close();
    expect(this.fake).to.include({ running: 0, openTranslators: 0, openModels: 0 });
  }
}

/** For every test of the block that calls it a fake binding of its own, which must be idle and empty in the end. */
export function useTranslationFixture(): TranslationFixture {
  const fixture = new TranslationFixture();
  beforeEach(() => {
    fixture.fake = new FakeTranslation();
  });
  afterEach(() => fixture.close());
  return fixture;
}

export const translated = (engine: TranslationEngine, text: string, options: Options = {}): Promise<TranslatedText> =>
  engine.translate({ accountId: 'one', text, from: 'es', to: 'en', ...options });

export const translate = async (...words: Parameters<typeof translated>): Promise<string> =>
  (await translated(...words)).text;
