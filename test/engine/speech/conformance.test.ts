/** What every SpeechEngine does, the fake of the shell's tests included: it stands for the real one there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FileToMeasure, SpeechEngine, Transcript, WindowUpdate } from '../../../src/engine/types.js';
import { measureAndTranscribe, type FileToMeasureFirst } from '../../support/transcribe.js';
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
  /** Minutes of work. */
  long: string;
  broken: string;
}

interface Kind {
  name: string;
  start(): Promise<Subject>;
  write(directory: string): Files;
}

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
      engine: await loadRealEngine({ slots: 1 }),
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

/** Of a short sentence in English. */
function speechSamples(): Int16Array {
  const pcm = pcmOfSample();
  return new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength / 2);
}

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

    const measure = (more: Partial<FileToMeasure> = {}): Promise<number> =>
      engine.measure({ path: files.clip, accountId: 'one', ...more });
    const transcribe = (request: Partial<FileToMeasureFirst> = {}): Promise<Transcript> =>
      measureAndTranscribe(engine, { path: files.clip, accountId: 'one', language: 'en', ...request });

    function expectNothingTaken(): void {
      expect(engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
    }

    it('transcribes, and reports language, duration and where the time went', async () => {
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

    it('refuses what is longer than the limit, or than what can be paid for', async () => {
      const error = await failure(measure({ maxSeconds: 0.5, payableSeconds: 60 }));
      expect(error).to.include({ code: 'audio_too_long', param: 'audio' });
      expect((error as Error).message).to.equal('The audio is longer than the limit of 0.5 s.');
      expect(await failure(measure({ payableSeconds: 0.5 }))).to.include({ code: 'insufficient_credits' });
      expectNothingTaken();
    });

    it('measures what it then transcribes, and takes nothing', async () => {
      const { durationSeconds } = await transcribe();
      expect(await measure({ maxSeconds: durationSeconds, payableSeconds: durationSeconds })).to.equal(durationSeconds);
      expect(await failure(measure({ path: files.broken }))).to.include({ code: 'invalid_audio' });
      expect(await failure(measure({ signal: AbortSignal.abort('before') }))).to.equal('before');
      expectNothingTaken();
    });

    it('reports windows with seconds that grow, the language, and parts that join to the text', async () => {
      const updates: WindowUpdate[] = [];
      const file = { path: files.clip, accountId: 'one', language: 'auto', isStreamed: true };
      const transcript = await measureAndTranscribe(engine, file, (update) => void updates.push(update));
      const seconds = updates.map((update) => update.seconds);
      expect(seconds).to.deep.equal([...seconds].sort((one, other) => one - other));
      expect(seconds.at(-1)).to.be.within(0.1, transcript.durationSeconds);
      expect(updates.map(({ part }) => part?.text ?? '').join('')).to.equal(transcript.text);
      expect(updates.at(-1)?.language).to.equal(transcript.language);
      expect(transcript.windows).to.be.at.least(1);
    });

    it('recognises an utterance of a live session, with times on its time line', async () => {
      const samples = speechSamples();
      const recognised = await engine.recognise({
        ...{ samples, startSample: 16_000 * 100, accountId: 'one', language: 'auto', align: true, dueInMs: 100 },
      });
      expect(recognised.language).to.equal('en');
      expect(recognised.languageProbabilities?.['en']).to.be.within(0.5, 1);
      expect(recognised.averageLogProbability).to.be.at.most(0);
      const words = recognised.segments.flatMap((segment) => segment.words ?? []);
      expect(words.length).to.be.at.least(2);
      for (const { startSeconds, endSeconds } of words) {
        expect(startSeconds).to.be.at.least(100);
        expect(endSeconds).to.be.within(startSeconds, 100 + samples.length / 16_000);
      }
      const named = await engine.recognise({
        ...{ samples, startSample: 0, accountId: 'one', language: 'en', dueInMs: null },
      });
      expect(named.languageProbabilities).to.equal(null);
      expect(named.segments[0]).not.to.have.property('words');
      expectNothingTaken();
    });

    it('writes an utterance behind a prefix', async () => {
      expect(engine.info.commits).to.equal('prefix');
      const utterance = { samples: speechSamples(), startSample: 0, accountId: 'one', language: 'en', dueInMs: null };
      const before = await engine.recognise({ ...utterance, describe: true });
      const text = before.segments.map((segment) => segment.text).join('');
      const tokens = before.segments.flatMap(({ decoding }) =>
        [decoding?.opening ?? [], decoding?.tokens ?? []].flat(),
      );
      expect(tokens).not.to.deep.equal([]);
      const half = text.slice(0, text.lastIndexOf(' '));
      for (const prefix of [
        { text: half, tokens },
        { text: ' Something else', tokens: [] },
      ]) {
        const behind = await engine.recognise({ ...utterance, prefix });
        const written = behind.segments.map((segment) => segment.text).join('');
        expect(written.slice(0, prefix.text.length)).to.equal(prefix.text);
        expect(behind.averageLogProbability).to.be.within(-20, 0);
        if (prefix.text === half) expect(written).to.equal(text);
      }
      expectNothingTaken();
    });

    it('refuses an utterance without samples, over the longest window, or in an unknown language', async () => {
      const utterance = { startSample: 0, accountId: 'one', language: 'en', dueInMs: 100 };
      const most = engine.info.windowSeconds * 16_000;
      for (const length of [0, most + 1]) {
        const error = await failure(engine.recognise({ ...utterance, samples: new Int16Array(length) }));
        expect(error).to.include({ code: 'invalid_argument' });
        expect((error as Error).message).to.contain(`allowed: 1 to ${most}`);
      }
      const samples = speechSamples();
      expect(await failure(engine.recognise({ ...utterance, samples, language: 'ja' }))).to.include({
        code: 'unsupported_language',
      });
      const signal = AbortSignal.abort('before');
      expect(await failure(engine.recognise({ ...utterance, samples, signal }))).to.equal('before');
      expectNothingTaken();
    });

    it('rejects with the reason of an abort, before and at work', async () => {
      expect(await failure(transcribe({ signal: AbortSignal.abort('before') }))).to.equal('before');
      const atWork = await startLong();
      atWork.abort('at work');
      expect(await atWork.failed).to.equal('at work');
      while (engine.stats().busySlots > 0) await tick();
      expectNothingTaken();
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

    /** The long file at work, until it is aborted. */
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
