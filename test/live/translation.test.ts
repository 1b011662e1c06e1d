/** Final text of a live session in another language. */
import { expect } from 'chai';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import type { TranslatedResult } from '../../src/live/events.js';
import { fakeTranslator } from '../support/fake-translator.js';
import { spokenPcm } from '../support/live-audio.js';
import { pcmOfSilence } from '../support/speech.js';
import { until } from '../support/until.js';
import { LiveScenario, SECOND, type Opened } from './scenario.js';

describe('The translation of a live session', () => {
  let scenario: LiveScenario;

  beforeEach(async () => {
    scenario = await LiveScenario.start();
    scenario.translator = fakeTranslator((text, { to }) => `(${to}) ${text.trim()}`);
  });
  afterEach(() => scenario.end());

  const translated = (live: Opened): TranslatedResult[] => live.events.filter((event) => event.type === 'translated');

  it('comes behind the final result, with its time', async () => {
    scenario.engine.utterances.push(' Good morning.');
    const live = await scenario.open({ translateTo: 'de' });
    await live.send(spokenPcm());
    live.session.finish();
    await live.untilEnded();
    expect(live.types).to.deep.equal(['speech_started', 'speech_stopped', 'final', 'translated']);
    const [result] = translated(live);
    expect(result).to.include({ utterance: 0, text: '(de) Good morning.', language: 'de', spokenLanguage: 'en' });
    const [final] = live.finals;
    expect(result!.startSeconds).to.be.at.least(final!.startSeconds);
    expect(result!.endSeconds).to.be.within(result!.startSeconds, final!.endSeconds);
  });

  it('waits for the end of a sentence that a window cuts', async () => {
    Object.assign(scenario.engine.info, { windowSeconds: 2 });
    scenario.engine.utterances.push(' One sentence. And half', ' of another, by Dr.', ' Smith. A third.');
    const live = await scenario.open({ translateTo: 'de' });
    const speech = spokenPcm({ silenceSeconds: 0 }).subarray(SECOND);
    await live.send(Buffer.concat([speech, speech, speech, pcmOfSilence(1)]));
    live.session.finish();
    await scenario.passing(() => live.untilEnded());
    const texts = translated(live).map(({ text }) => text);
    expect(texts[0]).to.equal('(de) One sentence.');
    expect(texts[1]).to.match(/^\(de\) And half of another, by Dr\. Smith\. A third\./);
    const times = translated(live).flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
    expect(times).to.deep.equal([...times].sort((one, other) => one - other));
    expect(times[1]).to.be.below(times[3]!);
    // Each sentence leaves before the utterance is over.
    const first = live.types.indexOf('translated');
    expect(first).to.be.within(1, live.types.lastIndexOf('final') - 1);
  });

  it('of text in the language already is the text', async () => {
    const live = await scenario.open({ translateTo: 'en' });
    await live.send(spokenPcm());
    live.session.finish();
    await live.untilEnded();
    expect(translated(live).map(({ text }) => text)).to.deep.equal(['Hello, World.']);
  });

  it('fails for one utterance, and the session goes on', async () => {
    let isBroken = true;
    const works = scenario.translator!;
    scenario.translator = {
      ...works,
      translate: (input) => {
        if (!isBroken) return works.translate(input);
        isBroken = false;
        return Promise.reject(new Error('It broke.'));
      },
    };
    const live = await scenario.open({ translateTo: 'de' });
    await live.send(Buffer.concat([spokenPcm(), spokenPcm()]));
    live.session.finish();
    await scenario.passing(() => live.untilEnded());
    const failed = live.events.find(({ type }) => type === 'translation_failed');
    expect(failed).to.include({ utterance: 0 }).and.have.nested.property('error.code', 'internal_error');
    expect(translated(live).map(({ utterance }) => utterance)).to.deep.equal([1]);
  });

  it('says of a spoken language that no model translates that there is none', async () => {
    scenario.translator = fakeTranslator(
      (text) => text,
      (from, to) => from === 'de' && to === 'fr',
    );
    const live = await scenario.open({ translateTo: 'fr' });
    await live.send(spokenPcm());
    await until(() => live.types.includes('translation_failed'));
    const failed = live.events.find(({ type }) => type === 'translation_failed');
    expect(failed).to.have.nested.property('error.code', 'unsupported_translation');
    live.session.leave();
  });

  it('is waited for at the end, and given up when the client leaves', async () => {
    let finish = (): void => undefined;
    let signal: AbortSignal | undefined;
    const works = scenario.translator!;
    const slow: TextTranslator['translate'] = async (input) => {
      signal = input.signal;
      await new Promise<void>((resolve) => (finish = resolve));
      return works.translate(input);
    };
    scenario.translator = { ...works, translate: slow };
    const live = await scenario.open({ translateTo: 'de' });
    await live.send(spokenPcm());
    live.session.finish();
    await until(() => signal !== undefined);
    expect(live.end).to.equal(null);
    finish();
    expect(await live.untilEnded()).to.deep.equal({ how: 'finished' });
    expect(translated(live)).to.have.length(1);
    signal = undefined;
    const left = await scenario.open({ translateTo: 'de' });
    await left.send(spokenPcm());
    await until(() => signal !== undefined);
    left.session.leave();
    expect(signal!.aborted).to.equal(true);
    finish();
    await left.untilEnded();
    expect(translated(left)).to.deep.equal([]);
  });

  it('has its surcharge in every started minute, before work', async () => {
    const live = await scenario.open({ translateTo: 'de' });
    await live.session.append(Buffer.alloc(2));
    await until(async () => (await scenario.spent()) === 5);
    void live.session.append(Buffer.alloc(60 * SECOND));
    await scenario.passing(() => until(async () => (await scenario.spent()) === 10));
    live.session.leave();
    await live.untilEnded();
    const plain = await scenario.open();
    await plain.session.append(Buffer.alloc(2));
    await until(async () => (await scenario.spent()) === 12);
    plain.session.leave();
  });

  it('is refused where no model does it, with the languages that there are', async () => {
    scenario.translator = fakeTranslator(
      (text) => text,
      (from, to) => from === 'de' && ['en', 'fr'].includes(to),
    );
    const refused = (settings: object): Promise<unknown> =>
      scenario.open(settings).then(
        () => expect.fail('it was opened'),
        (error: unknown) => error,
      );
    expect(await refused({ translateTo: 'ja' }))
      .to.include({ code: 'unsupported_translation', param: 'translate_to' })
      .and.have.property('message')
      .that.includes('en, fr');
    expect(await refused({ translateTo: 'fr', language: 'es' })).to.include({ code: 'unsupported_translation' });
    scenario.translator = undefined;
    expect(await refused({ translateTo: 'de' }))
      .to.have.property('message')
      .that.includes('no model');
  });
});
