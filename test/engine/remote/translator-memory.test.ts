import { expect } from 'chai';
import { RemoteTranslator } from '../../../src/engine/remote/remote-translator.js';

describe('A translator in another process', () => {
  it('asks for room before models are loaded, and again once they were unloaded', async () => {
    const deeds: string[] = [];
    let now = 5;
    const call = (name: string): Promise<never> => {
      deeds.push(name);
      return Promise.resolve({ text: '', sentences: [] } as never);
    };
    const models = [
      { name: 'es-en', from: ['es'], to: ['en'], bundled: false },
      { name: 'en-de', from: ['en'], to: ['de'], bundled: false },
    ];
    const translator = new RemoteTranslator({ call } as never, models, () => now);
    translator.beforeLoad = (names) => {
      expect(translator.isIdle).to.equal(false);
      deeds.push(`room for ${names.join(', ')}`);
      return Promise.resolve();
    };
    const translate = (from: string, to: string) => translator.translate({ accountId: 'a', text: 'Hola.', from, to });
    await translate('es', 'en');
    await translate('es', 'en');
    now = 9;
    await translate('es', 'de');
    expect(translator).to.include({ isIdle: true, lastUsed: 9 });
    expect(translator.usedModels).to.deep.equal(['es-en', 'en-de']);
    translator.unloaded();
    await translate('en', 'de');
    expect(deeds.filter((deed) => deed !== 'translate')).to.deep.equal([
      ...['room for es-en', 'room for en-de', 'room for en-de'],
    ]);
    expect(deeds[0]).to.equal('room for es-en');
  });
});
