/** What the translation and the speakers of live sessions are found to cost. */
import { expect } from 'chai';
import { MeasuredExtras } from '../../src/live/extra-work.js';
import type { LiveReservation } from '../../src/live/service.js';
import { fakeTranslator } from '../support/fake-translator.js';
import { spokenPcm } from '../support/live-audio.js';
import { until } from '../support/until.js';
import { LiveScenario } from './scenario.js';

describe('The work on translation and speakers', () => {
  let now: number;
  let measured: [extra: string, seconds: number, workMs: number][];
  let extras: MeasuredExtras;

  beforeEach(() => {
    now = 0;
    measured = [];
    extras = new MeasuredExtras(
      (extra, { seconds, workMs }) => measured.push([extra, seconds, workMs]),
      () => now,
    );
  });

  it('is its time, shared among those that wait for it together', () => {
    const one = extras.begin('translated');
    now += 100;
    const other = extras.begin('translated');
    now += 200;
    one(3);
    now += 50;
    other(4);
    now += 1000;
    const third = extras.begin('translated');
    now += 30;
    third(1);
    expect(measured).to.deep.equal([
      ['translated', 3, 200],
      ['translated', 4, 150],
      ['translated', 1, 30],
    ]);
  });

  it('is each by itself, and not the loading of a model', () => {
    const [translation, speakers] = [extras.begin('translated'), extras.begin('diarized')];
    now += 500;
    speakers(2);
    now += 9500;
    translation(4);
    expect(measured).to.deep.equal([
      ['diarized', 2, 500],
      ['translated', 4, 4000],
    ]);
  });

  it('of a session has the next ones with the same refused earlier, and no others', async () => {
    const scenario = await LiveScenario.start();
    try {
      scenario.make({ maxLiveSessions: 1000 });
      const translator = fakeTranslator((text) => text);
      let translations = 0;
      const translate: typeof translator.translate = async (input) => {
        translations += 1;
        await new Promise<void>((resolve) => scenario.timers.after(2000, resolve));
        return translator.translate(input);
      };
      scenario.translator = { ...translator, translate };
      const { accountId, keyId } = scenario;
      const owner = { accountId, keyId, requestId: 'req', endpoint: '/v1/realtime' };
      const most = async (translateTo: string | null): Promise<number> => {
        const places: LiveReservation[] = [];
        try {
          for (;;) {
            const settings = { language: null, prompt: null, diarize: false, translateTo };
            places.push(await scenario.service.reserveFor(owner, null, settings));
          }
        } catch (error) {
          expect(error).to.include({ code: 'overloaded' });
        }
        for (const place of places) place.release();
        return places.length;
      };
      const live = await scenario.open({ translateTo: 'de' });
      await live.send(spokenPcm());
      await until(() => translations === 1);
      // What translation costs is not known yet.
      const [plain, translated] = [await most(null), await most('de')];
      expect(translated).to.be.below(plain);
      scenario.timers.pass(2000);
      await until(() => live.types.includes('translated'));
      expect(await most('de')).to.be.below(translated);
      expect(await most(null)).to.be.at.least(plain);
      live.session.leave();
    } finally {
      await scenario.end();
    }
  });
});
