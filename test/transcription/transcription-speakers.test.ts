/** A transcription with speakers: what it costs, and what it fails with. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { EngineError } from '../../src/engine/native-errors.js';
import { VerbatimError } from '../../src/errors.js';
import type { TranscriptionOptions } from '../../src/transcription/options.js';
import { fakeAudio } from '../support/fake-engine.js';
import { type FakeDiarizer, NO_DIARIZER } from '../support/fake-diarizer.js';
import { until } from '../support/until.js';
import { answerOf, PLAIN, useTranscriptionFixture } from './transcription-fixture.js';

describe('TranscriptionService: with speakers', () => {
  const fixture = useTranscriptionFixture();

  const diarize: TranscriptionOptions = { ...PLAIN, diarize: true };
  const fake = (): FakeDiarizer => fixture.diarizer as FakeDiarizer;

  it('holds and charges for diarization', async () => {
    fake().holdAll();
    const running = fixture.run({ options: diarize });
    await until(() => fake().running === 1 && fixture.engine.transcribed === 1);
    expect(await fixture.balance()).to.equal(4);
    fake().release();
    const answer = await answerOf(running);
    if (!('result' in answer)) return expect.fail('no result');
    expect(answer.result).to.include({ creditsUsed: 6, creditsRemaining: 4 });
    expect(answer.result.words?.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S1']);
    expect(await fixture.ledger.history.report(fixture.account.id, 1)).to.include({ totalCredits: 6, totalMinutes: 2 });
  });

  it('hands the file to the diarizer as soon as it is paid for, while it is transcribed', async () => {
    fixture.engine.holdAll();
    const running = fixture.run({ options: { ...diarize, minSpeakers: 2, maxSpeakers: 3 } });
    await until(() => fake().asked.length === 1);
    expect(fake().asked[0]).to.include({
      ...{
        path: fixture.audioPath(),
        accountId: fixture.account.id,
        durationSeconds: 90,
        minSpeakers: 2,
        maxSpeakers: 3,
      },
      background: false,
    });
    expect(await fixture.balance()).to.equal(4);
    fixture.engine.release();
    await answerOf(running);
  });

  it('does not charge for speakers where nobody speaks', async () => {
    fake().turns = [];
    const silent = fixture.request({ options: diarize });
    writeFileSync(fixture.audioPath(), fakeAudio(90, { text: ' ' }));
    const answer = await answerOf(fixture.service().run(silent));
    expect(answer).to.have.nested.property('result.segments').that.deep.equals([]);
    expect(await fixture.balance()).to.equal(8);
  });

  it('asks nobody where nobody asks who speaks', async () => {
    await answerOf(fixture.run());
    expect(fake().asked).to.deep.equal([]);
    expect(await fixture.balance()).to.equal(8);
  });

  describe('charges nothing when', () => {
    it('speakers cannot be identified', async () => {
      fixture.diarizer = NO_DIARIZER;
      const error = await fixture.failure(fixture.run({ options: diarize }));
      expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
      expect(error.message).to.equal(NO_DIARIZER.unavailable);
      await fixture.expectUntouched();
    });

    it('the speech model aligns no words', async () => {
      fixture.engine.info.alignsWords = false;
      const error = await fixture.failure(fixture.run({ options: diarize }));
      expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
      await fixture.expectUntouched();
    });

    it('they cannot be identified in the language that is given: the file is not looked at', async () => {
      fake().languages = ['en'];
      const text = fixture.request({ options: { ...diarize, language: 'de' } });
      writeFileSync(fixture.audioPath(), 'hello');
      const error = await fixture.failure(fixture.service().run(text));
      expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
      expect(error.message).to.contain('"de"');
      await fixture.expectUntouched();
    });

    it('they cannot be identified in any language of the speech model', async () => {
      fake().languages = ['fi'];
      const error = await fixture.failure(fixture.run({ options: diarize }));
      expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
      await fixture.expectUntouched();
    });

    it('they cannot be identified in the language that is detected', async () => {
      fake().languages = ['en'];
      const german = fixture.request({ options: diarize });
      writeFileSync(fixture.audioPath(), fakeAudio(90, { language: 'de', text: 'Hallo.' }));
      const error = await fixture.failure(fixture.service().run(german));
      expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
      await fixture.expectUntouched();
    });

    it('the process that identifies them fails: the transcription is ended', async () => {
      fixture.engine.holdAll();
      fake().failWith = new EngineError('internal_error', 'The speaker process died: /secret/path.');
      const error = await fixture.failure(fixture.run({ options: diarize }));
      expect(error).to.include({ code: 'internal_error' });
      expect(error.message).not.to.contain('/secret/path');
      fixture.engine.release();
      await fixture.expectUntouched();
    });

    it('it is overloaded', async () => {
      const overloaded = new VerbatimError('overloaded', 'later', { retryAfterSeconds: 7 });
      fake().failWith = overloaded;
      expect(await fixture.failure(fixture.run({ options: diarize }))).to.equal(overloaded);
      await fixture.expectUntouched();
    });

    it('the transcription fails: nobody listens any more', async () => {
      fake().holdAll();
      fixture.engine.failWith = new Error('a bug');
      expect((await fixture.failure(fixture.run({ options: diarize }))).message).to.equal('a bug');
      expect(fake().asked[0]?.signal?.aborted).to.equal(true);
      expect(fake().running).to.equal(0);
      await fixture.expectUntouched();
    });

    it('it is aborted while only the speakers are still to be identified', async () => {
      fake().holdAll();
      const controller = new AbortController();
      const running = fixture.run({ options: diarize, signal: controller.signal });
      await until(() => fixture.engine.transcribed === 1 && fake().running === 1);
      controller.abort(new Error('gone'));
      expect((await fixture.failure(running)).message).to.equal('gone');
      expect(fake().running).to.equal(0);
      await fixture.expectUntouched();
    });

    it('the credits do not cover the surcharge', async () => {
      const prices = { diarizationCreditsPerMinute: 5 };
      const error = await fixture.failure(fixture.service(prices).run(fixture.request({ options: diarize })));
      expect(error).to.have.property('code', 'insufficient_credits');
      await fixture.expectUntouched();
    });
  });
});
