/** What one transcription costs, on a real ledger. */
import { existsSync, writeFileSync } from 'node:fs';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { fixedEngines } from '../../src/transcription/engine-lease.js';
import { TranscriptionService } from '../../src/transcription/transcription.js';
import type { TranscriptionResult } from '../../src/transcription/result.js';
import { startedMinutes } from '../../src/transcription/price.js';
import { fakeAudio, FakeEngine } from '../support/fake-engine.js';
import { until } from '../support/until.js';
import { answerOf, PLAIN, PRICES, resultOfWork, TRANSLATED, useTranscriptionFixture } from './transcription-fixture.js';

describe('TranscriptionService: charges', () => {
  const fixture = useTranscriptionFixture();

  it('holds while it works, and spends when it is done', async () => {
    fixture.engine.holdAll();
    const running = fixture.run({ options: TRANSLATED });
    await fixture.engine.untilRunning(1);
    expect(await fixture.balance()).to.equal(6);
    expect((await fixture.ledger.history.report(fixture.account.id, 1)).totalCredits).to.equal(0);
    fixture.engine.release();
    const { facts } = await running;
    expect(facts).to.deep.equal({ model: 'fake', audioSeconds: 90, queueMs: 1, inferenceMs: 4 });
    const answer = await answerOf(running);
    const charged = { creditsUsed: 4, creditsRemaining: 6, durationSeconds: 90 };
    expect(answer).to.have.property('result').that.deep.includes(charged);
    expect(await fixture.ledger.history.report(fixture.account.id, 1)).to.include({ totalCredits: 4, totalMinutes: 2 });
  });

  it('removes the audio before it charges', async () => {
    const settle = fixture.ledger.holds.settle.bind(fixture.ledger.holds);
    const atCharge: boolean[] = [];
    fixture.ledger.holds.settle = (...charge) => {
      atCharge.push(existsSync(fixture.audioPath()));
      return settle(...charge);
    };
    await answerOf(fixture.run());
    expect(atCharge).to.deep.equal([false]);
  });

  it('reports what was learned of a request that failed', async () => {
    fixture.translator.translate = () => Promise.reject(new Error('a bug in translation'));
    const { facts } = await fixture.run({ options: TRANSLATED });
    expect(facts).to.deep.equal({ model: 'fake', audioSeconds: 90, queueMs: 1, inferenceMs: 4 });
  });

  it('gives the surcharge back when the spoken language was asked for', async () => {
    await fixture.run({ options: { ...TRANSLATED, translateTo: 'en' } });
    expect(await fixture.balance()).to.equal(8);
  });

  it('holds no surcharge when the given language was asked for', async () => {
    await fixture.ledger.holds.place({
      accountId: fixture.account.id,
      keyId: fixture.key.id,
      requestId: 'other',
      credits: 8,
    });
    await fixture.run({ options: { ...TRANSLATED, language: 'en', translateTo: 'en' } });
    expect(await fixture.balance()).to.equal(0);
  });

  it('records usage at a rate of 0 as well, of an account without credits', async () => {
    await fixture.ledger.holds.place({
      accountId: fixture.account.id,
      keyId: fixture.key.id,
      requestId: 'other',
      credits: 10,
    });
    await answerOf(fixture.service({ creditsPerMinute: 0 }).run(fixture.request()));
    expect(await fixture.balance()).to.equal(0);
    expect(await fixture.ledger.history.report(fixture.account.id, 1)).to.include({ totalCredits: 0, totalMinutes: 2 });
  });

  describe('of a demonstration model', () => {
    beforeEach(() => (fixture.engine.info.isDemonstration = true));

    const answerTo = async (audio: Buffer): Promise<TranscriptionResult> => {
      const asked = fixture.request();
      writeFileSync(asked.audio.path, audio);
      return resultOfWork(fixture.service().run(asked));
    };

    it('says so in every answer', async () => {
      const { warnings, creditsUsed } = await answerTo(fakeAudio(90));
      expect(warnings.map(({ code }) => code)).to.deep.equal(['demonstration_model']);
      expect(creditsUsed).to.equal(2);
    });

    it('charges nothing for speech in which it recognised nothing, and records that', async () => {
      const { text, warnings, creditsUsed, creditsRemaining } = await answerTo(fakeAudio(90, { text: ' ' }));
      expect({ text, creditsUsed, creditsRemaining }).to.deep.equal({ text: '', creditsUsed: 0, creditsRemaining: 10 });
      expect(warnings[0]?.message).to.contain('No text was recognised');
      const database = new Database(fixture.databasePath(), { readonly: true });
      const rows = database.prepare('SELECT minutes, credits FROM usage_events').all();
      database.close();
      expect(rows).to.deep.equal([{ minutes: 0, credits: 0 }]);
    });
  });

  it('counts in the backlog from its hold to its end, and less with every window', async () => {
    fixture.engine.holdAll(1);
    const asked = fixture.request();
    writeFileSync(asked.audio.path, fakeAudio(90, { text: 'One.|Two.|Three.' }));
    const running = fixture.service().run(asked);
    await fixture.engine.untilRunning(1);
    await until(() => fixture.engine.backlog.seconds === 60);
    expect(fixture.engine.admitted).to.equal(1);
    fixture.engine.release();
    await answerOf(running);
    expect(fixture.engine.backlog.seconds).to.equal(0);
  });

  it('asks one model for all of a request, whichever serves meanwhile, and gives it back once', async () => {
    const other = new FakeEngine();
    other.info.modelName = 'other';
    fixture.engine.info.translatesToEnglish = true;
    let given = 0;
    let serving = fixture.engine;
    const changing = new TranscriptionService({
      acquire: (model) => ({ ...fixedEngines(serving, undefined)(model), release: () => void (given += 1) }),
      ...{
        ledger: fixture.ledger,
        diarizer: fixture.diarizer,
        backlog: fixture.engine.backlog,
        keeper: fixture.keeper,
      },
      settings: { ...PRICES, maxAudioSeconds: 600, maxInFlight: 64 },
    });
    expect(changing.offer.targets).to.deep.equal(['en']);
    const asked = fixture.request({ options: { ...PLAIN, translateTo: 'en' } });
    writeFileSync(asked.audio.path, fakeAudio(90, { language: 'de', text: 'Hallo.' }));
    given = 0;
    fixture.engine.holdAll();
    const running = answerOf(changing.run(asked));
    await fixture.engine.untilRunning(1);
    serving = other;
    fixture.engine.release();
    const answer = await running;
    if (!('result' in answer)) throw new Error('an answer of version 0.1.0');
    expect(answer.result.translation?.text).to.equal('into English: Hallo.');
    expect(fixture.engine.transcribed).to.equal(2);
    expect(other.transcribed).to.equal(0);
    expect(given).to.equal(1);
    expect(changing.offer.targets).to.deep.equal([]);
    const options = { ...PLAIN, language: 'de', translateTo: 'en' };
    const error = await fixture.failure(changing.run(fixture.request({ options, idempotencyKey: null })));
    expect(error).to.have.property('code', 'unsupported_translation');
    expect(given).to.be.above(1);
  });

  it('counts started minutes', () => {
    expect([0.001, 59.9, 60, 60.001, 7200].map(startedMinutes)).to.deep.equal([1, 1, 1, 2, 120]);
  });
});
