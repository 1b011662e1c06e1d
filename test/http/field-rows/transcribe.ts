/** The fields of `POST /transcribe`. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { transcribe, type Answer, type Part } from '../../support/requests.js';
import { AUDIO, type FieldFixture, type FieldRows } from './field-fixture.js';

export function transcribeFieldRows(fixture: FieldFixture): FieldRows {
  const showCount = async (name: string, value: string, { min, max }: { min: number; max: number }) => {
    expect((await fixture.send(AUDIO, ['diarize', '1'], [name, value])).status).to.equal(200);
    expect(fixture.diarizer.asked.at(-1)).to.include({ minSpeakers: min, maxSpeakers: max });
    expect((await fixture.send(AUDIO, [name, value])).error).to.include({ code: 'invalid_request', param: name });
  };
  return {
    'POST /api/v1/transcribe audio': async () => {
      const longer: Part = ['audio', fakeAudio(4, { text: 'Other words.' })];
      const [one, other] = [await fixture.send(AUDIO), await fixture.send(longer)];
      expect([one.body['text'], one.body['duration_sec']]).to.deep.equal(['Hello, World.', 3]);
      expect([other.body['text'], other.body['duration_sec']]).to.deep.equal(['Other words.', 4]);
    },
    'POST /api/v1/transcribe model': async () => {
      expect((await fixture.send(AUDIO, ['model', 'fake'])).headers.get('x-model')).to.equal('fake');
      expect((await fixture.send(AUDIO, ['model', 'other'])).error).to.include({ code: 'unsupported_model' });
    },
    'POST /api/v1/transcribe language': async () => {
      expect((await fixture.send(AUDIO)).body['language']).to.equal('en');
      expect((await fixture.send(AUDIO, ['language', 'deu'])).body['language']).to.equal('de');
    },
    'POST /api/v1/transcribe translate_to': async () => {
      expect((await fixture.send(AUDIO)).body).not.to.have.property('translation');
      const { body } = await fixture.send(AUDIO, ['translate_to', 'en-GB']);
      expect(body['translation']).to.deep.equal({ language: 'en', text: 'Hello, World.' });
    },
    'POST /api/v1/transcribe punctuate': async () => {
      expect((await fixture.send(AUDIO, ['punctuate', 'YES'])).body['text']).to.equal('Hello, World.');
      expect((await fixture.send(AUDIO, ['punctuate', 'off'])).body['text']).to.equal('hello world');
    },
    'POST /api/v1/transcribe diarize': async () => {
      expect((await fixture.send(AUDIO, ['diarize', '0'])).body).not.to.have.any.keys('segments', 'words');
      const { words } = (await fixture.send(AUDIO, ['diarize', '1'])).body as { words?: { speaker: string }[] };
      expect(words?.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2']);
    },
    'POST /api/v1/transcribe num_speakers': () => showCount('num_speakers', '1', { min: 1, max: 1 }),
    'POST /api/v1/transcribe min_speakers': () => showCount('min_speakers', '3', { min: 3, max: 20 }),
    'POST /api/v1/transcribe max_speakers': () => showCount('max_speakers', '2', { min: 1, max: 2 }),
    'POST /api/v1/transcribe timestamps': async () => {
      const timesOf = async (...parts: Part[]): Promise<string[]> =>
        Object.keys((await fixture.send(AUDIO, ...parts)).body).filter((key) => /segments|words/.test(key));
      expect(await timesOf(['timestamps', 'NONE'])).to.deep.equal([]);
      expect(await timesOf(['timestamps', 'Segment'])).to.deep.equal(['segments']);
      expect(await timesOf(['timestamps', 'word'])).to.deep.equal(['segments', 'words']);
    },
    'POST /api/v1/transcribe format': async () => {
      const { body } = await fixture.send(AUDIO, ['format', 'JSON']);
      expect(body['text']).to.equal('Hello, World.');
      const written = async (format: string): Promise<string> => (await fixture.send(AUDIO, ['format', format])).text;
      expect(await written('text')).to.equal('Hello, World.');
      expect(await written('Srt')).to.match(/^1\n00:00:00,000 --> .*\nHello, World\.\n$/);
      expect(await written('vtt')).to.match(/^WEBVTT\n\n00:00:00\.000 --> .*\nHello, World\.\n$/);
    },
    'POST /api/v1/transcribe prompt': async () => {
      await fixture.send(AUDIO, ['prompt', ' Ada Lovelace ']);
      await fixture.send(AUDIO, ['prompt', ' ']);
      const longest = '👩'.repeat(1000);
      await fixture.send(AUDIO, ['prompt', longest]);
      expect(fixture.server.engine.prompts.slice(-3)).to.deep.equal(['Ada Lovelace', undefined, longest]);
    },
    'POST /api/v1/transcribe Idempotency-Key': async () => {
      const once = (key: string): Promise<Answer> =>
        transcribe(fixture.server, { key: fixture.customer.key, headers: { 'idempotency-key': key } });
      const [first, again, other] = [await once('a'), await once('a'), await once('b')];
      expect(again.body['id']).to.equal(first.body['id']);
      expect(again.headers.get('idempotency-replayed')).to.equal('true');
      expect(other.body['id']).not.to.equal(first.body['id']);
    },
  };
}
