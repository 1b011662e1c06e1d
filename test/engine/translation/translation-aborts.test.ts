/** What the translation engine does with aborts, failures and its own end. */
import { expect } from 'chai';
import { nativeError } from '../native-error.js';
import { translationFailure, pair, translate, turn, useTranslationFixture } from './translation-fixture.js';

describe('TranslationEngine: aborts and failures', () => {
  const fixture = useTranslationFixture();
  const { engineOf } = fixture;

  describe('abort', () => {
    it('stops the batch that runs, at once, and leaves the engine usable', async () => {
      const engine = engineOf([pair('es', 'en')]);
      const controller = new AbortController();
      const reason = new Error('gone');
      fixture.fake.hold();
      const running = translationFailure(
        translate(engine, 'Uno dos tres. '.repeat(200), { signal: controller.signal }),
      );
      await fixture.fake.untilRunning(1);
      controller.abort(reason);
      expect(await running).to.equal(reason);
      fixture.fake.release();
      await turn();
      expect(fixture.fake.batches).to.have.length(1);
      expect(fixture.fake.batches[0]!.aborted).to.equal(true);
      expect(await translate(engine, 'Uno.')).to.equal('(es-en) Uno.');
      expect(fixture.fake.batches).to.have.length(2);
    });

    it('of one request leaves the batch to the others in it', async () => {
      const engine = engineOf([pair('es', 'en')]);
      fixture.fake.hold();
      const first = translate(engine, 'Uno.');
      await fixture.fake.untilRunning(1);
      const controller = new AbortController();
      const gone = translationFailure(translate(engine, 'Dos.', { signal: controller.signal }));
      const stays = translate(engine, 'Tres.', { accountId: 'two' });
      await turn();
      fixture.fake.release();
      fixture.fake.hold();
      await first;
      await fixture.fake.untilRunning(1);
      controller.abort(new Error('gone'));
      expect((await gone).message).to.equal('gone');
      fixture.fake.release();
      expect(await stays).to.equal('(es-en) Tres.');
      expect(fixture.fake.batches[1]).to.deep.include({ aborted: false });
      expect(fixture.fake.batches[1]!.inputs).to.have.length(2);
    });
  });

  describe('failure', () => {
    it('of a model is reported in the addon’s words, and the next request tries again', async () => {
      const engine = engineOf([{ ...pair('es', 'en'), path: 'missing' }]);
      for (let attempt = 0; attempt < 2; attempt++) {
        expect(await translationFailure(translate(engine, 'Uno.'))).to.include({
          name: 'EngineError',
          code: 'io_error',
        });
      }
    });

    it('of one sentence is its own request’s, not that of the batch', async () => {
      const engine = engineOf([pair('es', 'en')]);
      fixture.fake.failWith = (inputs) =>
        inputs.some(({ source }) => source.includes('veneno.')) ? nativeError('internal_error') : null;
      fixture.fake.hold();
      const first = translate(engine, 'Uno.');
      await fixture.fake.untilRunning(1);
      const bad = translationFailure(translate(engine, 'veneno.'));
      const good = translate(engine, 'Bueno.', { accountId: 'two' });
      await turn();
      fixture.fake.release();
      expect([await first, await good]).to.deep.equal(['(es-en) Uno.', '(es-en) Bueno.']);
      expect(await bad).to.have.property('code', 'internal_error');
    });
  });

  it('finishes what runs before it closes, and takes nothing new', async () => {
    const engine = engineOf([pair('es', 'en')]);
    fixture.fake.hold();
    const running = translate(engine, 'Uno.');
    await fixture.fake.untilRunning(1);
    const closed = engine.close();
    expect(await translationFailure(translate(engine, 'Dos.'))).to.have.property('code', 'shutting_down');
    fixture.fake.release();
    expect(await running).to.equal('(es-en) Uno.');
    await closed;
  });
});
