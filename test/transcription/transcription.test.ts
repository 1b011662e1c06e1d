/** The money around one transcription, on a real ledger: whatever fails, nothing is charged and nothing stays held. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { VerbatimError } from '../../src/errors.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Account, CreatedKey, Ledger } from '../../src/ledger/types.js';
import { retryAfterSeconds } from '../../src/engine/speech/retry-after.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import {
  type TranscriptionFacts,
  type TranscriptionRequest,
  TranscriptionService,
  startedMinutes,
} from '../../src/transcription/transcription.js';
import { fakeAudio, FakeEngine } from '../support/fake-engine.js';

describe('TranscriptionService', () => {
  let directory: string;
  let ledger: Ledger;
  let engine: FakeEngine;
  let account: Account;
  let key: CreatedKey;
  let translator: TextTranslator;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-test-'));
    ledger = createLedger({ path: join(directory, 'verbatim.db'), secret: 'a secret for the tests' });
    engine = new FakeEngine();
    account = ledger.createAccount({ email: 'ann@example.com' });
    key = ledger.createKey({ accountId: account.id, name: 'k', scopes: [] });
    ledger.grantCredits({ accountId: account.id, amount: 10 });
    translator = { supports: () => true, translate: () => Promise.resolve('Hallo.') };
  });
  afterEach(() => {
    expect(ledger.audit()).to.deep.equal([]);
    expect(engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
    ledger.close();
    rmSync(directory, { recursive: true });
  });

  const service = (settings = {}): TranscriptionService =>
    new TranscriptionService({
      ledger,
      engine,
      translator,
      settings: { maxAudioSeconds: 600, creditsPerMinute: 1, translationCreditsPerMinute: 1, ...settings },
    });

  function request(overrides: Partial<TranscriptionRequest> = {}): TranscriptionRequest {
    const path = join(directory, 'audio');
    writeFileSync(path, fakeAudio(90));
    return {
      requestId: 'req_1',
      accountId: account.id,
      keyId: key.id,
      endpoint: '/api/v1/transcribe',
      audio: { path, sha256: 'abc' },
      options: { language: null, translateTo: null, punctuate: true, diarize: false },
      idempotencyKey: 'once',
      signal: new AbortController().signal,
      learned: () => undefined,
      discardAudio: () => Promise.resolve(),
      render: (result) => JSON.stringify(result),
      ...overrides,
    };
  }

  const translated = { language: null, translateTo: 'de', punctuate: true, diarize: false };

  async function rejection(work: Promise<unknown>): Promise<Error> {
    return work.then(
      () => expect.fail('resolved'),
      (error: unknown) => error as Error,
    );
  }

  /** Nothing charged, nothing held, and the Idempotency-Key is free for the next attempt. */
  async function expectUntouched(): Promise<void> {
    expect(ledger.balance(account.id).balance).to.equal(10);
    expect(ledger.usage(account.id, 1).totalCredits).to.equal(0);
    const again = await service().run(request());
    expect(again.replayed).to.equal(false);
    expect(ledger.balance(account.id).balance).to.equal(8);
  }

  it('holds while it works, and spends when it is done', async () => {
    engine.holdAll();
    const facts: TranscriptionFacts = {};
    const learned = (fact: TranscriptionFacts): void => void Object.assign(facts, fact);
    const running = service().run(request({ options: translated, learned }));
    await engine.untilRunning(1);
    expect(facts).to.deep.equal({ audioSeconds: 90 });
    expect(ledger.balance(account.id).balance).to.equal(6);
    expect(ledger.usage(account.id, 1).totalCredits).to.equal(0);
    engine.release();
    const { body } = await running;
    expect(facts).to.deep.equal({ audioSeconds: 90, queueMs: 1, inferenceMs: 4 });
    expect(JSON.parse(body)).to.deep.include({ creditsUsed: 4, creditsRemaining: 6, durationSeconds: 90 });
    expect(ledger.usage(account.id, 1)).to.include({ totalCredits: 4, totalMinutes: 2 });
  });

  it('discards the audio before it charges', async () => {
    const charged: number[] = [];
    const note = (): unknown => charged.push(ledger.usage(account.id, 1).totalCredits);
    await service().run(
      request({
        discardAudio: () =>
          Promise.resolve()
            .then(note)
            .then(() => undefined),
      }),
    );
    note();
    expect(charged).to.deep.equal([0, 2]);
  });

  it('gives the surcharge back when the spoken language was asked for', async () => {
    await service().run(request({ options: { ...translated, translateTo: 'en' } }));
    expect(ledger.balance(account.id).balance).to.equal(8);
  });

  it('holds no surcharge when the given language was asked for', async () => {
    ledger.hold({ accountId: account.id, keyId: key.id, requestId: 'other', credits: 8 });
    await service().run(request({ options: { ...translated, language: 'en', translateTo: 'en' } }));
    expect(ledger.balance(account.id).balance).to.equal(0);
  });

  it('books usage at a rate of 0 as well', async () => {
    await service({ creditsPerMinute: 0 }).run(request());
    expect(ledger.balance(account.id).balance).to.equal(10);
    expect(ledger.usage(account.id, 1)).to.include({ totalCredits: 0, totalMinutes: 2 });
  });

  describe('charges nothing when', () => {
    it('the engine fails', async () => {
      engine.failWith = new Error('a bug');
      expect(await rejection(service().run(request()))).to.have.property('message', 'a bug');
      await expectUntouched();
    });

    it('the backlog is full', async () => {
      engine.backlogSeconds = 36_000;
      expect(await rejection(service().run(request()))).to.have.property('code', 'overloaded');
      engine.backlogSeconds = 0;
      await expectUntouched();
    });

    it('the translation fails', async () => {
      translator.translate = () => Promise.reject(new Error('a bug in translation'));
      const error = await rejection(service().run(request({ options: translated })));
      expect(error.message).to.equal('a bug in translation');
      await expectUntouched();
    });

    it('the pair turns out not to be covered', async () => {
      translator.supports = () => false;
      const error = await rejection(service().run(request({ options: translated })));
      expect(error).to.have.property('code', 'unsupported_translation');
      await expectUntouched();
    });

    it('the answer cannot be rendered', async () => {
      const render = (): string => {
        throw new Error('a bug in rendering');
      };
      expect((await rejection(service().run(request({ render })))).message).to.equal('a bug in rendering');
      await expectUntouched();
    });

    it('the file is no audio', async () => {
      const path = join(directory, 'text');
      writeFileSync(path, 'hello');
      const error = await rejection(service().run(request({ audio: { path, sha256: 'x' } })));
      expect(error).to.have.property('code', 'unsupported_audio_format');
      await expectUntouched();
    });

    it('the audio is too long', async () => {
      const error = await rejection(service({ maxAudioSeconds: 89 }).run(request()));
      expect(error).to.include({ code: 'audio_too_long', param: 'audio' });
      await expectUntouched();
    });

    it('the credits do not suffice', async () => {
      const error = await rejection(service({ creditsPerMinute: 6 }).run(request()));
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
        expect(await rejection(running)).to.equal(reason);
        engine.release();
        await expectUntouched();
      });
    }

    it('it is aborted in the last moment before the charge', async () => {
      const controller = new AbortController();
      translator.translate = () => {
        controller.abort(new Error('gone'));
        return Promise.resolve('Hallo.');
      };
      const running = service().run(request({ options: translated, signal: controller.signal }));
      expect((await rejection(running)).message).to.equal('gone');
      await expectUntouched();
    });

    it('the key is revoked behind the server’s back', async () => {
      const other = ledger.createKey({ accountId: account.id, name: 'other', scopes: [] });
      engine.holdAll();
      const running = service().run(request({ keyId: other.id }));
      await engine.untilRunning(1);
      ledger.revokeKey(account.id, other.id);
      engine.release();
      expect(await rejection(running)).to.have.property('code', 'invalid_api_key');
      await expectUntouched();
    });
  });

  it('counts started minutes', () => {
    expect([0.001, 59.9, 60, 60.001, 7200].map(startedMinutes)).to.deep.equal([1, 1, 1, 2, 120]);
  });

  it('computes Retry-After from the backlog', () => {
    const after = (backlogSeconds: number, realTimeFactor: number): number =>
      retryAfterSeconds({ backlogSeconds, realTimeFactor });
    expect([after(0, 0.1), after(100, 0.1), after(101, 0.1), after(100, NaN)]).to.deep.equal([1, 10, 11, 1]);
  });
});
