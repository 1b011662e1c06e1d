/** The money around one transcription, on a real ledger: whatever fails, nothing is charged and nothing stays held. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { EngineError } from '../../src/engine/native-errors.js';
import type { NoDiarizer } from '../../src/engine/types.js';
import { VerbatimError } from '../../src/errors.js';
import { transcriptionBody } from '../../src/http/api/transcription-schema.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Account, IssuedKey, Ledger } from '../../src/ledger/types.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import { lendAlways } from '../../src/transcription/lent-engines.js';
import {
  type TranscriptionAnswer,
  type TranscriptionOutcome,
  type TranscriptionRequest,
  TranscriptionService,
} from '../../src/transcription/transcription.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from '../../src/transcription/options.js';
import { startedMinutes } from '../../src/transcription/price.js';
import { fakeAudio, FakeEngine } from '../support/fake-engine.js';
import { FakeDiarizer, NO_DIARIZER } from '../support/fake-diarizer.js';
import { until } from '../support/until.js';
import { fakeTranslator } from '../support/fake-translator.js';

const plain: TranscriptionOptions = {
  ...{ language: null, translateTo: null, punctuate: true, diarize: false, ...ANY_SPEAKERS },
  ...{ timestamps: 'none', format: 'json', prompt: null, describe: false, temperature: 0 },
};

const PRICES = { creditsPerMinute: 1, translationCreditsPerMinute: 1, diarizationCreditsPerMinute: 2 };

describe('TranscriptionService', () => {
  let directory: string;
  let ledger: Ledger;
  let engine: FakeEngine;
  let account: Account;
  let key: IssuedKey;
  let translator: TextTranslator;
  let diarizer: FakeDiarizer | NoDiarizer;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-test-'));
    ledger = createLedger({ path: join(directory, 'verbatim.db'), secret: 'a secret for the tests' });
    engine = new FakeEngine();
    account = await ledger.createAccount({ email: 'ann@example.com' });
    key = await ledger.createKey({ accountId: account.id, name: 'k', scopes: [] });
    await ledger.grantCredits({ accountId: account.id, amount: 10 });
    translator = fakeTranslator(() => 'Hallo.');
    diarizer = new FakeDiarizer();
  });
  afterEach(async () => {
    expect(await ledger.audit()).to.deep.equal([]);
    expect(engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
    await ledger.close();
    rmSync(directory, { recursive: true });
  });

  const audioPath = (): string => join(directory, 'audio');
  const service = (settings = {}): TranscriptionService =>
    new TranscriptionService({
      ledger,
      lend: lendAlways(engine, translator),
      diarizer,
      settings: { ...PRICES, maxAudioSeconds: 600, maxInFlight: 64, ...settings },
    });

  function request(overrides: Partial<TranscriptionRequest> = {}): TranscriptionRequest {
    const path = audioPath();
    writeFileSync(path, fakeAudio(90));
    return {
      requestId: 'req_1',
      accountId: account.id,
      keyId: key.id,
      endpoint: '/api/v1/transcribe',
      audio: { path, sha256: 'abc' },
      options: plain,
      idempotencyKey: 'once',
      signal: new AbortController().signal,
      ...overrides,
    };
  }

  const translated: TranscriptionOptions = { ...plain, translateTo: 'de' };

  /** What the request failed with; its audio is gone. */
  async function failure(work: Promise<TranscriptionOutcome>): Promise<Error> {
    const outcome = await work;
    expect(existsSync(audioPath())).to.equal(false);
    if ('error' in outcome) return outcome.error as Error;
    return expect.fail('answered');
  }

  async function answerOf(work: Promise<TranscriptionOutcome>): Promise<TranscriptionAnswer> {
    const outcome = await work;
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }

  /** Nothing charged, nothing held, and the Idempotency-Key is free for the next attempt. */
  async function expectUntouched(): Promise<void> {
    expect((await ledger.balance(account.id)).balance).to.equal(10);
    expect((await ledger.usage(account.id, 1)).totalCredits).to.equal(0);
    const again = await answerOf(service().run(request()));
    expect(again.replayed).to.equal(false);
    expect((await ledger.balance(account.id)).balance).to.equal(8);
  }

  it('holds while it works, and spends when it is done', async () => {
    engine.holdAll();
    const running = service().run(request({ options: translated }));
    await engine.untilRunning(1);
    expect((await ledger.balance(account.id)).balance).to.equal(6);
    expect((await ledger.usage(account.id, 1)).totalCredits).to.equal(0);
    engine.release();
    const { facts } = await running;
    expect(facts).to.deep.equal({ audioSeconds: 90, queueMs: 1, inferenceMs: 4 });
    const answer = await answerOf(running);
    const charged = { creditsUsed: 4, creditsRemaining: 6, durationSeconds: 90 };
    expect(answer).to.have.property('result').that.deep.includes(charged);
    expect(await ledger.usage(account.id, 1)).to.include({ totalCredits: 4, totalMinutes: 2 });
  });

  it('removes the audio before it charges', async () => {
    const settle = ledger.settle.bind(ledger);
    const atCharge: boolean[] = [];
    ledger.settle = (...charge) => {
      atCharge.push(existsSync(audioPath()));
      return settle(...charge);
    };
    await answerOf(service().run(request()));
    expect(atCharge).to.deep.equal([false]);
  });

  it('gives a repeat the same answer, and removes its audio too', async () => {
    const odd = 'Hello \ud800, "World"\u0000 \u2028 \u{1f600}';
    translator = fakeTranslator(() => odd);
    const first = await answerOf(service().run(request({ options: translated })));
    const again = await answerOf(service().run(request({ options: translated })));
    expect(again.replayed).to.equal(true);
    expect(existsSync(audioPath())).to.equal(false);
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(again.result).to.deep.equal(first.result);
    expect(JSON.stringify(transcriptionBody(again.result))).to.equal(
      JSON.stringify(transcriptionBody(first.result)),
    );
    expect((await ledger.balance(account.id)).balance).to.equal(6);
  });

  it('tells what was learned of a request that failed', async () => {
    translator.translate = () => Promise.reject(new Error('a bug in translation'));
    const { facts } = await service().run(request({ options: translated }));
    expect(facts).to.deep.equal({ audioSeconds: 90, queueMs: 1, inferenceMs: 4 });
  });

  it('gives a repeat the times that the first one had', async () => {
    const timed = request({ options: { ...translated, timestamps: 'word', translateTo: 'en' } });
    const first = await answerOf(service().run(timed));
    writeFileSync(audioPath(), fakeAudio(90));
    const again = await answerOf(service().run(timed));
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(first.result.words).to.have.length(2);
    expect(first.result.translation?.segments).to.deep.equal(first.result.segments);
    expect(again.result).to.deep.equal(first.result);
  });

  it('knows what was stored before there were times', async () => {
    const first = await answerOf(service().run(request({ options: translated })));
    const database = new Database(join(directory, 'verbatim.db'));
    database.exec(
      `UPDATE idempotency_records SET result = json_remove(json_set(result, '$.version', 1), '$.segments', '$.words',
         '$.described', '$.translation.segments', '$.translation.described')`,
    );
    const { result } = database.prepare('SELECT result FROM idempotency_records').get() as { result: string };
    expect(Object.keys(JSON.parse(result) as object)).to.have.members([
      ...['version', 'id', 'durationSeconds', 'language', 'text', 'translation', 'warnings'],
    ]);
    database.close();
    const again = await answerOf(service().run(request({ options: translated })));
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(again.result).to.deep.equal(first.result);
  });

  it('knows what was stored before segments told how they were decoded', async () => {
    const timed = request({ options: { ...translated, timestamps: 'word', translateTo: 'en' } });
    const first = await answerOf(service().run(timed));
    const database = new Database(join(directory, 'verbatim.db'));
    database.exec(
      `UPDATE idempotency_records SET result = json_remove(json_set(result, '$.version', 2), '$.described',
         '$.translation.described')`,
    );
    database.close();
    const again = await answerOf(service().run(timed));
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(again.result).to.deep.equal(first.result);
  });

  it('gives a repeat the segments as they were decoded', async () => {
    const verbose = request({ options: { ...translated, describe: true, translateTo: 'en' } });
    const first = await answerOf(service().run(verbose));
    writeFileSync(audioPath(), fakeAudio(90));
    const again = await answerOf(service().run(verbose));
    if (!('result' in first && 'result' in again)) return expect.fail('no results');
    expect(first.result.described?.[0]?.tokens).to.have.length.above(2);
    expect(first.result.translation?.described).to.deep.equal(first.result.described);
    expect(again.result).to.deep.equal(first.result);
  });

  it('refuses a stored result of a form it does not know, uncharged', async () => {
    await answerOf(service().run(request()));
    const database = new Database(join(directory, 'verbatim.db'));
    database.exec(`UPDATE idempotency_records SET result = json_set(result, '$.version', 5)`);
    database.close();
    expect((await failure(service().run(request()))).message).to.contain('cannot read');
    expect((await ledger.balance(account.id)).balance).to.equal(8);
  });

  it('gives the surcharge back when the spoken language was asked for', async () => {
    await service().run(request({ options: { ...translated, translateTo: 'en' } }));
    expect((await ledger.balance(account.id)).balance).to.equal(8);
  });

  it('holds no surcharge when the given language was asked for', async () => {
    await ledger.hold({ accountId: account.id, keyId: key.id, requestId: 'other', credits: 8 });
    await service().run(request({ options: { ...translated, language: 'en', translateTo: 'en' } }));
    expect((await ledger.balance(account.id)).balance).to.equal(0);
  });

  it('books usage at a rate of 0 as well, of an account without credits', async () => {
    await ledger.hold({ accountId: account.id, keyId: key.id, requestId: 'other', credits: 10 });
    await answerOf(service({ creditsPerMinute: 0 }).run(request()));
    expect((await ledger.balance(account.id)).balance).to.equal(0);
    expect(await ledger.usage(account.id, 1)).to.include({ totalCredits: 0, totalMinutes: 2 });
  });

  describe('charges nothing when', () => {
    it('the engine fails while the hold is on its way', async () => {
      const hold = ledger.hold.bind(ledger);
      let placed = false;
      ledger.hold = async (input) => {
        await new Promise((resolve) => setImmediate(resolve));
        const made = await hold(input);
        placed = true;
        return made;
      };
      const transcribeFile = engine.transcribeFile.bind(engine);
      engine.transcribeFile = ({ measured }) => {
        void measured?.(90);
        return Promise.reject(new Error('a bug'));
      };
      expect((await failure(service().run(request()))).message).to.equal('a bug');
      expect(placed).to.equal(true);
      engine.transcribeFile = transcribeFile;
      await expectUntouched();
    });

    it('the engine fails', async () => {
      engine.failWith = new Error('a bug');
      expect(await failure(service().run(request()))).to.have.property('message', 'a bug');
      await expectUntouched();
    });

    it('the backlog is full', async () => {
      engine.backlogSeconds = 144_000;
      expect(await failure(service().run(request()))).to.have.property('code', 'overloaded');
      engine.backlogSeconds = 0;
      await expectUntouched();
    });

    it('the translation fails', async () => {
      translator.translate = () => Promise.reject(new Error('a bug in translation'));
      const error = await failure(service().run(request({ options: translated })));
      expect(error.message).to.equal('a bug in translation');
      await expectUntouched();
    });

    it('the pair turns out not to be covered', async () => {
      translator.supports = () => false;
      const error = await failure(service().run(request({ options: translated })));
      expect(error).to.have.property('code', 'unsupported_translation');
      await expectUntouched();
    });

    it('the file is no audio', async () => {
      const text = request();
      writeFileSync(audioPath(), 'hello');
      const error = await failure(service().run(text));
      expect(error).to.have.property('code', 'unsupported_audio_format');
      await expectUntouched();
    });

    it('the audio is too long', async () => {
      const error = await failure(service({ maxAudioSeconds: 89 }).run(request()));
      expect(error).to.include({ code: 'audio_too_long', param: 'audio' });
      await expectUntouched();
    });

    it('the credits cover not even a started minute: the file is not looked at', async () => {
      const text = request();
      writeFileSync(audioPath(), 'hello');
      const error = await failure(service({ creditsPerMinute: 11 }).run(text));
      expect(error).to.include({ code: 'insufficient_credits' });
      expect(error.message).to.include('at least 11 credits; the account has 10');
      await expectUntouched();
    });

    it('the credits do not suffice', async () => {
      const error = await failure(service({ creditsPerMinute: 6 }).run(request()));
      expect(error).to.have.property('code', 'insufficient_credits');
      await expectUntouched();
    });

    for (const phase of ['inference', 'translation'] as const) {
      it(`it is aborted during ${phase}`, async () => {
        const controller = new AbortController();
        const reason = new VerbatimError('invalid_api_key', 'revoked');
        translator.translate = ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
            setImmediate(() => controller.abort(reason));
          });
        if (phase === 'inference') engine.holdAll();
        const running = service().run(request({ options: translated, signal: controller.signal }));
        if (phase === 'inference') {
          await engine.untilRunning(1);
          controller.abort(reason);
        }
        expect(await failure(running)).to.equal(reason);
        engine.release();
        await expectUntouched();
      });
    }

    it('it is aborted in the last moment before the charge', async () => {
      const controller = new AbortController();
      translator = fakeTranslator(() => {
        controller.abort(new Error('gone'));
        return 'Hallo.';
      });
      const running = service().run(request({ options: translated, signal: controller.signal }));
      expect((await failure(running)).message).to.equal('gone');
      await expectUntouched();
    });

    it('the key is revoked behind the server’s back', async () => {
      const other = await ledger.createKey({ accountId: account.id, name: 'other', scopes: [] });
      engine.holdAll();
      const running = service().run(request({ keyId: other.id }));
      await engine.untilRunning(1);
      await ledger.revokeKey(account.id, other.id);
      engine.release();
      expect(await failure(running)).to.have.property('code', 'invalid_api_key');
      await expectUntouched();
    });
  });

  describe('with speakers', () => {
    const diarize: TranscriptionOptions = { ...plain, diarize: true };
    const fake = (): FakeDiarizer => diarizer as FakeDiarizer;

    it('holds and charges for telling who speaks', async () => {
      fake().holdAll();
      const running = service().run(request({ options: diarize }));
      await until(() => fake().running === 1 && engine.transcribed === 1);
      expect((await ledger.balance(account.id)).balance).to.equal(4);
      fake().release();
      const answer = await answerOf(running);
      if (!('result' in answer)) return expect.fail('no result');
      expect(answer.result).to.include({ creditsUsed: 6, creditsRemaining: 4 });
      expect(answer.result.words?.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S1']);
      expect(await ledger.usage(account.id, 1)).to.include({ totalCredits: 6, totalMinutes: 2 });
    });

    it('tells the diarizer of the file as soon as it is paid for, while it is transcribed', async () => {
      engine.holdAll();
      const running = service().run(request({ options: { ...diarize, minSpeakers: 2, maxSpeakers: 3 } }));
      await until(() => fake().asked.length === 1);
      expect(fake().asked[0]).to.include({
        ...{ path: audioPath(), accountId: account.id, durationSeconds: 90, minSpeakers: 2, maxSpeakers: 3 },
        background: false,
      });
      expect((await ledger.balance(account.id)).balance).to.equal(4);
      engine.release();
      await answerOf(running);
    });

    it('does not charge for speakers where nobody speaks', async () => {
      fake().turns = [];
      const silent = request({ options: diarize });
      writeFileSync(audioPath(), fakeAudio(90, { text: ' ' }));
      const answer = await answerOf(service().run(silent));
      expect(answer).to.have.nested.property('result.segments').that.deep.equals([]);
      expect((await ledger.balance(account.id)).balance).to.equal(8);
    });

    it('asks nobody where nobody asks who speaks', async () => {
      await answerOf(service().run(request()));
      expect(fake().asked).to.deep.equal([]);
      expect((await ledger.balance(account.id)).balance).to.equal(8);
    });

    it('gives a repeat the speakers that the first one had, of the translation, too', async () => {
      const asked = request({ options: { ...diarize, translateTo: 'en' } });
      const first = await answerOf(service().run(asked));
      writeFileSync(audioPath(), fakeAudio(90));
      const again = await answerOf(service().run(asked));
      if (!('result' in first && 'result' in again)) return expect.fail('no results');
      expect(first.result.translation?.segments?.[0]).to.include({ speaker: 'S1' });
      expect(again.replayed).to.equal(true);
      expect(again.result).to.deep.equal(first.result);
      expect(fake().asked).to.have.length(1);
    });

    it('knows what was stored before there were speakers', async () => {
      const timed = request({
        options: { ...translated, timestamps: 'word', describe: true, translateTo: 'en' },
      });
      const first = await answerOf(service().run(timed));
      const database = new Database(join(directory, 'verbatim.db'));
      const row = database.prepare('SELECT result FROM idempotency_records').get() as { result: string };
      const stored = JSON.parse(row.result) as Record<string, unknown> & {
        translation: Record<string, unknown>;
      };
      const without = (texts: unknown): unknown => (texts as unknown[][]).map((text) => text.slice(0, -1));
      const older = {
        ...stored,
        ...{ version: 3, segments: without(stored['segments']), words: without(stored['words']) },
        translation: { ...stored.translation, segments: without(stored.translation['segments']) },
      };
      database.prepare('UPDATE idempotency_records SET result = ?').run(JSON.stringify(older));
      database.close();
      const again = await answerOf(service().run(timed));
      if (!('result' in first && 'result' in again)) return expect.fail('no results');
      expect(again.result).to.deep.equal(first.result);
    });

    describe('charges nothing when', () => {
      it('speakers cannot be told', async () => {
        diarizer = NO_DIARIZER;
        const error = await failure(service().run(request({ options: diarize })));
        expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
        expect(error.message).to.equal(NO_DIARIZER.unavailable);
        await expectUntouched();
      });

      it('the speech model aligns no words', async () => {
        engine.alignsWords = false;
        const error = await failure(service().run(request({ options: diarize })));
        expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
        await expectUntouched();
      });

      it('they cannot be told in the language that is given: the file is not looked at', async () => {
        fake().languages = ['en'];
        const text = request({ options: { ...diarize, language: 'de' } });
        writeFileSync(audioPath(), 'hello');
        const error = await failure(service().run(text));
        expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
        expect(error.message).to.contain('"de"');
        await expectUntouched();
      });

      it('they cannot be told in any language of the speech model', async () => {
        fake().languages = ['fi'];
        const error = await failure(service().run(request({ options: diarize })));
        expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
        await expectUntouched();
      });

      it('they cannot be told in the language that is detected', async () => {
        fake().languages = ['en'];
        const german = request({ options: diarize });
        writeFileSync(audioPath(), fakeAudio(90, { language: 'de', text: 'Hallo.' }));
        const error = await failure(service().run(german));
        expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
        await expectUntouched();
      });

      it('the process that tells them fails: the transcription is ended', async () => {
        engine.holdAll();
        fake().failWith = new EngineError('internal_error', 'The speaker process died: /secret/path.');
        const error = await failure(service().run(request({ options: diarize })));
        expect(error).to.include({ code: 'internal_error' });
        expect(error.message).not.to.contain('/secret/path');
        engine.release();
        await expectUntouched();
      });

      it('it is overloaded', async () => {
        const overloaded = new VerbatimError('overloaded', 'later', { retryAfterSeconds: 7 });
        fake().failWith = overloaded;
        expect(await failure(service().run(request({ options: diarize })))).to.equal(overloaded);
        await expectUntouched();
      });

      it('the transcription fails: nobody listens any more', async () => {
        fake().holdAll();
        engine.failWith = new Error('a bug');
        expect((await failure(service().run(request({ options: diarize })))).message).to.equal('a bug');
        expect(fake().asked[0]?.signal?.aborted).to.equal(true);
        expect(fake().running).to.equal(0);
        await expectUntouched();
      });

      it('it is aborted while only the speakers are still to be told', async () => {
        fake().holdAll();
        const controller = new AbortController();
        const running = service().run(request({ options: diarize, signal: controller.signal }));
        await until(() => engine.transcribed === 1 && fake().running === 1);
        controller.abort(new Error('gone'));
        expect((await failure(running)).message).to.equal('gone');
        expect(fake().running).to.equal(0);
        await expectUntouched();
      });

      it('the credits do not cover the surcharge', async () => {
        const prices = { diarizationCreditsPerMinute: 5 };
        const error = await failure(service(prices).run(request({ options: diarize })));
        expect(error).to.have.property('code', 'insufficient_credits');
        await expectUntouched();
      });
    });
  });

  it('asks one model for all of a request, whichever serves meanwhile, and gives it back once', async () => {
    const other = new FakeEngine();
    other.modelName = 'other';
    engine.translatesToEnglish = true;
    let given = 0;
    let serving = engine;
    const changing = new TranscriptionService({
      lend: () => ({ engine: serving, translator: undefined, giveBack: () => void (given += 1) }),
      ...{ ledger, diarizer, settings: { ...PRICES, maxAudioSeconds: 600, maxInFlight: 64 } },
    });
    expect(changing.offer.targets).to.deep.equal(['en']);
    const asked = request({ options: { ...plain, translateTo: 'en' } });
    writeFileSync(asked.audio.path, fakeAudio(90, { language: 'de', text: 'Hallo.' }));
    given = 0;
    engine.holdAll();
    const running = answerOf(changing.run(asked));
    await engine.untilRunning(1);
    serving = other;
    engine.release();
    const answer = await running;
    if (!('result' in answer)) throw new Error('an answer of version 0.1.0');
    expect(answer.result.translation?.text).to.equal('into English: Hallo.');
    expect(engine.transcribed).to.equal(2);
    expect(other.transcribed).to.equal(0);
    expect(given).to.equal(1);
    expect(changing.offer.targets).to.deep.equal([]);
    const options = { ...plain, language: 'de', translateTo: 'en' };
    const error = await failure(changing.run(request({ options, idempotencyKey: null })));
    expect(error).to.have.property('code', 'unsupported_translation');
    expect(given).to.be.above(1);
  });

  it('counts started minutes', () => {
    expect([0.001, 59.9, 60, 60.001, 7200].map(startedMinutes)).to.deep.equal([1, 1, 1, 2, 120]);
  });
});
