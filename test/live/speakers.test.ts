/** Who speaks in a live session. */
import { expect } from 'chai';
import { speakerAt } from '../../src/live/session-speakers.js';
import { spokenPcm } from '../support/live-audio.js';
import { until } from '../support/until.js';
import { LiveScenario } from './scenario.js';

describe('The speakers of a live session', () => {
  let scenario: LiveScenario;

  beforeEach(async () => {
    scenario = await LiveScenario.start();
  });
  afterEach(() => scenario.end());

  it('come with its final results, on its time line', async () => {
    const live = await scenario.open({ diarize: true, words: true });
    await live.send(Buffer.concat([spokenPcm(), spokenPcm()]));
    live.session.finish();
    await scenario.passing(() => live.untilEnded());
    expect(live.finals).to.have.length(2);
    for (const { turns, segments, startSeconds, endSeconds } of live.finals) {
      expect(turns!.map(({ speaker }) => speaker)).to.deep.equal([0, 1]);
      expect(turns![0]!.startSeconds).to.be.closeTo(startSeconds, 1e-6);
      expect(turns![1]!.endSeconds).to.be.closeTo(endSeconds, 1e-6);
      const speakers = segments.flatMap(({ words = [] }) => words).map(speakerAt(turns));
      expect(speakers).to.deep.equal([0, 1]);
    }
    expect(scenario.diarizer.stretches).to.deep.equal(scenario.engine.recognised.map(({ samples }) => samples.length));
  });

  it('are missed where they could not be found, and the text is not', async () => {
    scenario.diarizer.failWith = new Error('It broke.');
    const live = await scenario.open({ diarize: true });
    await live.send(Buffer.concat([spokenPcm(), spokenPcm()]));
    live.session.finish();
    await scenario.passing(() => live.untilEnded());
    expect(live.finals.map(({ turns, text }) => [turns?.length, text])).to.deep.equal([
      [undefined, 'Hello, World.'],
      [2, 'Hello, World.'],
    ]);
    expect(speakerAt(undefined)({ startSeconds: 0, endSeconds: 1 })).to.equal(null);
  });

  it('are of languages that a model distinguishes, whichever is detected', async () => {
    scenario.diarizer.languages = ['de'];
    const live = await scenario.open({ diarize: true });
    await live.send(spokenPcm());
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).not.to.have.property('turns');
    live.session.leave();
    const error: unknown = await scenario.open({ diarize: true, language: 'en' }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'unsupported_diarization' });
  });

  it('are nobody’s business who does not ask, and have a surcharge', async () => {
    const live = await scenario.open();
    await live.send(spokenPcm());
    await until(() => live.finals.length === 1);
    expect(live.finals[0]).not.to.have.property('turns');
    expect(await scenario.spent()).to.equal(2);
    live.session.leave();
    const diarized = await scenario.open({ diarize: true });
    await diarized.session.append(Buffer.alloc(2));
    await until(async () => (await scenario.spent()) === 9);
    diarized.session.leave();
  });
});
