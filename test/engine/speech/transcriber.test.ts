import { expect } from 'chai';
import { EngineError } from '../../../src/engine/native-errors.js';
import type { EngineObserver } from '../../../src/engine/types.js';
import { createSpeechEngine } from '../../../src/engine/speech/transcriber.js';
import { FAKE_POLICY, fileOfWindows } from '../fake-audio.js';
import { FakeBinding } from '../fake-binding.js';
import { FakeClock } from '../fake-clock.js';
import { nativeError } from '../native-error.js';
import { BATCHED } from './batched-scenario.js';
import { Scenario } from './scenario.js';

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
    expect(readMs).to.equal(10 + 3 * 5);
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

  it('reports how much of the file lies behind as windows end, silence included', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', {
      seconds: 100,
      windows: [
        { startSeconds: 42, endSeconds: 50 },
        { startSeconds: 50, endSeconds: 58 },
      ],
    });
    const seconds: number[] = [];
    void scene.send({ path: 'file', onWindow: (update) => void seconds.push(update.seconds) });
    await scene.clock.run(10);
    expect(scene.engine.stats()).to.deep.include({ busySlots: 1, slots: 1 });
    expect(scene.engine.stats().queuedWindows).to.be.greaterThan(0);
    await scene.clock.run(900);
    expect(seconds).to.deep.equal([50]);
    await scene.finish();
    expect(seconds).to.deep.equal([50, 58]);
    expect(scene.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
  });

  it('detects speech with the model it is given, and releases it', async () => {
    const scene = await Scenario.start({ voiceActivityModel: 'voice.bin' }, { cutMs: 5 });
    expect(scene.engine.info.voiceActivity).to.equal('silero');
    expect(scene.fake.openModels).to.equal(2);
    scene.file('file', fileOfWindows(40, [{}, {}]));
    void scene.send({ path: 'file' });
    await scene.finish();
    expect(scene.transcript('file').text).to.equal('en0 en1');
    // Ten calls of eight seconds, and the one that finds the end.
    expect(scene.transcript('file').timings.readMs).to.be.at.least(11 * 5);
    await scene.engine.close();
    expect(scene.fake.openModels).to.equal(0);
    expect((await Scenario.start()).engine.info.voiceActivity).to.equal('energy');
  });

  it('loads nothing when the model of voice activity is none', async () => {
    const clock = new FakeClock();
    const fake = new FakeBinding(clock);
    const start = (voiceActivityModel: string, modelDevice = 'cpu'): Promise<unknown> =>
      createSpeechEngine({
        ...{ binding: fake, modelPath: 'model.bin', modelName: 'fake', policy: FAKE_POLICY, clock },
        ...{ decoder: { kind: 'whisper.cpp' }, devices: [modelDevice], slots: 2, threads: 1 },
        ...{ accelerator: 'off', ffmpeg: 'ffmpeg', voiceActivityModel },
      });
    await start('text').then(
      () => expect.fail('it started'),
      (error: unknown) => expect(error).to.include({ code: 'invalid_model' }),
    );
    await start('voice.bin', 'nowhere').then(
      () => expect.fail('it started'),
      (error: unknown) => expect(error).to.include({ code: 'device_unavailable' }),
    );
    expect(fake.openModels).to.equal(0);
  });

  it('measures the real-time factor of the whole box', async () => {
    const scene = await Scenario.start({ slots: 2 }, { msPerSecond: 50 });
    scene.file('file', 1600);
    void scene.send({ path: 'file' });
    await scene.finish();
    expect(scene.engine.stats().realTimeFactor).to.be.closeTo(0.025, 0.001);
  });

  it('reports a refusal of the addon in the addon’s words', async () => {
    const scene = await Scenario.start();
    for (const code of ['unsupported_audio_format', 'invalid_audio', 'io_error'] as const) {
      scene.file(code, { seconds: 1, openError: code });
      void scene.send({ path: code });
      await scene.finish();
      const { error } = scene.outcome(code);
      expect(error).to.be.instanceOf(EngineError);
      expect(error).to.include({ code });
      // Of a format that is not read it says as well what else would be.
      const more = code === 'unsupported_audio_format' ? /^, nor WebM, .* or WMA$/ : /^$/;
      const [reported, rest] = (error as Error).message.split(/(?<=not what it should be)/);
      expect(reported).to.equal('not what it should be');
      expect(rest ?? '').to.match(more);
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
      decoder: { kind: 'whisper.cpp' as const },
      slots: 1,
      threads: 1,
      accelerator: 'off' as const,
      ffmpeg: 'ffmpeg',
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
  it('refuses what nobody pays for as soon as that is known, and lets go of the file', async () => {
    const scene = await Scenario.start();
    const path = scene.file('file', { seconds: 80, measureSteps: 4 });
    for (const [payableSeconds, steps] of [
      [30, 2],
      [79, 4],
    ] as const) {
      const before = scene.fake.measureSteps.length;
      await Promise.all([scene.measure({ path, accountId: 'one', payableSeconds }), scene.finish()]);
      expect(scene.outcome(path).error).to.include({ code: 'insufficient_credits' });
      expect(scene.fake.measureSteps.length - before).to.equal(steps);
      expect(scene.fake.openReaders).to.equal(0);
    }
    await Promise.all([scene.measure({ path, accountId: 'one', payableSeconds: 80 }), scene.finish()]);
    expect(scene.outcome(path).error).to.equal(null);
  });

  it('is opened once more to be transcribed, without measuring', async () => {
    const scene = await Scenario.start();
    const path = scene.file('file', { seconds: 80, measureSteps: 4 });
    void scene.send({ path, seconds: 80, task: 'translate' });
    await scene.finish();
    expect(scene.fake.measureSteps).to.deep.equal([]);
    expect(scene.transcript(path).segments).to.have.lengthOf(10);
    expect(scene.transcript(path).timings.readMs).to.equal(1 + 11);
    expect(scene.fake.openReaders).to.equal(0);
  });

  it('is opened in its account’s turns: a crowd of one account’s files waits behind another’s clip', async () => {
    const scene = await Scenario.start({ slots: 8 }, { measureMs: 100 });
    for (let n = 0; n < 40; n++) {
      scene.file(`one/${n}`, 8);
      void scene.send({ path: `one/${n}`, accountId: 'one', seconds: 8 });
    }
    await scene.clock.run(1);
    scene.file('clip', 8);
    void scene.send({ path: 'clip', accountId: 'two', seconds: 8 });
    await scene.finish();
    const ends = (path: string): number => scene.outcome(path).endMs;
    const before = Array.from({ length: 40 }, (_, n) => `one/${n}`).filter((path) => ends(path) <= ends('clip'));
    expect(before.length).to.be.below(20);
  });

  it('takes nothing for a caller that left, or an engine that closed, between the two calls', async () => {
    const scene = await Scenario.start();
    const path = scene.file('file', 80);
    const reason = new Error('gone');
    void scene.send({ path, seconds: 80, signal: AbortSignal.abort(reason) });
    await scene.finish();
    expect(scene.outcome(path).error).to.equal(reason);
    void scene.engine.close();
    void scene.send({ path, seconds: 80 });
    await scene.finish();
    expect(scene.outcome(path).error).to.include({ code: 'shutting_down' });
    expect(scene.fake.runs).to.be.empty;
    expect(scene.fake.openReaders).to.equal(0);
  });
});

describe('Transcriber: words', () => {
  it('are aligned with either decoder', async () => {
    for (const decoder of [BATCHED, { kind: 'whisper.cpp' } as const]) {
      const scene = await Scenario.start({ decoder });
      expect(scene.engine.info.alignsWords).to.equal(true);
      await scene.engine.close();
    }
  });

  it('are asked for in every window by those who want them, and for nobody else', async () => {
    const scene = await Scenario.start();
    scene.file('plain', 16);
    scene.file('words', 16);
    void scene.send({ path: 'plain', language: 'en' });
    void scene.send({ path: 'words', language: 'en', align: true });
    await scene.finish();
    const asked = (path: string): unknown[] =>
      scene.fake.runs.filter((run) => run.path === path).map((run) => run.options.align);
    expect(asked('plain')).to.deep.equal([undefined, undefined]);
    expect(asked('words')).to.deep.equal([true, true]);
    const words = (path: string): unknown[] =>
      scene.transcript(path).segments.map((segment) => segment.words?.map(({ text }) => text));
    expect(words('plain')).to.deep.equal([undefined, undefined]);
    expect(words('words')).to.deep.equal([[' en0'], [' en1']]);
    expect(scene.transcript('words').text).to.equal(scene.transcript('plain').text);
  });

  it('are aligned by the heads that the model is loaded with', async () => {
    const alignmentHeads = [{ layer: 3, head: 1 }];
    for (const decoder of [BATCHED, { kind: 'whisper.cpp' } as const]) {
      const scene = await Scenario.start({ decoder, alignmentHeads });
      expect(scene.fake.loadOptions[0]).to.deep.include({ device: 'cpu', alignmentHeads });
      await scene.finish();
    }
  });
});

describe('Transcriber: Whisper’s own translation', () => {
  it('is offered for models that were trained for it only', async () => {
    for (const translates of [true, false]) {
      const scene = await Scenario.start({ translates });
      expect(scene.engine.info.translatesToEnglish).to.equal(translates);
      await scene.engine.close();
    }
  });

  it('writes English, spaces and all, whatever is spoken', async () => {
    const scene = await Scenario.start({}, { languages: ['zh', 'en'] });
    const path = scene.file('file', fileOfWindows(8, [{ text: '"Good."' }, { text: '"Morning."' }]));
    void scene.send({ path, language: 'zh', task: 'translate' });
    await scene.finish();
    const { text, language } = scene.transcript(path);
    expect({ text, language }).to.deep.equal({ text: '"Good." "Morning."', language: 'zh' });
    expect(scene.fake.runsOf(path).map(({ options }) => options.task)).to.deep.equal(['translate', 'translate']);
  });
});
