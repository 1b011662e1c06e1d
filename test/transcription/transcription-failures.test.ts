/** Whatever a transcription fails with, nothing is charged and nothing stays held. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ClientGoneError, VerbatimError } from '../../src/errors.js';
import { fakeTranslator } from '../support/fake-translator.js';
import { TRANSLATED, useTranscriptionFixture } from './transcription-fixture.js';

describe('TranscriptionService: charges nothing when', () => {
  const fixture = useTranscriptionFixture();

  it('the client leaves while the hold is on its way', async () => {
    const hold = fixture.ledger.holds.place.bind(fixture.ledger);
    const left = new AbortController();
    fixture.ledger.holds.place = async (input) => {
      const made = await hold(input);
      left.abort(new ClientGoneError());
      return made;
    };
    const error = await fixture.failure(fixture.run({ signal: left.signal }));
    expect(error).to.equal(left.signal.reason);
    expect(fixture.engine.transcribed).to.equal(0);
    await fixture.expectUntouched();
  });

  it('the engine fails', async () => {
    fixture.engine.failWith = new Error('a bug');
    expect(await fixture.failure(fixture.run())).to.have.property('message', 'a bug');
    await fixture.expectUntouched();
  });

  it('the backlog is full', async () => {
    fixture.engine.backlogSeconds = 144_000;
    expect(await fixture.failure(fixture.run())).to.have.property('code', 'overloaded');
    fixture.engine.backlogSeconds = 0;
    await fixture.expectUntouched();
  });

  it('the translation fails', async () => {
    fixture.translator.translate = () => Promise.reject(new Error('a bug in translation'));
    const error = await fixture.failure(fixture.run({ options: TRANSLATED }));
    expect(error.message).to.equal('a bug in translation');
    await fixture.expectUntouched();
  });

  it('the pair turns out not to be covered', async () => {
    fixture.translator.supports = () => false;
    const error = await fixture.failure(fixture.run({ options: TRANSLATED }));
    expect(error).to.have.property('code', 'unsupported_translation');
    await fixture.expectUntouched();
  });

  it('the file is no audio', async () => {
    const text = fixture.request();
    writeFileSync(fixture.audioPath(), 'hello');
    const error = await fixture.failure(fixture.service().run(text));
    expect(error).to.have.property('code', 'unsupported_audio_format');
    await fixture.expectUntouched();
  });

  it('the audio is too long', async () => {
    const error = await fixture.failure(fixture.service({ maxAudioSeconds: 89 }).run(fixture.request()));
    expect(error).to.include({ code: 'audio_too_long', param: 'audio' });
    await fixture.expectUntouched();
  });

  it('the credits cover not even a started minute: the file is not looked at', async () => {
    const text = fixture.request();
    writeFileSync(fixture.audioPath(), 'hello');
    const error = await fixture.failure(fixture.service({ creditsPerMinute: 11 }).run(text));
    expect(error).to.include({ code: 'insufficient_credits' });
    expect(error.message).to.include('at least 11 credits; the account has 10');
    await fixture.expectUntouched();
  });

  it('the credits do not suffice', async () => {
    const error = await fixture.failure(fixture.service({ creditsPerMinute: 6 }).run(fixture.request()));
    expect(error).to.have.property('code', 'insufficient_credits');
    await fixture.expectUntouched();
  });

  for (const phase of ['inference', 'translation'] as const) {
    it(`it is aborted during ${phase}`, async () => {
      const controller = new AbortController();
      const reason = new VerbatimError('invalid_api_key', 'revoked');
      fixture.translator.translate = ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          setImmediate(() => controller.abort(reason));
        });
      if (phase === 'inference') fixture.engine.holdAll();
      const running = fixture.run({ options: TRANSLATED, signal: controller.signal });
      if (phase === 'inference') {
        await fixture.engine.untilRunning(1);
        controller.abort(reason);
      }
      expect(await fixture.failure(running)).to.equal(reason);
      fixture.engine.release();
      await fixture.expectUntouched();
    });
  }

  it('it is aborted in the last moment before the charge', async () => {
    const controller = new AbortController();
    fixture.translator = fakeTranslator(() => {
      controller.abort(new Error('gone'));
      return 'Hallo.';
    });
    const running = fixture.run({ options: TRANSLATED, signal: controller.signal });
    expect((await fixture.failure(running)).message).to.equal('gone');
    await fixture.expectUntouched();
  });

  it('the key is revoked behind the server’s back', async () => {
    const other = await fixture.ledger.keys.create({ accountId: fixture.account.id, name: 'other', scopes: [] });
    fixture.engine.holdAll();
    const running = fixture.run({ keyId: other.id });
    await fixture.engine.untilRunning(1);
    await fixture.ledger.keys.revoke(fixture.account.id, other.id);
    fixture.engine.release();
    expect(await fixture.failure(running)).to.have.property('code', 'invalid_api_key');
    await fixture.expectUntouched();
  });
});
