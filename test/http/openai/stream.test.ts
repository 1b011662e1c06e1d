/** Answers in events: what comes when, and what comes where something fails. */
import { expect } from 'chai';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import type { EventReader } from '../../support/event-reader.js';
import { joinedDeltas } from '../../support/event-reader.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { FakeTranslation } from '../../support/fake-translation.js';
import { call, form, type Part } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { delta, HEARTBEAT_MS, last, PATH, THREE_MINUTES, TRANSLATIONS, useStreamFixture } from './stream-fixture.js';

describe('answers in events', () => {
  const fixture = useStreamFixture();

  describe('what is reported', () => {
    beforeEach(() => fixture.start());

    it('each piece as soon as it is there, then the whole, what it cost and how long it is', async () => {
      fixture.server.engine.holdAll(1);
      const reader = await fixture.open({ parts: [['language', 'tlh']] });
      const { headers } = reader.response;
      expect(headers.get('x-accel-buffering')).to.equal('no');
      expect(headers.get('x-ignored-fields')).to.equal('language');
      expect(headers.get('x-request-id')).to.match(/^req_/);
      expect(await reader.next()).to.deep.equal(delta('One.'));
      expect(fixture.server.engine.running).to.equal(1);
      fixture.server.engine.release();
      const events = await reader.rest();
      expect(events.slice(0, -1)).to.deep.equal([delta(' Two.'), delta(' Three.')]);
      expect(last(events).event).to.equal('transcript.text.done');
      expect(last(events).data).to.deep.include({
        ...{ type: 'transcript.text.done', text: 'One. Two. Three.' },
        ...{ usage: { type: 'duration', seconds: 180 }, credits_used: 3, credits_remaining: 97 },
      });
      expect(last(events).data['id']).to.match(/^tr_/);
      expect(await fixture.spent()).to.equal(3);
      const line = fixture.server.logs.find(({ status }) => status === 200);
      expect(line).to.include({ audioSeconds: 180, transcriptionId: last(events).data['id'] });
    });

    it('with verbose_json all that the answer in one piece has', async () => {
      const verbose: Part = ['response_format', 'verbose_json'];
      const { data } = last(await (await fixture.open({ parts: [verbose] })).rest());
      const body = form([['file', THREE_MINUTES], ['model', 'whisper-1'], verbose]);
      const whole = await call(fixture.server, PATH, { method: 'POST', headers: bearer(fixture.customer.key), body });
      expect(whole.body['segments']).to.have.length(3);
      expect(data).to.deep.include(whole.body);
    });

    it('the times that were asked for with json, too, as Subtitle Edit does', async () => {
      const parts = ['segment', 'word'].map((value): Part => ['timestamp_granularities[]', value]);
      const { data } = last(await (await fixture.open({ parts: [['response_format', 'json'], ...parts] })).rest());
      expect(data['segments']).to.have.length(3);
      expect(data['words']).to.have.length(3);
      const plain = last(await (await fixture.open({ parts: [['response_format', 'json']] })).rest());
      expect(plain.data).not.to.have.any.keys('segments', 'words');
    });

    it('with text the same pieces', async () => {
      const events = await (await fixture.open({ parts: [['response_format', 'text']] })).rest();
      expect(joinedDeltas(events)).to.equal('One. Two. Three.');
    });

    it('nothing but the end where nothing is said', async () => {
      const events = await (await fixture.open({ file: fakeAudio(3, { text: ' ' }) })).rest();
      expect(events.map(({ event }) => event)).to.deep.equal(['transcript.text.done']);
      expect(last(events).data['text']).to.equal('');
    });

    it('nothing of it to those who do not ask', async () => {
      for (const value of ['false', '0', '', 'null']) {
        const body = form([
          ['file', fakeAudio(3)],
          ['model', 'whisper-1'],
          ['stream', value],
        ]);
        const { headers } = await call(fixture.server, PATH, {
          method: 'POST',
          headers: bearer(fixture.customer.key),
          body,
        });
        expect(headers.get('content-type')).to.contain('application/json');
      }
    });
  });

  describe('a client that waits', () => {
    beforeEach(() => fixture.start());

    it('receives comments while there is nothing to say, and none besides', async () => {
      fixture.server.engine.holdAll();
      const opening = fixture.open();
      await fixture.server.engine.untilRunning(1);
      fixture.timers.pass(2 * HEARTBEAT_MS);
      const reader = await opening;
      for (let n = 0; n < 2; n += 1) expect((await reader.next())?.event).to.equal(null);
      fixture.server.engine.release();
      await until(() => fixture.hasLogged(200));
      fixture.timers.pass(10 * HEARTBEAT_MS);
      const events = await reader.rest();
      expect(events.map(({ event }) => event)).to.not.include(null);
      expect(joinedDeltas(events)).to.equal('One. Two. Three.');
    });

    it('receives none right behind a piece', async () => {
      const reader = await fixture.listening(1);
      fixture.timers.pass(HEARTBEAT_MS);
      fixture.timers.pass(HEARTBEAT_MS);
      expect((await reader.next())?.event).to.equal(null);
      fixture.server.engine.release();
      expect((await reader.rest()).map(({ event }) => event)).to.not.include(null);
    });

    it('is refused as ever before anything was written', async () => {
      fixture.server.engine.failWith = new Error('Out of order.');
      const { status, headers, body } = await fixture.post();
      expect(status).to.equal(500);
      expect(headers.get('content-type')).to.contain('application/json');
      expect(body['error']).to.include({ type: 'server_error' });
      expect((await fixture.post({ file: Buffer.from('no audio') })).status).to.equal(400);
      fixture.timers.pass(10 * HEARTBEAT_MS);
      expect(await fixture.spent()).to.equal(0);
    });
  });

  describe('an error of ours in the middle', () => {
    beforeEach(() => fixture.start());
    const failed = async (reader: EventReader, code: string): Promise<void> => {
      const end = last(await reader.rest());
      expect(end.event).to.equal('error');
      expect(Object.keys(end.data)).to.deep.equal(['error']);
      expect(end.data['error']).to.include({ type: 'server_error', code, param: null });
      await until(() => fixture.server.uploads().length === 0);
      expect([await fixture.spent(), await fixture.usedMinutes()]).to.deep.equal([0, 0]);
      expect(last(fixture.server.logs as never)).to.include({ status: 200, code });
    };

    it('of the engine is reported, and uncharged', async () => {
      const reader = await fixture.listening(1);
      fixture.server.engine.failWith = new Error('Out of order.');
      fixture.server.engine.release();
      await failed(reader, 'internal_error');
      expect(fixture.server.logs.some(({ msg }) => msg === 'request failed')).to.equal(true);
    });

    it('is reported after a heartbeat alone, too', async () => {
      fixture.server.engine.holdAll();
      const opening = fixture.open();
      await fixture.server.engine.untilRunning(1);
      fixture.timers.pass(HEARTBEAT_MS);
      const reader = await opening;
      fixture.server.engine.failWith = new Error('Out of order.');
      fixture.server.engine.release();
      await failed(reader, 'internal_error');
    });

    it('is that it takes too long', async () => {
      await fixture.server.dispose();
      await fixture.start({ settings: { requestTimeoutMs: 1000 } });
      const reader = await fixture.listening(1);
      fixture.timers.pass(1000);
      await failed(reader, 'overloaded');
    });

    it('is that the server ends', async () => {
      const reader = await fixture.listening(2);
      const closing = fixture.server.close(0);
      fixture.timers.pass(0);
      await failed(reader, 'shutting_down');
      // The connection may be kept alive: it began before the end was known.
      const passing = setInterval(() => fixture.timers.pass(2000), 5);
      await closing;
      clearInterval(passing);
    });
  });

  describe('a translation', () => {
    const spanish = (text: string): Buffer => fakeAudio(180, { language: 'es', text });

    it('of the speech model is reported during its second pass', async () => {
      await fixture.start();
      fixture.server.engine.info.translatesToEnglish = true;
      const events = await (await fixture.open({ path: TRANSLATIONS, file: spanish('Uno.|Dos.') })).rest();
      expect(events.slice(0, -1)).to.deep.equal([delta('into English: Uno.'), delta(' Dos.')]);
      expect(last(events).data).to.include({ text: 'into English: Uno. Dos.', credits_used: 3 });
    });

    it('of what is English already is reported as it is recognised', async () => {
      await fixture.start();
      fixture.server.engine.info.translatesToEnglish = true;
      const reader = await fixture.listening(1, { path: TRANSLATIONS });
      expect(fixture.server.engine.running).to.equal(1);
      fixture.server.engine.release();
      expect(last(await reader.rest()).data).to.include({ text: 'One. Two. Three.', credits_used: 3 });
    });

    it('by a translation model is reported sentence by sentence; who leaves pays for those, surcharge and all', async () => {
      const fake = new FakeTranslation();
      const models = [{ name: 'es-en', path: 'es-en', from: ['es'], to: ['en'] }];
      const translator = new TranslationEngine({
        ...{ binding: fake, models, device: 'cpu', backend: 'auto', translators: 1, threads: 1 },
      });
      await fixture.start({ translator, settings: { translationCreditsPerMinute: 1 } });
      const long = `Dos ${'y '.repeat(60)}`.trim();
      const file = spanish(`Uno.|${long}.|Tres.`);
      const whole = await (await fixture.open({ path: TRANSLATIONS, file })).rest();
      expect(joinedDeltas(whole)).to.equal(last(whole).data['text']);
      expect(last(whole).data['text']).to.equal(`(es-en) Uno. (es-en) ${long}. (es-en) Tres.`);
      expect(await fixture.spent()).to.equal(6);
      // The batch of the short sentences goes through, that of the long one stays.
      fake.hold();
      const controller = new AbortController();
      const opening = fixture.open({ path: TRANSLATIONS, file, signal: controller.signal });
      await fake.untilRunning(1);
      fake.release();
      fake.hold();
      const reader = await opening;
      expect(await reader.next()).to.deep.equal(delta('(es-en) Uno.'));
      controller.abort();
      await until(() => fixture.hasLogged(499));
      fake.release();
      expect(await fixture.spent()).to.equal(6 + 2);
      await translator.close();
    });
  });
});
