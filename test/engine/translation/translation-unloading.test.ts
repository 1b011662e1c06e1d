/** Translation models leave memory when nobody uses them, and are loaded again when somebody does. */
import { expect } from 'chai';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { FakeTranslation } from '../../support/fake-translation.js';
import { pair, turn } from './translation-fixture.js';

const IDLE_MS = 600_000;

describe('Translation models that nobody uses', () => {
  let fake: FakeTranslation;
  let timers: ManualTimers;
  let engine: TranslationEngine;
  beforeEach(() => {
    fake = new FakeTranslation();
    timers = new ManualTimers();
    engine = new TranslationEngine({
      ...{ binding: fake, models: [pair('es', 'en'), pair('en', 'de')], device: 'cpu', backend: 'auto' },
      ...{ translators: 1, threads: 1, idleMs: IDLE_MS, timers },
    });
  });
  afterEach(async () => {
    await engine.close();
    expect(fake).to.include({ openTranslators: 0, openModels: 0 });
    expect(timers.pending).to.equal(0);
  });

  const translate = async (from: string, to: string): Promise<string> =>
    (await engine.translate({ accountId: 'a', text: 'Hola.', from, to })).text;
  const pass = async (milliseconds: number): Promise<void> => {
    timers.pass(milliseconds);
    await turn();
  };

  it('are unloaded after a while, each by itself', async () => {
    const before = await translate('es', 'de');
    expect(fake).to.include({ openModels: 2 });
    await pass(IDLE_MS / 2);
    await translate('en', 'de');
    await pass(IDLE_MS / 2);
    expect(fake).to.include({ openModels: 1 });
    await pass(IDLE_MS / 2);
    expect(fake).to.include({ openModels: 0, openTranslators: 0 });
    expect(await translate('es', 'de')).to.equal(before);
    expect(fake.loaded).to.have.length(4);
  });

  it('are unloaded at once where memory is short, and not while a text is translated', async () => {
    fake.hold();
    const running = translate('es', 'en');
    await turn();
    await engine.unloadIdle();
    await pass(2 * IDLE_MS);
    expect(fake).to.include({ openModels: 1 });
    fake.release();
    const text = await running;
    await engine.unloadIdle();
    expect(fake).to.include({ openModels: 0 });
    expect(await translate('es', 'en')).to.equal(text);
  });
});
