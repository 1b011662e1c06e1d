/** What every SpeechEngine does, the fake of the shell's tests included: it stands for the real one there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type {
  AudioToMeasure,
  FileToTranscribe,
  SpeechEngine,
  Transcript,
} from '../../../src/engine/types.js';
import { BROKEN_AUDIO, fakeAudio, FakeEngine } from '../../support/fake-engine.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { pause, pcmOfSample, sample, writeRepeatedWav, writeWav } from '../../support/speech.js';

interface Subject {
  engine: SpeechEngine;
  /** From now on work does not end by itself soon; what waits then is aborted. */
  hold: () => void;
}

interface Files {
  clip: string;
  /** Longer than the backlog takes, and minutes of work. */
  long: string;
  broken: string;
}

interface Kind {
  name: string;
  start(): Promise<Subject>;
  write(directory: string): Files;
}

const MAX_BACKLOG_SECONDS = 600;

const KINDS: readonly Kind[] = [
  {
    name: 'The fake engine',
    start: () => {
      const engine = new FakeEngine();
      return Promise.resolve({ engine, hold: () => engine.holdAll() });
    },
    write: (directory) => {
      const files = {
        clip: join(directory, 'clip'),
        long: join(directory, 'long'),
        broken: join(directory, 'broken'),
      };
      writeFileSync(files.clip, fakeAudio(3));
      writeFileSync(files.long, fakeAudio(36_001));
      writeFileSync(files.broken, BROKEN_AUDIO);
      return files;
    },
  },
  {
    name: 'The real engine',
    start: async () => ({
      engine: await loadRealEngine({ slots: 1, maxBacklogSeconds: MAX_BACKLOG_SECONDS }),
      // The long file takes seconds; whatever is asked meanwhile takes no slot.
      hold: () => undefined,
    }),
    write: (directory) => {
      const files = {
        clip: sample('en-wav16.wav').path,
        long: join(directory, 'long.wav'),
        broken: join(directory, 'empty.wav'),
      };
      writeRepeatedWav(files.long, [pcmOfSample(), pause(0.1)], 400);
      writeWav(files.broken, []);
      return files;
    },
  },
];

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('it was transcribed'),
    (error: unknown) => error,
  );
}

for (const kind of KINDS) {
  describe(`${kind.name} keeps the contract`, function () {
    this.timeout(120_000);
    let directory: string;
    let files: Files;
    let engine: SpeechEngine;
    let hold: () => void;

    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'verbatim-conformance-'));
      files = kind.write(directory);
    });
    after(() => rmSync(directory, { recursive: true }));
    beforeEach(async () => ({ engine, hold } = await kind.start()));
    afterEach(() => engine.close());

    const transcribe = (request: Partial<FileToTranscribe> = {}): Promise<Transcript> =>
      engine.transcribeFile({ path: files.clip, accountId: 'one', language: 'en', ...request });

    function expectNothingTaken(): void {
      expect(engine.stats()).to.include({ backlogSeconds: 0, busySlots: 0, queuedWindows: 0 });
    }

    it('transcribes, and tells language, duration and where the time went', async () => {
      const transcript = await transcribe({ language: 'auto' });
      expect(transcript).to.include({ language: 'en' });
      expect(transcript.durationSeconds).to.be.within(1, 10);
      expect(transcript.languageProbability).to.be.within(0, 1);
      expect((await transcribe()).languageProbability).to.equal(null);
      for (const time of ['queueMs', 'readMs', 'speechMs', 'inferenceMs'] as const) {
        expect(transcript.timings[time], time).to.be.at.least(0);
      }
      expectNothingTaken();
    });

    it('refuses a language that is not the model’s, and what is no audio or broken', async () => {
      const text = join(directory, 'text');
      writeFileSync(text, 'This is a text.');
      expect(await failure(transcribe({ language: 'ja' }))).to.include({ code: 'unsupported_language' });
      expect(await failure(transcribe({ path: text }))).to.include({ code: 'unsupported_audio_format' });
      expect(await failure(transcribe({ path: files.broken }))).to.include({ code: 'invalid_audio' });
      expectNothingTaken();
    });

    it('refuses what is longer than asked, before any hold', async () => {
      const measured = (): void => expect.fail('a hold was asked for');
      const error = await failure(transcribe({ maxSeconds: 0.5, measured }));
      expect(error).to.include({ code: 'audio_too_long', param: 'audio' });
      expect((error as Error).message).to.equal('The audio is longer than the limit of 0.5 s.');
      expectNothingTaken();
    });

    it('asks what is covered from nothing up to the duration, then for the hold, then takes it in', async () => {
      const asked: number[] = [];
      const covers = (seconds: number): unknown => asked.push(seconds);
      const measured = (seconds: number): void => {
        expect(asked[0]).to.equal(0);
        expect(asked.at(-1)).to.equal(seconds);
        expect(engine.stats().backlogSeconds).to.equal(0);
        asked.push(-1);
      };
      await transcribe({ covers, measured });
      expect(asked.at(-1), 'the hold comes last').to.equal(-1);
    });

    it('measures as it does before it transcribes, and takes nothing in', async () => {
      const { durationSeconds } = await transcribe();
      const measure = (more: Partial<AudioToMeasure> = {}): Promise<number> =>
        engine.measureFile({ path: files.clip, accountId: 'one', ...more });
      const asked: number[] = [];
      expect(await measure({ covers: (seconds) => void asked.push(seconds) })).to.equal(durationSeconds);
      expect([asked[0], asked.at(-1)]).to.deep.equal([0, durationSeconds]);
      expect(await failure(measure({ maxSeconds: 0.5 }))).to.include({ code: 'audio_too_long' });
      expect(await failure(measure({ path: files.broken }))).to.include({ code: 'invalid_audio' });
      expect(await failure(measure({ signal: AbortSignal.abort('before') }))).to.equal('before');
      expectNothingTaken();
    });

    it('lets work in the background in whatever the backlog holds, and takes no room for it', async () => {
      const long = await startLong();
      const background = { background: true, after: { durationSeconds: 3 } };
      const controller = new AbortController();
      const behind = transcribe({ ...background, signal: controller.signal });
      expect(engine.stats().backlogSeconds).to.be.above(MAX_BACKLOG_SECONDS / 2);
      controller.abort('enough');
      expect(await failure(behind)).to.equal('enough');
      long.abort('over');
      await long.failed;
      hold();
      const other = new AbortController();
      const waiting = transcribe({
        ...background,
        path: files.long,
        after: { durationSeconds: 40_000 },
        signal: other.signal,
      });
      while (engine.stats().busySlots === 0) await tick();
      expect(engine.stats().backlogSeconds).to.equal(0);
      expect(() => engine.checkRoom('one')).not.to.throw();
      other.abort('over');
      expect(await failure(waiting)).to.equal('over');
    });

    it('rejects with what the caller throws, as it is', async () => {
      const no = new Error('no');
      const refuse = (): never => {
        throw no;
      };
      expect(await failure(transcribe({ covers: refuse }))).to.equal(no);
      expect(await failure(transcribe({ measured: refuse }))).to.equal(no);
      expect(await failure(transcribe({ measured: () => Promise.reject(no) }))).to.equal(no);
      expectNothingTaken();
    });

    it('rejects with the reason of an abort, before, during the hold, and at work', async () => {
      expect(await failure(transcribe({ signal: AbortSignal.abort('before') }))).to.equal('before');
      const inHold = new AbortController();
      const { signal } = inHold;
      expect(await failure(transcribe({ signal, measured: () => inHold.abort('in the hold') }))).to.equal(
        'in the hold',
      );
      const atWork = await startLong();
      atWork.abort('at work');
      expect(await atWork.failed).to.equal('at work');
      while (engine.stats().busySlots > 0) await tick();
      expectNothingTaken();
    });

    it('bounds the backlog by account, but for a second pass', async () => {
      const long = await startLong();
      const error = await failure(transcribe());
      expect(error).to.include({ code: 'overloaded' });
      expect((error as { retryAfterSeconds: number }).retryAfterSeconds).to.be.at.least(1);
      expect(() => engine.checkRoom('another')).not.to.throw();
      const second = new AbortController();
      const after = { durationSeconds: 3 };
      const before = engine.stats().backlogSeconds;
      const running = failure(transcribe({ after, signal: second.signal }));
      while (engine.stats().backlogSeconds <= before) await tick();
      second.abort('enough');
      expect(await running).to.equal('enough');
      long.abort('enough');
      await long.failed;
    });

    it('closes once what runs is over, and takes nothing new', async () => {
      const long = await startLong();
      let closed = false;
      const closing = engine.close().then(() => (closed = true));
      expect(await failure(transcribe())).to.include({ code: 'shutting_down' });
      expect(closed).to.equal(false);
      long.abort('enough');
      await long.failed;
      await closing;
      await engine.close();
    });

    /** The long file, admitted and at work, until it is aborted. */
    async function startLong(): Promise<{ abort: (reason: string) => void; failed: Promise<unknown> }> {
      hold();
      const controller = new AbortController();
      const failed = failure(transcribe({ path: files.long, signal: controller.signal }));
      while (engine.stats().busySlots === 0) await tick();
      return { abort: (reason) => controller.abort(reason), failed };
    }
  });
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
