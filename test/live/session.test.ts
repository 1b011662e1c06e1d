/** Live sessions below the protocols: the real audio of the addon and the real ledger, with a fake engine. */
import { expect } from 'chai';
import { LiveService } from '../../src/live/service.js';
import { DEFAULT_SETTINGS, DEFAULT_TURNS, type LiveSettings } from '../../src/live/options.js';
import type { FinalResult, SessionEnd, SessionEvent } from '../../src/live/events.js';
import type { LiveSession } from '../../src/live/session.js';
import { loadBinding } from '../../src/engine/binding.js';
import { VerbatimError } from '../../src/errors.js';
import { InFlightRegistry } from '../../src/http/limits/in-flight.js';
import { fixedEngines } from '../../src/transcription/engine-lease.js';
import { pieces, spokenPcm } from '../support/live-audio.js';
import { FakeEngine } from '../support/fake-engine.js';
import { ManualTimers } from '../support/manual-timers.js';
import { pcmOfSilence } from '../support/speech.js';
import { TestLedger } from '../support/test-ledger.js';
import { until } from '../support/until.js';

const FORMAT = { encoding: 's16le', sampleRate: 16_000, channels: 1 } as const;
const PRICES = { creditsPerMinute: 2, translationCreditsPerMinute: 0, diarizationCreditsPerMinute: 0 };
const SECOND = 32_000;

class Opened {
  readonly events: SessionEvent[] = [];
  end: SessionEnd | null = null;
  session!: LiveSession;

  get finals(): FinalResult[] {
    return this.events.filter((event) => event.type === 'final');
  }

  get types(): string[] {
    return this.events.map(({ type }) => type).filter((type) => type !== 'progress');
  }

  async send(pcm: Buffer, bytes = 3200): Promise<void> {
    for (const piece of pieces(pcm, bytes)) await this.session.append(piece);
  }

  untilEnded(): Promise<SessionEnd> {
    return this.session.ended;
  }
}

describe('A live session', () => {
  let books: TestLedger;
  let engine: FakeEngine;
  let timers: ManualTimers;
  let registry: InFlightRegistry;
  let service: LiveService;
  let keyId: string;
  let accountId: string;
  let lags: number[];

  beforeEach(async () => {
    books = new TestLedger();
    engine = new FakeEngine();
    timers = new ManualTimers();
    lags = [];
    ({ accountId, keyId } = await books.customer(100));
    make({});
  });
  afterEach(async () => {
    expect(await books.ledger.audit()).to.deep.equal([]);
    await engine.close();
    await books.close();
  });

  function make({ maxLiveSessions = 8, maxLiveSeconds = 14_400 }): void {
    registry = new InFlightRegistry({ maxPerAccount: 1, retryAfterSeconds: () => 1, timers });
    const binding = loadBinding();
    service = new LiveService({
      acquire: fixedEngines(engine, undefined),
      ledger: books.ledger,
      registry,
      openAudio: (options) => binding.openLiveAudio(options),
      engineStats: () => engine.stats(),
      settings: { ...PRICES, maxLiveSessions, maxLiveSeconds },
      observer: { finalResult: ({ lagMs }) => lags.push(lagMs), partialResult: () => undefined },
      timers,
    });
  }

  async function open(settings: Partial<LiveSettings> = {}): Promise<Opened> {
    const owner = { accountId, keyId, requestId: 'req_live', endpoint: '/v1/realtime' };
    const reservation = await service.reserve(owner, null);
    const opened = new Opened();
    opened.session = await reservation.start({
      format: FORMAT,
      settings: { ...DEFAULT_SETTINGS, ...settings },
      emit: (event) => opened.events.push(event),
    });
    void opened.session.ended.then((end) => (opened.end = end));
    return opened;
  }

  /** Time passes while the work goes on. */
  async function passing<T>(work: () => Promise<T>): Promise<T> {
    const clock = setInterval(() => timers.pass(100), 1);
    try {
      return await work();
    } finally {
      clearInterval(clock);
    }
  }

  const spent = async (): Promise<number> => (await books.usage(accountId)).credits;
  const minutes = async (): Promise<number> => (await books.usage(accountId)).minutes;

  it('reports an utterance: its start, its end, and then its text', async () => {
    engine.utterances.push(' Good morning.');
    const live = await open();
    await live.send(spokenPcm());
    await until(() => live.finals.length === 1);
    expect(live.types).to.deep.equal(['speech_started', 'speech_stopped', 'final']);
    const [final] = live.finals;
    expect(final).to.include({ utterance: 0, text: 'Good morning.', language: 'en', endedBy: 'silence' });
    expect(final!.endSeconds).to.be.greaterThan(final!.startSeconds);
    expect(engine.recognised[0]).to.include({ accountId, language: 'auto' });
    expect(engine.recognised[0]!.dueInMs).to.be.a('number');
    expect(lags).to.have.length(1);
    live.session.finish();
    expect(await live.untilEnded()).to.deep.equal({ how: 'finished' });
  });

  it('keeps the order of results, whichever is done first', async () => {
    engine.utterances.push(' One.', ' Two.', ' Three.');
    engine.holdAll();
    const live = await open();
    for (let i = 0; i < 3; i++) await live.send(spokenPcm());
    live.session.finish();
    await passing(async () => {
      await engine.untilRunning(3);
      engine.release();
      await live.untilEnded();
    });
    expect(live.finals.map(({ text }) => text)).to.deep.equal(['One.', 'Two.', 'Three.']);
  });

  it('ends an utterance where the client says so, and says where there is none', async () => {
    const live = await open({ turns: { kind: 'manual' } });
    live.session.endUtterance();
    await until(() => live.types.includes('no_utterance'));
    await live.send(spokenPcm({ silenceSeconds: 3 }));
    expect(live.finals).to.deep.equal([]);
    live.session.endUtterance();
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ endedBy: 'client', startSeconds: 0 });
    live.session.leave();
  });

  it('abandons an utterance that is cleared', async () => {
    const live = await open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    live.session.clear();
    live.session.endUtterance();
    await until(() => live.types.includes('no_utterance'));
    expect(live.finals).to.deep.equal([]);
    live.session.leave();
  });

  it('cuts an utterance that is longer than a window, and goes on with it', async () => {
    Object.assign(engine.info, { windowSeconds: 2 });
    engine.utterances.push(' One', ' two', ' three.');
    const live = await open();
    const speech = spokenPcm({ silenceSeconds: 0 }).subarray(SECOND);
    await live.send(Buffer.concat([speech, speech, speech, pcmOfSilence(1)]));
    live.session.finish();
    await passing(() => live.untilEnded());
    const ended = live.finals.map(({ endedBy }) => endedBy);
    expect(ended.slice(0, -1)).to.include('length');
    expect(ended.at(-1)).not.to.equal('length');
    for (const { samples } of engine.recognised) expect(samples.length).to.be.at.most(2 * 16_000);
    // Nothing is decoded twice, and nothing is left out.
    const first = live.finals.filter(({ utterance }) => utterance === 0);
    for (const [index, next] of first.slice(1).entries()) expect(next.startSeconds).to.equal(first[index]!.endSeconds);
  });

  it('ends the utterance of a client that sends nothing for a second', async () => {
    const live = await open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    await timers.untilWaiting(1000);
    timers.pass(999);
    expect(live.types).to.deep.equal(['speech_started']);
    timers.pass(1);
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ endedBy: 'silence' });
    live.session.leave();
  });

  it('charges a started minute when its first sample arrives, and nothing before', async () => {
    const live = await open();
    expect(await spent()).to.equal(0);
    await live.session.append(Buffer.alloc(2));
    await until(async () => (await spent()) === 2);
    expect(await minutes()).to.equal(1);
    live.session.leave();
    await live.untilEnded();
    expect(await spent()).to.equal(2);
  });

  it('works at four times real time at most, and takes no more bytes meanwhile', async () => {
    const live = await open();
    const minute = Buffer.alloc(60 * SECOND);
    let isTaken = false;
    void live.session.append(minute).then(() => (isTaken = true));
    void live.session.append(Buffer.alloc(2));
    // Ten seconds at once, the rest at the rate.
    await until(() => live.events.filter(({ type }) => type === 'progress').length === 10);
    const worked = (): number => live.events.filter(({ type }) => type === 'progress').length;
    await timers.untilWaiting(250);
    expect(isTaken).to.equal(false);
    expect(worked()).to.equal(10);
    while (worked() < 61) {
      timers.pass(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(timers.now()).to.be.at.least(12_000);
    expect(await minutes()).to.equal(2);
    live.session.leave();
  });

  it('ends with what was paid for when the balance does', async () => {
    ({ accountId, keyId } = await books.customer(3));
    const live = await open();
    void live.send(Buffer.concat([spokenPcm({ silenceSeconds: 0 }), Buffer.alloc(65 * SECOND)]));
    const end = await passing(() => live.untilEnded());
    expect(end).to.have.property('how', 'refused');
    expect((end as { error: VerbatimError }).error.code).to.equal('insufficient_credits');
    expect(live.finals).to.have.length(1);
    expect(await minutes()).to.equal(1);
  });

  it('ends at once when its key is revoked', async () => {
    const live = await open();
    engine.holdAll();
    await live.send(spokenPcm());
    await engine.untilRunning(1);
    registry.revokeKey(keyId);
    const end = await live.untilEnded();
    expect((end as { error: VerbatimError }).error.code).to.equal('invalid_api_key');
    expect(live.finals).to.deep.equal([]);
    await until(() => engine.running === 0);
    await live.session.append(Buffer.alloc(2));
    expect(await minutes()).to.equal(1);
  });

  it('ends at the end of its utterance when the server drains', async () => {
    const live = await open();
    const idle = await open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    const drained = registry.drain(60_000);
    expect((await idle.untilEnded()) as object).to.have.nested.property('error.code', 'shutting_down');
    expect(live.end).to.equal(null);
    await live.send(pcmOfSilence(1));
    expect((await live.untilEnded()) as object).to.have.nested.property('error.code', 'shutting_down');
    expect(live.finals).to.have.length(1);
    await drained;
  });

  it('goes on after an utterance that fails', async () => {
    const live = await open();
    engine.failWith = new VerbatimError('internal_error', 'The engine broke down.');
    await live.send(Buffer.concat([spokenPcm(), spokenPcm()]));
    await passing(() => until(() => live.finals.length === 1));
    const results = live.types.filter((type) => type === 'final' || type === 'failed');
    expect(results).to.deep.equal(['failed', 'final']);
    expect(live.events.find(({ type }) => type === 'failed')).to.have.nested.property('error.code', 'internal_error');
    live.session.leave();
  });

  it('has a longest duration', async () => {
    make({ maxLiveSeconds: 3 });
    const live = await open();
    void live.send(Buffer.alloc(4 * SECOND));
    const end = await live.untilEnded();
    expect((end as { error: VerbatimError }).error).to.include({ code: 'audio_too_long' });
  });

  it('is one of few of its account, and of as many as the machine carries', async () => {
    make({ maxLiveSessions: 2 });
    const owner = { accountId, keyId, requestId: 'req_live', endpoint: '/v1/realtime' };
    const first = await service.reserve(owner, null);
    const second = await service.reserve(owner, null);
    const refused = async (who: object): Promise<VerbatimError> =>
      service.reserve({ ...owner, ...who }, null).then(
        () => expect.fail('it was admitted'),
        (error: unknown) => error as VerbatimError,
      );
    expect(await refused({})).to.include({ code: 'rate_limited' });
    second.release();
    second.release();
    (await service.reserve(owner, null)).release();
    first.release();
    // Two slots, and a second of speech takes 0.7 seconds of one of them: two sessions take all that they may.
    engine.realTimeFactor = 0.35;
    const live = await open();
    for (let i = 1; i <= 8; i++) {
      await live.send(spokenPcm());
      await passing(() => until(() => live.finals.length === i));
    }
    const other = await books.customer(100);
    const next = await service.reserve({ ...owner, ...other }, null);
    expect(await refused(other)).to.include({ code: 'overloaded' });
    expect(service.stats('fake')).to.include({ sessions: 2, refused: 1 });
    next.release();
    live.session.leave();
    await live.untilEnded();
    expect(service.stats('fake')).to.include({ sessions: 0, waitingBytes: 0 });
  });

  it('needs credits for a minute', async () => {
    ({ accountId, keyId } = await books.customer(1));
    const owner = { accountId, keyId, requestId: 'req_live', endpoint: '/v1/realtime' };
    const error: unknown = await service.reserve(owner, null).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'insufficient_credits' });
    expect(service.stats('fake')).to.include({ sessions: 0 });
  });

  it('gives partial results while an utterance goes on, and none for a client that wants none', async () => {
    const live = await open({ interim: true });
    for (const piece of pieces(spokenPcm(), 3200)) {
      await live.session.append(piece);
      timers.pass(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await until(() => live.finals.length === 1);
    const partials = live.events.filter((event) => event.type === 'partial');
    expect(partials.length).to.be.at.least(1);
    expect(live.types.lastIndexOf('partial')).to.be.lessThan(live.types.indexOf('final'));
    const yields = engine.recognised.filter(({ dueInMs }) => dueInMs === null);
    expect(yields.length).to.be.at.least(partials.length);
    live.session.leave();
    const quiet = await open();
    await quiet.send(spokenPcm());
    await until(() => quiet.finals.length === 1);
    expect(quiet.types).not.to.include('partial');
    quiet.session.leave();
  });

  it('ends a semantic turn behind a whole sentence, and waits behind half of one', async () => {
    const turns = { kind: 'semantic', longestSilenceMs: 8000 } as const;
    engine.utterances.push(' A whole sentence.', ' A whole sentence.');
    const live = await open({ turns });
    await live.send(spokenPcm({ silenceSeconds: 0.8 }));
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ endedBy: 'silence', text: 'A whole sentence.' });
    live.session.leave();
    engine.utterances.push(' Half a', ' Half a', ' Half a sentence');
    const half = await open({ turns });
    await half.send(spokenPcm({ silenceSeconds: 3 }));
    await until(() => engine.recognised.length >= 3);
    expect(half.finals).to.deep.equal([]);
    await half.send(pcmOfSilence(6));
    await passing(() => until(() => half.finals.length === 1));
    half.session.leave();
  });

  it('leaves out text that the model is not sure of, by this result and those before', async () => {
    Object.assign(engine.info, { minAverageLogProbability: -0.2 });
    const live = await open();
    await live.send(spokenPcm());
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ text: '' });
    live.session.leave();
  });

  it('applies settings to audio that comes later', async () => {
    const live = await open();
    await live.send(spokenPcm());
    live.session.configure({ ...DEFAULT_SETTINGS, language: 'de', prompt: 'Emma', turns: DEFAULT_TURNS, words: true });
    await live.send(spokenPcm());
    await until(() => live.finals.length === 2);
    expect(engine.recognised[0]).to.include({ language: 'auto', align: false });
    expect(engine.recognised[1]).to.include({ language: 'de', prompt: 'Emma', align: true });
    live.session.leave();
  });
});
