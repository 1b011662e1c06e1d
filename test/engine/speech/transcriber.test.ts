import { expect } from 'chai';
import { EngineError } from '../../../src/engine/native-errors.js';
import type { EngineObserver } from '../../../src/engine/types.js';
import { createSpeechEngine } from '../../../src/engine/speech/transcriber.js';
import { FakeClock, FakeBinding, nativeError, FAKE_POLICY, type FakeWindow } from '../fake-binding.js';
import { Scenario } from './scenario.js';

const SPANISH = { en: 0.05, es: 0.9, de: 0.03, fr: 0.02 };
const GERMAN = { en: 0.05, es: 0.02, de: 0.9, fr: 0.03 };

/** Windows of `seconds` each, one for each of these. */
function windows(seconds: number, specs: Partial<FakeWindow>[]): { seconds: number; windows: FakeWindow[] } {
  const list = specs.map((spec, index) => ({
    startSeconds: index * seconds,
    endSeconds: (index + 1) * seconds,
    ...spec,
  }));
  return { seconds: specs.length * seconds, windows: list };
}

function repeat<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

describe('Transcriber: language', () => {
  it('lets the windows of the first 30 s vote, and decodes the rest in the language that won', async () => {
    const scene = await Scenario.start({ slots: 4 });
    scene.file('file', windows(8, repeat(10, { probabilities: SPANISH })));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    const languages = scene.fake.runsOf('file').map((run) => run.options.language);
    expect(languages).to.deep.equal([...repeat(3, 'auto'), ...repeat(7, 'es')]);
    const transcript = scene.transcript('file');
    expect(transcript.language).to.equal('es');
    expect(transcript.languageProbability).to.be.closeTo(0.9, 0.01);
    expect(transcript.text).to.equal('es0 es1 es2 es3 es4 es5 es6 es7 es8 es9');
  });

  it('runs windows again that were decoded in another language than the one that won', async () => {
    const scene = await Scenario.start({ slots: 4 });
    const specs = [{ probabilities: GERMAN }, ...repeat(5, { probabilities: SPANISH })];
    scene.file('file', windows(8, specs));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file').text).to.equal('es0 es1 es2 es3 es4 es5');
    const first = scene.fake.runsOf('file').filter((run) => run.index === 0);
    expect(first.map((run) => run.options.language)).to.deep.equal(['auto', 'es']);
    expect(scene.fake.runs).to.have.lengthOf(7);
    expect(scene.fake).to.include({ openReaders: 0, decodedWindows: 0 });
  });

  it('runs them again at the end of a file that is all vote', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', windows(5, [{ probabilities: GERMAN }, ...repeat(2, { probabilities: SPANISH })]));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', text: 'es0 es1 es2' });
    expect(scene.transcript('file').segments.map((segment) => segment.startSeconds)).to.deep.equal([
      0, 5, 10,
    ]);
  });

  it('tells a later voter the language that leads', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', windows(8, repeat(3, { probabilities: SPANISH })));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    const guesses = scene.fake.runsOf('file').map((run) => run.options.languageGuess);
    expect(guesses).to.deep.equal([undefined, 'es', 'es']);
  });

  it('weights votes by length and by certainty', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', {
      seconds: 12,
      windows: [
        { startSeconds: 0, endSeconds: 2, probabilities: { en: 0.5, es: 0.2, de: 0.2, fr: 0.1 } },
        { startSeconds: 2, endSeconds: 4, probabilities: { en: 0.5, es: 0.2, de: 0.2, fr: 0.1 } },
        { startSeconds: 4, endSeconds: 12, probabilities: SPANISH },
      ],
    });
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file').language).to.equal('es');
  });

  it('asks only the first window of a model that takes 30 s', async () => {
    const policy = { ...FAKE_POLICY, maxSeconds: 30, ownLength: false };
    const scene = await Scenario.start({ slots: 4, policy });
    scene.file('file', windows(28, repeat(4, { probabilities: SPANISH })));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    const languages = scene.fake.runsOf('file').map((run) => run.options.language);
    expect(languages).to.deep.equal(['auto', 'es', 'es', 'es']);
    expect(scene.fake.runs[0]?.options.ownLength).to.equal(false);
  });

  it('does not count windows in which nothing was heard', async () => {
    const policy = { ...FAKE_POLICY, maxSeconds: 30 };
    const scene = await Scenario.start({ slots: 2, policy });
    const noise = { text: '', probabilities: GERMAN };
    scene.file('file', windows(28, [noise, noise, { probabilities: SPANISH }, { probabilities: SPANISH }]));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', text: 'es2 es3' });
  });

  it('answers a valid language for a file in which nothing is heard', async () => {
    const scene = await Scenario.start();
    scene.file('silence', { seconds: 60, windows: [] });
    scene.file('noise', windows(8, repeat(9, { text: ' ' })));
    for (const path of ['silence', 'noise']) {
      void scene.send({ path, language: 'auto' });
      await scene.finish();
      const expected = { language: 'en', languageProbability: null, text: '' };
      expect(scene.transcript(path), path).to.include(expected);
      expect(scene.transcript(path).segments).to.be.empty;
    }
    expect(scene.engine.stats().backlogSeconds).to.equal(0);
  });

  it('answers one of the wanted languages even where the model thinks of others', async () => {
    const languages = ['en', 'es', 'de', 'fr', 'it'];
    const scene = await Scenario.start({ languages: ['es', 'en'] }, { languages });
    expect(scene.engine.languages).to.have.members(['en', 'es']);
    scene.file('file', windows(8, [{ probabilities: { it: 0.6, es: 0.3, en: 0.1 } }]));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', text: 'es0' });
  });

  it('uses a given language at once, and refuses one that the model does not know', async () => {
    const scene = await Scenario.start();
    scene.file('file', 40);
    void scene.send({ path: 'file', language: 'fr' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'fr', languageProbability: null });
    expect(scene.fake.runs.every((run) => run.options.language === 'fr')).to.equal(true);
    scene.file('other', 8);
    void scene.send({ path: 'other', language: 'ja' });
    await scene.finish();
    expect(scene.outcome('other').error).to.include({ code: 'unsupported_language', param: 'language' });
  });

  it("speaks ISO to the shell and Whisper's code to the addon", async () => {
    const scene = await Scenario.start({}, { languages: ['en', 'jw'] });
    expect(scene.engine.languages).to.deep.equal(['en', 'jv']);
    scene.file('given', 8);
    scene.file('detected', windows(8, [{ probabilities: { en: 0.1, jw: 0.9 } }]));
    void scene.send({ path: 'given', language: 'jv' });
    void scene.send({ path: 'detected', language: 'auto' });
    await scene.finish();
    expect(scene.fake.runsOf('given')[0]?.options.language).to.equal('jw');
    expect(scene.transcript('detected').language).to.equal('jv');
    expect(scene.fake.runsOf('detected')).to.have.lengthOf(1);
  });

  it('detects nothing with a model of one language', async () => {
    const scene = await Scenario.start({}, { languages: ['en'] });
    scene.file('file', 8);
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.fake.runs[0]?.options.language).to.equal('en');
  });
});

describe('Transcriber', () => {
  it('says where the time went', async () => {
    const measurements: Parameters<EngineObserver['windowDone']>[0][] = [];
    const observer: EngineObserver = { windowDone: (measurement) => measurements.push(measurement) };
    const scene = await Scenario.start({ slots: 1, observer }, { cutMs: 5, measureMs: 10 });
    scene.file('first', 8);
    scene.file('second', 16);
    void scene.send({ path: 'first' });
    void scene.send({ path: 'second' });
    await scene.finish();
    const { queueMs, readMs, speechMs, inferenceMs } = scene.transcript('second').timings;
    expect(queueMs).to.equal(800 + 5);
    expect(readMs).to.equal(20 + 3 * 5);
    expect(speechMs).to.equal(1600);
    expect(inferenceMs).to.equal(1600);
    expect(measurements).to.have.lengthOf(3);
    expect(measurements[1]).to.deep.equal({
      queueMs: 805,
      inferenceMs: 800,
      audioSeconds: 8,
      tokens: 5,
      fallbacks: 0,
      melMs: 1,
      encodeMs: 2,
      decodeMs: 3,
    });
  });

  it('counts the backlog down as windows end, silence included', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', {
      seconds: 100,
      windows: [
        { startSeconds: 42, endSeconds: 50 },
        { startSeconds: 50, endSeconds: 58 },
      ],
    });
    void scene.send({ path: 'file' });
    await scene.clock.run(10);
    expect(scene.engine.stats()).to.deep.include({ backlogSeconds: 100, busySlots: 1, slots: 1 });
    expect(scene.engine.stats().queuedWindows).to.be.greaterThan(0);
    await scene.clock.run(900);
    expect(scene.engine.stats().backlogSeconds).to.equal(50);
    await scene.finish();
    expect(scene.engine.stats()).to.include({ backlogSeconds: 0, busySlots: 0, queuedWindows: 0 });
  });

  it('measures the real-time factor of the whole box', async () => {
    const scene = await Scenario.start({ slots: 2 }, { msPerSecond: 50 });
    scene.file('file', 1600);
    void scene.send({ path: 'file' });
    await scene.finish();
    expect(scene.engine.stats().realTimeFactor).to.be.closeTo(0.025, 0.001);
  });

  it('refuses at once what does not fit into the backlog, with the time until it would', async () => {
    const scene = await Scenario.start({ slots: 2, maxBacklogSeconds: 2000 }, { msPerSecond: 1000 });
    scene.file('file', 1800);
    void scene.send({ path: 'file' });
    await scene.clock.run(800_000);
    scene.file('next', 1000);
    void scene.send({ path: 'next' });
    await scene.clock.run(800_010);
    // 200 s of the first, 1000 of the next: 200 too many for another 1000, at 0.5 s a second.
    const { backlogSeconds } = scene.engine.stats();
    expect(backlogSeconds).to.be.within(1190, 1210);
    const retryAfterSeconds = Math.ceil((backlogSeconds + 1000 - 2000) * scene.engine.stats().realTimeFactor);
    expect(retryAfterSeconds).to.be.within(98, 105);
    scene.file('late', 1000);
    void scene.send({ path: 'late' });
    await scene.finish();
    const expected = { code: 'overloaded', retryAfterSeconds };
    expect(scene.outcome('late').error).to.include(expected);
    expect(scene.outcome('late').endMs).to.be.below(800_020);
    expect(scene.transcript('next').segments).to.have.lengthOf(125);
  });

  it('tells what the addon refuses as the addon tells it', async () => {
    const scene = await Scenario.start();
    for (const code of ['unsupported_audio_format', 'invalid_audio', 'io_error'] as const) {
      scene.file(code, { seconds: 1, openError: code });
      void scene.send({ path: code });
      await scene.finish();
      const { error } = scene.outcome(code);
      expect(error).to.be.instanceOf(EngineError);
      expect(error).to.include({ code, message: 'not what it should be' });
    }
  });

  it('refuses audio that is too long as soon as that is known', async () => {
    const scene = await Scenario.start({}, { measureMs: 100 });
    scene.file('days', { seconds: 100_000, measureSteps: 1000 });
    scene.file('right', { seconds: 3600, measureSteps: 10 });
    void scene.send({ path: 'days', maxSeconds: 3600 });
    void scene.send({ path: 'right', maxSeconds: 3600 });
    await scene.finish();
    const { error, endMs } = scene.outcome('days');
    expect(error).to.include({ code: 'audio_too_long', param: 'audio' });
    expect(endMs).to.be.below(40 * 100);
    expect(scene.transcript('right').segments).to.have.lengthOf(450);
    expect(scene.fake.openReaders).to.equal(0);
  });

  it('drains: lets what runs finish, refuses what is new, and leaves nothing open', async () => {
    const scene = await Scenario.start({ slots: 2 });
    scene.file('running', 80);
    scene.file('late', 8);
    void scene.send({ path: 'running' });
    await scene.clock.run(100);
    let closed = false;
    const closing = scene.engine.close().then(() => (closed = true));
    void scene.send({ path: 'late' });
    await scene.clock.run(200);
    expect(scene.outcome('late').error).to.include({ code: 'shutting_down' });
    expect(closed).to.equal(false);
    await scene.finish();
    await closing;
    expect(scene.transcript('running').segments).to.have.lengthOf(10);
    expect(scene.fake).to.include({ openModels: 0, openReaders: 0, decodedWindows: 0 });
    expect(scene.fake.openSlots.size).to.equal(0);
    await scene.engine.close();
  });

  it('leaves nothing loaded when a device or a slot cannot be had', async () => {
    const clock = new FakeClock();
    const options = {
      modelPath: 'm',
      modelName: 'm',
      policy: FAKE_POLICY,
      slots: 1,
      threads: 1,
      accelerator: 'off' as const,
      maxBacklogSeconds: 1,
      clock,
    };
    const missing = new FakeBinding(clock);
    const noDevice = createSpeechEngine({ ...options, binding: missing, devices: ['cpu', 'cuda:0'] });
    expect(await noDevice.catch((error: unknown) => error)).to.include({ code: 'device_unavailable' });
    expect(missing.openModels).to.equal(0);
    const full = new FakeBinding(clock);
    full.createSlotError = nativeError('out_of_memory');
    const noSlot = createSpeechEngine({ ...options, binding: full, devices: ['cpu'] });
    expect(await noSlot.catch((error: unknown) => error)).to.include({ code: 'out_of_memory' });
    expect(full.openModels).to.equal(0);
    expect(full.openSlots.size).to.equal(0);
  });
});

describe('Transcriber: the way of a file', () => {
  /** Seconds of the backlog and open readers. */
  const taken = ({ engine, fake }: Scenario): number[] => [engine.stats().backlogSeconds, fake.openReaders];

  it('asks what is covered while it measures, and for the hold before the backlog', async () => {
    const scene = await Scenario.start();
    const path = scene.file('file', { seconds: 80, measureSteps: 4 });
    const asked: string[] = [];
    const covers = (seconds: number): unknown => asked.push(`covers ${seconds}`);
    const measured = async (seconds: number): Promise<void> => {
      await scene.clock.sleep(500);
      asked.push(`measured ${seconds}`);
      expect(taken(scene)).to.deep.equal([0, 1]);
      expect(scene.fake.runs).to.be.empty;
    };
    void scene.send({ path, covers, measured });
    await scene.finish();
    const steps = [0, 20, 40, 60, 80].map((seconds) => `covers ${seconds}`);
    expect(asked).to.deep.equal([...steps, 'measured 80']);
    expect(scene.transcript(path)).to.include({ durationSeconds: 80 });
    expect(scene.fake.runs).to.have.lengthOf(10);
    expect(taken(scene)).to.deep.equal([0, 0]);
  });

  it('refuses with what the caller throws, and lets go of the file', async () => {
    const scene = await Scenario.start();
    const path = scene.file('file', { seconds: 80, measureSteps: 4 });
    const no = new Error('no');
    const refuseFrom = (limit: number) => (seconds: number) => {
      if (seconds >= limit) throw no;
    };
    const reject = (): Promise<void> => Promise.reject(no);
    for (const request of [{ covers: refuseFrom(0) }, { covers: refuseFrom(40) }, { measured: reject }]) {
      void scene.send({ path, ...request });
      await scene.finish();
      expect(scene.outcome(path).error).to.equal(no);
      expect(taken(scene)).to.deep.equal([0, 0]);
    }
    expect(scene.fake.runs).to.be.empty;
  });

  it('takes nothing into the backlog for a caller that left, or an engine that closed, during the hold', async () => {
    const scene = await Scenario.start();
    const path = scene.file('file', 80);
    const left = new AbortController();
    const leave = (): void => left.abort(new Error('gone'));
    void scene.send({ path, signal: left.signal, measured: leave });
    await scene.finish();
    expect(scene.outcome(path).error).to.equal(left.signal.reason);
    const close = async (): Promise<void> => scene.engine.close();
    void scene.send({ path, measured: close });
    await scene.finish();
    expect(scene.outcome(path).error).to.include({ code: 'shutting_down' });
    expect(scene.fake.runs).to.be.empty;
    expect(taken(scene)).to.deep.equal([0, 0]);
  });

  it('takes a second pass without measuring, however full the backlog is', async () => {
    const scene = await Scenario.start({ maxBacklogSeconds: 80 });
    const path = scene.file('file', { seconds: 80, measureSteps: 4 });
    scene.file('other', 80);
    void scene.send({ path: 'other' });
    await scene.clock.run(10);
    const after = { durationSeconds: 80 };
    const covers = (seconds: number): unknown => expect(seconds).to.equal(0);
    void scene.send({ path, after, covers, task: 'translate' });
    await scene.clock.run(20);
    expect(scene.engine.stats().backlogSeconds).to.equal(160);
    await scene.finish();
    expect(scene.transcript(path).segments).to.have.lengthOf(10);
    expect(scene.transcript(path).timings.readMs).to.equal(1 + 11);
    expect(scene.engine.stats().backlogSeconds).to.equal(0);
  });
});

describe('Transcriber: Whisper’s own translation', () => {
  it('is offered for models that were trained for it only', async () => {
    for (const translates of [true, false]) {
      const scene = await Scenario.start({ translates });
      expect(scene.engine.translatesToEnglish).to.equal(translates);
      await scene.engine.close();
    }
  });

  it('writes English, spaces and all, whatever is spoken', async () => {
    const scene = await Scenario.start({}, { languages: ['zh', 'en'] });
    const path = scene.file('file', windows(8, [{ text: '"Good."' }, { text: '"Morning."' }]));
    void scene.send({ path, language: 'zh', task: 'translate' });
    await scene.finish();
    const { text, language } = scene.transcript(path);
    expect({ text, language }).to.deep.equal({ text: '"Good." "Morning."', language: 'zh' });
    expect(scene.fake.runsOf(path).map(({ options }) => options.task)).to.deep.equal([
      'translate',
      'translate',
    ]);
  });
});
