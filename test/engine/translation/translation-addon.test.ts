/** The translation engine on the real addon. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadBinding } from '../../../src/engine/binding.js';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import { writeTinyModel } from '../../support/translation-models.js';
import { UnboundedTranslation } from '../../support/unbounded-translation.js';
import { translationFailure } from './translation-fixture.js';

describe('TranslationEngine on the addon', () => {
  const binding = new UnboundedTranslation(loadBinding());
  let directory: string;
  let engine: TranslationEngine;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-translator-'));
    writeTinyModel(directory, { pieces: ['▁hola', '▁mundo'], unbounded: true });
    const model = { name: 'tiny', path: directory, from: ['es'], to: ['en'] };
    engine = new TranslationEngine({
      binding,
      models: [model],
      device: 'cpu',
      backend: 'ggml',
      translators: 2,
      threads: 1,
    });
  });
  after(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  const translate = async (text: string, signal?: AbortSignal): Promise<string> =>
    (await engine.translate({ accountId: 'one', text, from: 'es', to: 'en', signal })).text;

  it('gives the same text alone and beside others', async () => {
    const texts = ['hola mundo.', 'mundo hola hola.', 'hola.', 'hola, mundo, hola.'];
    const alone: string[] = [];
    for (const text of texts) alone.push(await translate(text));
    expect(alone.every((text) => text.length > 0)).to.equal(true);
    expect(await Promise.all(texts.map((text) => translate(text)))).to.deep.equal(alone);
  });

  it('aborts inside the decoder', async () => {
    const expected = await translate('mundo hola.');
    binding.endless = true;
    const controller = new AbortController();
    const running = translationFailure(translate('hola mundo.', controller.signal));
    const { decoded } = await binding.decoding();
    controller.abort(new Error('gone'));
    expect((await running).message).to.equal('gone');
    // The request is answered at once; it is the decoder's own end that shows that it has stopped.
    expect(await translationFailure(decoded)).to.have.property('code', 'aborted');
    binding.endless = false;
    expect(await translate('mundo hola.')).to.equal(expected);
  });
});
