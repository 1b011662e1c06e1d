/** What a live session may take, and how it ends. */
import { expect } from 'chai';
import { VerbatimError } from '../../src/errors.js';
import { spokenPcm } from '../support/live-audio.js';
import { pcmOfSilence } from '../support/speech.js';
import { until } from '../support/until.js';
import { LiveScenario, SECOND } from './scenario.js';

describe('The limits of a live session', () => {
  let scenario: LiveScenario;

  beforeEach(async () => {
    scenario = await LiveScenario.start();
  });
  afterEach(() => scenario.end());

  it('charges a started minute when its first sample arrives, and nothing before', async () => {
    const live = await scenario.open();
    expect(await scenario.spent()).to.equal(0);
    await live.session.append(Buffer.alloc(2));
    await until(async () => (await scenario.spent()) === 2);
    expect(await scenario.minutes()).to.equal(1);
    live.session.leave();
    await live.untilEnded();
    expect(await scenario.spent()).to.equal(2);
  });

  it('works at four times real time at most, and takes no more bytes meanwhile', async () => {
    const live = await scenario.open();
    const minute = Buffer.alloc(60 * SECOND);
    let isTaken = false;
    void live.session.append(minute).then(() => (isTaken = true));
    void live.session.append(Buffer.alloc(2));
    // Ten seconds at once, the rest at the rate.
    await until(() => live.events.filter(({ type }) => type === 'progress').length === 10);
    const worked = (): number => live.events.filter(({ type }) => type === 'progress').length;
    await scenario.timers.untilWaiting(250);
    expect(isTaken).to.equal(false);
    expect(worked()).to.equal(10);
    while (worked() < 61) {
      scenario.timers.pass(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(scenario.timers.now()).to.be.at.least(12_000);
    expect(await scenario.minutes()).to.equal(2);
    live.session.leave();
  });

  it('ends with what was paid for when the balance does', async () => {
    await scenario.use(3);
    const live = await scenario.open();
    void live.send(Buffer.concat([spokenPcm({ silenceSeconds: 0 }), Buffer.alloc(65 * SECOND)]));
    const end = await scenario.passing(() => live.untilEnded());
    expect(end).to.have.property('how', 'refused');
    expect((end as { error: VerbatimError }).error.code).to.equal('insufficient_credits');
    expect(live.finals).to.have.length(1);
    expect(await scenario.minutes()).to.equal(1);
  });

  it('ends at once when its key is revoked', async () => {
    const live = await scenario.open();
    scenario.engine.holdAll();
    await live.send(spokenPcm());
    await scenario.engine.untilRunning(1);
    scenario.registry.revokeKey(scenario.keyId);
    const end = await live.untilEnded();
    expect((end as { error: VerbatimError }).error.code).to.equal('invalid_api_key');
    expect(live.finals).to.deep.equal([]);
    await until(() => scenario.engine.running === 0);
    await live.session.append(Buffer.alloc(2));
    expect(await scenario.minutes()).to.equal(1);
  });

  it('ends at the end of its utterance when the server drains', async () => {
    const live = await scenario.open();
    const idle = await scenario.open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    const drained = scenario.registry.drain(60_000);
    expect(await idle.untilEnded()).to.have.nested.property('error.code', 'shutting_down');
    expect(live.end).to.equal(null);
    await live.send(pcmOfSilence(1));
    expect(await live.untilEnded()).to.have.nested.property('error.code', 'shutting_down');
    expect(live.finals).to.have.length(1);
    await drained;
  });

  it('ends when the server drains and its client sends nothing any more', async () => {
    const live = await scenario.open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    const drained = scenario.registry.drain(60_000);
    await scenario.timers.untilWaiting(1000);
    scenario.timers.pass(1000);
    expect(await live.untilEnded()).to.have.nested.property('error.code', 'shutting_down');
    expect(live.finals).to.have.length(1);
    await drained;
  });

  it('ends an utterance that goes on for too long when the server drains, and reports its text', async () => {
    const live = await scenario.open({ turns: { kind: 'manual' } });
    await live.send(spokenPcm());
    await until(() => live.types.includes('speech_started'));
    const drained = scenario.registry.drain(60_000);
    scenario.timers.pass(54_999);
    await live.send(spokenPcm());
    await until(() => scenario.received > 6);
    expect(live.types).to.deep.equal(['speech_started']);
    scenario.timers.pass(1);
    expect(await live.untilEnded()).to.have.nested.property('error.code', 'shutting_down');
    expect(live.finals).to.have.length(1);
    expect(live.finals[0]!.endSeconds).to.be.closeTo(scenario.received, 0.01);
    await drained;
    expect(scenario.observed).to.deep.equal(['/v1/realtime ended: shutting_down']);
  });

  it('cuts audio that still waits for work when the server has to stop', async () => {
    const live = await scenario.open({ turns: { kind: 'manual' } });
    // Ten seconds at once, the rest at four times real time.
    void live.send(Buffer.alloc(300 * SECOND), 300 * SECOND);
    await until(() => scenario.received === 10);
    const drained = scenario.registry.drain(60_000);
    await scenario.passing(() => live.untilEnded());
    expect(scenario.timers.now()).to.be.within(55_000, 60_000);
    expect(scenario.received).to.be.within(200, 260);
    expect(live.finals.at(-1)!.endSeconds).to.be.closeTo(scenario.received, 0.01);
    await drained;
  });

  it('goes on after an utterance that fails', async () => {
    const live = await scenario.open();
    scenario.engine.failWith = new VerbatimError('internal_error', 'The engine broke down.');
    await live.send(Buffer.concat([spokenPcm(), spokenPcm()]));
    await scenario.passing(() => until(() => live.finals.length === 1));
    const results = live.types.filter((type) => type === 'final' || type === 'failed');
    expect(results).to.deep.equal(['failed', 'final']);
    expect(live.events.find(({ type }) => type === 'failed')).to.have.nested.property('error.code', 'internal_error');
    live.session.leave();
  });

  it('has a longest duration', async () => {
    scenario.make({ maxLiveSeconds: 3 });
    const live = await scenario.open();
    void live.send(Buffer.alloc(4 * SECOND));
    const end = await live.untilEnded();
    expect((end as { error: VerbatimError }).error).to.include({ code: 'audio_too_long' });
  });

  it('is one of few of its account, and of as many as the machine carries', async () => {
    scenario.make({ maxLiveSessions: 2 });
    const first = await scenario.reserve();
    const second = await scenario.reserve();
    const refused = async (who: object): Promise<VerbatimError> =>
      scenario.reserve(who).then(
        () => expect.fail('it was admitted'),
        (error: unknown) => error as VerbatimError,
      );
    expect(await refused({})).to.include({ code: 'rate_limited' });
    second.release();
    second.release();
    (await scenario.reserve()).release();
    first.release();
    // Two slots, and a second of speech takes 0.7 seconds of one of them: two sessions take all that they may.
    scenario.engine.realTimeFactor = 0.35;
    const live = await scenario.open();
    for (let i = 1; i <= 8; i++) {
      await live.send(spokenPcm());
      await scenario.passing(() => until(() => live.finals.length === i));
    }
    const other = await scenario.testLedger.customer(100);
    const next = await scenario.reserve(other);
    expect(await refused(other)).to.include({ code: 'overloaded' });
    expect(scenario.service.stats('fake')).to.include({ sessions: 2, most: 2 });
    expect(scenario.observed).to.include('/v1/realtime refused: overloaded');
    next.release();
    live.session.leave();
    await live.untilEnded();
    expect(scenario.service.stats('fake')).to.include({ sessions: 0, waitingBytes: 0 });
  });

  it('needs credits for a minute', async () => {
    await scenario.use(1);
    const error: unknown = await scenario.reserve().catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'insufficient_credits' });
    expect(scenario.service.stats('fake')).to.include({ sessions: 0 });
  });
});
