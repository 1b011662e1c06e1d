/** What a live session reports. */
import { expect } from 'chai';
import { DEFAULT_SETTINGS, DEFAULT_TURNS } from '../../src/live/options.js';
import { pieces, spokenPcm } from '../support/live-audio.js';
import { pcmOfSample, pcmOfSilence } from '../support/speech.js';
import { until } from '../support/until.js';
import { LiveScenario, SECOND, type Opened } from './scenario.js';

function workedSeconds({ events }: Opened): number {
  return Math.max(0, ...events.map((event) => (event.type === 'progress' ? event.seconds : 0)));
}

describe('A live session', () => {
  let scenario: LiveScenario;

  beforeEach(async () => {
    scenario = await LiveScenario.start();
  });
  afterEach(() => scenario.end());

  it('reports an utterance: its start, its end, and then its text', async () => {
    scenario.engine.utterances.push(' Good morning.');
    const live = await scenario.open();
    await live.send(spokenPcm());
    await until(() => live.finals.length === 1);
    expect(live.types).to.deep.equal(['speech_started', 'speech_stopped', 'final']);
    const [final] = live.finals;
    expect(final).to.include({ utterance: 0, text: 'Good morning.', language: 'en', endedBy: 'silence' });
    expect(final!.endSeconds).to.be.greaterThan(final!.startSeconds);
    expect(scenario.engine.recognised[0]).to.include({ accountId: scenario.accountId, language: 'auto' });
    expect(scenario.engine.recognised[0]!.dueInMs).to.be.a('number');
    expect(scenario.lags).to.have.length(1);
    live.session.finish();
    expect(await live.untilEnded()).to.deep.equal({ how: 'finished' });
  });

  it('keeps the order of results, whichever is done first', async () => {
    scenario.engine.utterances.push(' One.', ' Two.', ' Three.');
    scenario.engine.holdAll();
    const live = await scenario.open();
    for (let i = 0; i < 3; i++) await live.send(spokenPcm());
    live.session.finish();
    await scenario.passing(async () => {
      await scenario.engine.untilRunning(3);
      scenario.engine.release();
      await live.untilEnded();
    });
    expect(live.finals.map(({ text }) => text)).to.deep.equal(['One.', 'Two.', 'Three.']);
  });

  it('ends an utterance where the client says so, and says where there is none', async () => {
    const live = await scenario.open({ turns: { kind: 'manual' } });
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
    const live = await scenario.open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    live.session.clear();
    live.session.endUtterance();
    await until(() => live.types.includes('no_utterance'));
    expect(live.finals).to.deep.equal([]);
    live.session.leave();
  });

  it('cuts an utterance that is longer than a window, and goes on with it', async () => {
    Object.assign(scenario.engine.info, { windowSeconds: 2 });
    scenario.engine.utterances.push(' One', ' two', ' three.');
    const live = await scenario.open();
    const speech = spokenPcm({ silenceSeconds: 0 }).subarray(SECOND);
    await live.send(Buffer.concat([speech, speech, speech, pcmOfSilence(1)]));
    live.session.finish();
    await scenario.passing(() => live.untilEnded());
    const ended = live.finals.map(({ endedBy }) => endedBy);
    expect(ended.slice(0, -1)).to.include('length');
    expect(ended.at(-1)).not.to.equal('length');
    for (const { samples } of scenario.engine.recognised) expect(samples.length).to.be.at.most(2 * 16_000);
    // Nothing is decoded twice, and nothing is left out.
    const first = live.finals.filter(({ utterance }) => utterance === 0);
    for (const [index, next] of first.slice(1).entries()) expect(next.startSeconds).to.equal(first[index]!.endSeconds);
  });

  it('ends the utterance of a client that sends nothing for a second', async () => {
    const live = await scenario.open();
    await live.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.types.includes('speech_started'));
    await scenario.timers.untilWaiting(1000);
    scenario.timers.pass(999);
    expect(live.types).to.deep.equal(['speech_started']);
    scenario.timers.pass(1);
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ endedBy: 'silence' });
    live.session.leave();
  });

  it('gives partial results while an utterance goes on, and none for a client that wants none', async () => {
    const live = await scenario.open({ interim: true });
    for (const piece of pieces(spokenPcm(), 3200)) {
      await live.session.append(piece);
      scenario.timers.pass(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await until(() => live.finals.length === 1);
    const partials = live.events.filter((event) => event.type === 'partial');
    expect(partials.length).to.be.at.least(1);
    expect(live.types.lastIndexOf('partial')).to.be.lessThan(live.types.indexOf('final'));
    const yields = scenario.engine.recognised.filter(({ dueInMs }) => dueInMs === null);
    expect(yields.length).to.be.at.least(partials.length);
    live.session.leave();
    const quiet = await scenario.open();
    await quiet.send(spokenPcm());
    await until(() => quiet.finals.length === 1);
    expect(quiet.types).not.to.include('partial');
    quiet.session.leave();
  });

  it('gives a partial result up for the final one of another session that finds no slot', async () => {
    scenario.engine.slots = 1;
    scenario.engine.holdAll();
    const speaking = await scenario.open({ interim: true, turns: { kind: 'manual' } });
    await speaking.send(spokenPcm({ silenceSeconds: 0 }));
    await until(() => scenario.engine.recognised.length === 1);
    const [partial] = scenario.engine.recognised;
    expect([partial!.dueInMs, partial!.signal!.aborted]).to.deep.equal([null, false]);
    const other = await scenario.open({ interim: true });
    await other.send(spokenPcm());
    await until(() => scenario.engine.recognised.length === 2);
    expect([scenario.engine.recognised[1]!.dueInMs, partial!.signal!.aborted]).to.deep.equal([500, true]);
    // No partial result begins while the final one has the only slot, though one is due.
    let sent = spokenPcm({ silenceSeconds: 0 }).length / SECOND;
    const goOn = async (): Promise<void> => {
      for (const piece of pieces(pcmOfSample(), 3200)) {
        await speaking.session.append(piece);
        scenario.timers.pass(100);
      }
      sent += pcmOfSample().length / SECOND;
      await until(() => speaking.events.some((event) => event.type === 'progress' && event.seconds > sent - 0.2));
    };
    await goOn();
    expect(scenario.engine.recognised.length).to.equal(2);
    scenario.engine.release();
    await until(() => other.finals.length === 1);
    await goOn();
    await until(() => scenario.engine.recognised.length === 3);
    expect(scenario.engine.recognised[2]!.dueInMs).to.equal(null);
    for (const { session } of [speaking, other]) session.leave();
  });

  it('gives no partial results where final ones leave no room, and says so', async () => {
    // Two slots, and a second of speech takes one of them for two seconds.
    scenario.engine.realTimeFactor = 2;
    const live = await scenario.open({ interim: true });
    for (let i = 1; i <= 3; i++) {
      await live.send(spokenPcm());
      // No more than this: a session that is silent for long would leave room again.
      scenario.timers.pass(1000);
      await until(() => live.finals.length === i);
    }
    scenario.observed.length = 0;
    const before = live.events.length;
    for (const piece of pieces(spokenPcm(), 3200)) {
      await live.session.append(piece);
      scenario.timers.pass(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await until(() => live.finals.length === 4);
    expect(live.events.slice(before).map(({ type }) => type)).not.to.include('partial');
    expect(new Set(scenario.observed)).to.deep.equal(new Set(['shed']));
    expect(scenario.observed.length).to.be.at.most(4);
    live.session.leave();
  });

  it('ends a semantic turn behind a whole sentence, and waits behind half of one', async () => {
    const turns = { kind: 'semantic', longestSilenceMs: 8000 } as const;
    scenario.engine.utterances.push(' A whole sentence.', ' A whole sentence.');
    const live = await scenario.open({ turns });
    await live.send(spokenPcm({ silenceSeconds: 0.8 }));
    await until(() => scenario.engine.recognised.length >= 1);
    await live.send(pcmOfSilence(0.1));
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ endedBy: 'silence', text: 'A whole sentence.' });
    live.session.leave();
    scenario.engine.utterances.push(' Half a', ' Half a', ' Half a sentence');
    const half = await scenario.open({ turns });
    scenario.measured.length = 0;
    await half.send(spokenPcm({ silenceSeconds: 3 }));
    await until(() => scenario.engine.recognised.length >= 3);
    expect(half.finals).to.deep.equal([]);
    // Its work counts, but no audio is done with.
    await until(() => scenario.measured.length > 0);
    for (const { seconds, workMs } of scenario.measured) expect([seconds, workMs > 0]).to.deep.equal([0, true]);
    await half.send(pcmOfSilence(6));
    await scenario.passing(() => until(() => half.finals.length === 1));
    half.session.leave();
  });

  it('ends no semantic turn whose speech goes on while its text is decoded', async () => {
    const turns = { kind: 'semantic', longestSilenceMs: 2000 } as const;
    scenario.engine.utterances.push(' A whole sentence.', ' Half of', ' Half of', ' Half of one');
    const live = await scenario.open({ turns });
    const spoken = spokenPcm({ silenceSeconds: 0.6 });
    const more = spoken.subarray(0.6 * SECOND, 2.6 * SECOND);
    scenario.engine.holdAll();
    await live.send(Buffer.concat([spoken, more]));
    // The pause behind the first speech is judged when more was spoken already.
    await until(() => workedSeconds(live) > 5.4);
    scenario.engine.release();
    await until(() => scenario.engine.recognised.length === 1);
    // Nor does what was judged end a pause that comes later.
    await live.send(Buffer.concat([more, pcmOfSilence(1.5)]));
    await until(() => workedSeconds(live) > 8.9);
    expect(live.types).to.deep.equal(['speech_started']);
    await live.send(pcmOfSilence(1));
    await until(() => live.finals.length === 1);
    expect(live.finals[0]!.startSeconds).to.be.below(0.6);
    expect(live.finals[0]!.endSeconds).to.be.above(7);
    live.session.leave();
  });

  it('leaves out text that the model is not sure of, by this result and those before', async () => {
    Object.assign(scenario.engine.info, { minAverageLogProbability: -0.2 });
    const live = await scenario.open();
    await live.send(spokenPcm());
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).to.include({ text: '' });
    live.session.leave();
  });

  it('applies settings to audio that comes later', async () => {
    const live = await scenario.open();
    await live.send(spokenPcm());
    live.session.configure({ ...DEFAULT_SETTINGS, language: 'de', prompt: 'Emma', turns: DEFAULT_TURNS, words: true });
    await live.send(spokenPcm());
    await until(() => live.finals.length === 2);
    expect(scenario.engine.recognised[0]).to.include({ language: 'auto', align: false });
    expect(scenario.engine.recognised[1]).to.include({ language: 'de', prompt: 'Emma', align: true });
    live.session.leave();
  });

  it('ends by itself alone where its protocol fails', async () => {
    const reservation = await scenario.reserve();
    const session = await reservation.start({
      ...{ format: { encoding: 's16le', sampleRate: 16_000, channels: 1 }, settings: DEFAULT_SETTINGS },
      emit: ({ type }) => {
        if (type === 'final') throw new RangeError('No such language.');
      },
    });
    for (const piece of pieces(spokenPcm(), 3200)) await session.append(piece);
    expect(await session.ended).to.have.nested.property('error.code', 'internal_error');
    expect(scenario.broken).to.have.length(1);
  });
});
