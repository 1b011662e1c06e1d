/** Text that is final while one speaks: by the bundled model, and through a session. */
import { expect } from 'chai';
import { SAMPLE_RATE } from '../../src/engine/sample-rate.js';
import type { LocalSpeechEngine } from '../../src/engine/speech/transcriber.js';
import { TextJoiner } from '../../src/engine/transcript-text.js';
import type { FailedResult, FinalResult, PartialResult } from '../../src/live/events.js';
import { DEFAULT_SETTINGS, type LiveSettings } from '../../src/live/options.js';
import { SlotUse } from '../../src/live/slot-use.js';
import { UtteranceDecoder } from '../../src/live/utterance-decoder.js';
import { pieces, spokenPcm } from '../support/live-audio.js';
import { ManualTimers } from '../support/manual-timers.js';
import { Mulberry32 } from '../support/random.js';
import { loadRealEngine } from '../support/real-engine.js';
import { pause, pcmOfSample, pcmOfSilence } from '../support/speech.js';
import { until } from '../support/until.js';
import { LiveScenario, SECOND } from './scenario.js';

type Event = PartialResult | FinalResult | FailedResult;

function joined(finals: readonly FinalResult[]): string {
  const joiner = new TextJoiner('en');
  return finals.map(({ text, continuesWord }) => joiner.add(text, continuesWord)).join('');
}

describe('Committed text by the bundled model', function () {
  this.timeout(60_000);
  let engine: LocalSpeechEngine;
  let whole: Int16Array;

  before(async () => {
    engine = await loadRealEngine({ slots: 1, decoder: 'batched' });
    const pcm = Buffer.concat([pcmOfSample(), pause(0.4), pcmOfSample(), pause(0.3)]);
    whole = new Int16Array(new Uint8Array(pcm).buffer);
  });
  after(() => engine.close());

  /** The events of an utterance that is decoded where it has so many seconds, and then as a whole. */
  async function decode(settings: Partial<LiveSettings>, seconds: readonly number[]): Promise<Event[]> {
    const events: Event[] = [];
    const timers = new ManualTimers();
    let decodings = 0;
    const counting: Pick<LocalSpeechEngine, 'info' | 'recognise'> = {
      info: engine.info,
      recognise: (utterance) => engine.recognise(utterance).finally(() => setImmediate(() => decodings++)),
    };
    const decoder = new UtteranceDecoder(
      {
        ...{ engine: counting, accountId: 'one', requestId: 'req', timers, signal: new AbortController().signal },
        emit: (event) => events.push(event),
        observer: { finalResult: () => undefined, partialResult: () => undefined, partialShed: () => undefined },
        ...{ noUtterance: () => undefined, room: () => 1, slotUse: new SlotUse(() => 1) },
      },
      { ...DEFAULT_SETTINGS, language: 'en', interim: true, ...settings },
    );
    const stretch = { utterance: 0, startSample: 0 };
    for (const end of seconds) {
      timers.pass(10_000);
      const before = decodings;
      decoder.partial(() => ({ ...stretch, samples: whole.subarray(0, end * SAMPLE_RATE) }));
      await until(() => decodings > before);
    }
    decoder.final({ ...stretch, samples: whole, endedBy: 'silence' });
    await decoder.untilFewerThan(1);
    return events;
  }

  const finalsOf = (events: readonly Event[]): FinalResult[] => events.filter((event) => event.type === 'final');
  const steps = (step: number): number[] =>
    Array.from({ length: Math.floor(whole.length / SAMPLE_RATE / step) }, (_, index) => (index + 1) * step);

  it('leaves while the utterance goes on, and is the text of the whole', async () => {
    const plain = finalsOf(await decode({ stableSeconds: null }, steps(0.5)));
    expect(plain).to.have.length(1);
    const events = await decode({ stableSeconds: 0 }, steps(0.5));
    const finals = finalsOf(events);
    expect(finals.length).to.be.above(2);
    expect(finals.slice(0, -1).map(({ endedBy }) => endedBy)).to.satisfy((all: string[]) =>
      all.every((by) => by === 'agreement'),
    );
    expect(joined(finals)).to.equal(plain[0]!.text);
    // The ranges follow one another.
    for (const [index, { startSeconds }] of finals.entries()) {
      expect(startSeconds).to.equal(index === 0 ? 0 : finals[index - 1]!.endSeconds);
    }
    for (const { segments } of finals) for (const segment of segments) expect(segment).not.to.have.property('decoding');
  });

  it('is less with a longer delay, and has words where they are asked for', async () => {
    const [two, three] = [
      await decode({ stableSeconds: 0, words: true }, steps(0.5)),
      await decode({ stableSeconds: 1 }, steps(0.5)),
    ];
    expect(finalsOf(three).length).to.be.at.most(finalsOf(two).length);
    for (const { text, segments } of finalsOf(two)) {
      const words = segments.flatMap((segment) => segment.words ?? []).map((word) => word.text);
      expect(words.join('').trim()).to.equal(text);
    }
  });

  it('is never contradicted, wherever the audio is cut', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const random = new Mulberry32(seed);
      const total = whole.length / SAMPLE_RATE;
      const ends = Array.from({ length: 8 }, () => 0.5 + random.next() * (total - 0.5)).sort((a, b) => a - b);
      const events = await decode({ stableSeconds: 0 }, ends);
      const finals = finalsOf(events);
      const last = finals.at(-1)!;
      expect(last.endedBy).to.equal('silence');
      expect(events.at(-1)).to.equal(last);
      // What was committed, and what a decoding says behind it, is one text: nothing is said twice.
      const sentences = joined(finals).match(/Laura/gu) ?? [];
      expect(sentences.length, `${seed}: ${joined(finals)}`).to.be.at.most(2);
    }
  });
});

describe("Utterances in whisper.cpp's slots", function () {
  this.timeout(60_000);

  it('are written behind no prefix, and refuse one by name', async () => {
    const engine = await loadRealEngine({ slots: 1, decoder: 'whisper.cpp' });
    expect(engine.info.commits).to.equal(null);
    const samples = new Int16Array(SAMPLE_RATE);
    const utterance = { samples, startSample: 0, accountId: 'one', language: 'en', dueInMs: null };
    const refused = await engine
      .recognise({ ...utterance, prefix: { text: ' Hello', tokens: [] } })
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 'invalid_argument' });
    expect((refused as Error).message).to.contain('takes no prefix');
    await engine.close();
  });
});

describe('Committed text of a session', () => {
  let scenario: LiveScenario;

  beforeEach(async () => {
    scenario = await LiveScenario.start();
  });
  afterEach(() => scenario.end());

  /** With time for decodings between its pieces. */
  async function speak(live: Awaited<ReturnType<LiveScenario['open']>>, pcm: Buffer): Promise<void> {
    for (const piece of pieces(pcm, 3200)) {
      await live.session.append(piece);
      scenario.timers.pass(200);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  it('leaves before the end of the utterance, each piece once', async () => {
    scenario.engine.utterances.push(' One two three four.');
    const live = await scenario.open({ stableSeconds: 0 });
    await speak(live, spokenPcm());
    await until(() => live.finals.at(-1)?.endedBy === 'silence');
    expect(live.finals.map(({ text }) => text)).to.deep.equal(['One two three', 'four.']);
    expect(live.types.indexOf('final')).to.be.below(live.types.indexOf('speech_stopped'));
    expect(live.types).not.to.include('partial');
    const [first, last] = [scenario.engine.recognised[0], scenario.engine.recognised.at(-1)];
    expect(first).to.include({ describe: true, dueInMs: null });
    expect(last?.prefix).to.deep.equal({ text: ' One two three', tokens: [1, 2] });
    // The language of what is committed stays.
    expect([first?.language, last?.language]).to.deep.equal(['auto', 'en']);
    live.session.leave();
  });

  it('is what stays where the final result fails', async () => {
    scenario.engine.utterances.push(' One two three four.');
    const live = await scenario.open({ stableSeconds: 0 });
    await speak(live, spokenPcm({ silenceSeconds: 0 }));
    await until(() => live.finals.length === 1);
    scenario.engine.failWith = new Error('It broke.');
    live.session.endUtterance();
    await until(() => live.types.includes('failed'));
    expect(live.finals.map(({ text }) => text)).to.deep.equal(['One two three']);
    live.session.leave();
  });

  it('is nothing of the last seconds before a cut for the length', async () => {
    Object.assign(scenario.engine.info, { windowSeconds: 2 });
    const live = await scenario.open({ stableSeconds: 0 });
    const speech = spokenPcm({ silenceSeconds: 0 }).subarray(SECOND);
    await speak(live, Buffer.concat([speech, speech, pcmOfSilence(1)]));
    live.session.finish();
    await scenario.passing(() => live.untilEnded());
    const ended = live.finals.map(({ endedBy }) => endedBy);
    expect(ended).to.include('length').and.not.to.include('agreement');
  });

  it('is none where the model keeps none', async () => {
    Object.assign(scenario.engine.info, { commits: null });
    const live = await scenario.open({ stableSeconds: 0 });
    await speak(live, spokenPcm());
    await until(() => live.finals.length === 1);
    expect(scenario.engine.recognised).to.have.length(1);
    expect(scenario.engine.recognised[0]).not.to.have.any.keys('describe', 'prefix');
    live.session.leave();
  });
});
