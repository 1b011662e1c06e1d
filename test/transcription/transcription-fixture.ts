/** What a TranscriptionService stands on, on a real ledger with fakes around it. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { NoDiarizer } from '../../src/engine/types.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Account, IssuedKey } from '../../src/ledger/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import type { TranscriptKeeper } from '../../src/transcription/keep.js';
import { fixedEngines } from '../../src/transcription/engine-lease.js';
import {
  type TranscriptionAnswer,
  type TranscriptionOutcome,
  type TranscriptionRequest,
  TranscriptionService,
} from '../../src/transcription/transcription.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from '../../src/transcription/options.js';
import type { TranscriptionResult } from '../../src/transcription/result.js';
import { fakeAudio, FakeEngine } from '../support/fake-engine.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { fakeTranslator } from '../support/fake-translator.js';

export const PLAIN: TranscriptionOptions = {
  ...{ language: null, translateTo: null, punctuate: true, diarize: false, ...ANY_SPEAKERS },
  ...{ model: null, timestamps: 'none', format: 'json', prompt: null, describe: false, temperature: 0 },
};
export const TRANSLATED: TranscriptionOptions = { ...PLAIN, translateTo: 'de' };

export const PRICES = { creditsPerMinute: 1, translationCreditsPerMinute: 1, diarizationCreditsPerMinute: 2 };

/** One account with 10 credits and one key. */
export class TranscriptionFixture {
  directory = '';
  ledger!: Ledger;
  engine!: FakeEngine;
  account!: Account;
  key!: IssuedKey;
  translator!: TextTranslator;
  diarizer!: FakeDiarizer | NoDiarizer;

  keeper: TranscriptKeeper = { prepare: () => Promise.resolve(null) };

  async open(): Promise<void> {
    this.directory = mkdtempSync(join(tmpdir(), 'verbatim-test-'));
    this.ledger = createLedger({ path: this.databasePath(), secret: 'a secret for the tests' });
    this.engine = new FakeEngine();
    this.account = await this.ledger.accounts.create({ email: 'ann@example.com' });
    this.key = await this.ledger.keys.create({ accountId: this.account.id, name: 'k', scopes: [] });
    await this.ledger.credits.grant({ accountId: this.account.id, amount: 10 });
    this.translator = fakeTranslator(() => 'Hallo.');
    this.diarizer = new FakeDiarizer();
  }

  async close(): Promise<void> {
    expect(await this.ledger.audit()).to.deep.equal([]);
    expect(this.engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
    await this.ledger.close();
    rmSync(this.directory, { recursive: true });
  }

  databasePath(): string {
    return join(this.directory, 'verbatim.db');
  }

  audioPath(): string {
    return join(this.directory, 'audio');
  }

  service(settings = {}): TranscriptionService {
    const { ledger, engine, translator, diarizer } = this;
    return new TranscriptionService({
      acquire: fixedEngines(engine, translator),
      ...{ ledger, diarizer, backlog: engine.backlog, keeper: this.keeper },
      settings: { ...PRICES, maxAudioSeconds: 600, maxInFlight: 64, ...settings },
    });
  }

  request(overrides: Partial<TranscriptionRequest> = {}): TranscriptionRequest {
    const path = this.audioPath();
    writeFileSync(path, fakeAudio(90));
    return {
      requestId: 'req_1',
      accountId: this.account.id,
      keyId: this.key.id,
      endpoint: '/api/v1/transcribe',
      audio: { path, sha256: 'abc' },
      options: PLAIN,
      idempotencyKey: 'once',
      signal: new AbortController().signal,
      ...overrides,
    };
  }

  run(overrides: Partial<TranscriptionRequest> = {}): Promise<TranscriptionOutcome> {
    return this.service().run(this.request(overrides));
  }

  /** What the request failed with; its audio is gone. */
  async failure(work: Promise<TranscriptionOutcome>): Promise<Error> {
    const outcome = await work;
    expect(existsSync(this.audioPath())).to.equal(false);
    if ('error' in outcome) return outcome.error as Error;
    return expect.fail('answered');
  }

  async balance(): Promise<number> {
    return (await this.ledger.credits.balance(this.account.id)).balance;
  }

  /** Nothing charged, nothing held, and the Idempotency-Key is free for the next attempt. */
  async expectUntouched(): Promise<void> {
    expect(await this.balance()).to.equal(10);
    expect((await this.ledger.history.report(this.account.id, 1)).totalCredits).to.equal(0);
    const again = await answerOf(this.run());
    expect(again.replayed).to.equal(false);
    expect(await this.balance()).to.equal(8);
  }
}

/** For every test of the block that calls it a fixture of its own, whose ledger is audited in the end. */
export function useTranscriptionFixture(): TranscriptionFixture {
  const fixture = new TranscriptionFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());
  return fixture;
}

export async function answerOf(work: Promise<TranscriptionOutcome>): Promise<TranscriptionAnswer> {
  const outcome = await work;
  if ('error' in outcome) throw outcome.error;
  return outcome.answer;
}

export async function resultOfWork(work: Promise<TranscriptionOutcome>): Promise<TranscriptionResult> {
  const answer = await answerOf(work);
  return 'result' in answer ? answer.result : expect.fail('an answer of version 0.1.0');
}
