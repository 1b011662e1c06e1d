/** The fields of the OpenAI-compatible endpoints. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, form, type Answer, type Part } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { type FieldFixture, type FieldRows } from './field-fixture.js';

export function openAiRows(fixture: FieldFixture): FieldRows {
  const openAi = (path: string, parts: Part[], headers: Record<string, string> = {}): Promise<Answer> => {
    const body = form(parts);
    return call(fixture.server, path, {
      method: 'POST',
      headers: { ...bearer(fixture.customer.key), ...headers },
      body,
    });
  };
  /** Both endpoints take these, and show them alike. */
  const sharedRows = (path: string): FieldRows => {
    const file: Part = ['file', fakeAudio(3)];
    const model: Part = ['model', 'whisper-1'];
    const ask = (...parts: Part[]): Promise<Answer> => openAi(path, [file, model, ...parts]);
    return {
      file: async () => {
        expect((await ask()).body['text']).to.equal('Hello, World.');
        const other = await openAi(path, [['file', fakeAudio(4, { text: 'Other words.' })], model]);
        expect(other.body['text']).to.equal('Other words.');
      },
      model: async () => {
        expect((await openAi(path, [file, ['model', 'fake']])).status).to.equal(200);
        expect((await openAi(path, [file, ['model', 'other']])).status).to.equal(404);
      },
      prompt: async () => {
        await ask(['prompt', 'Ada']);
        expect(fixture.server.engine.prompts.at(-1)).to.equal('Ada');
      },
      temperature: async () => {
        await ask(['temperature', '0.3']);
        expect(fixture.server.engine.temperatures.at(-1)).to.equal(0.3);
      },
      response_format: async () => {
        expect((await ask(['response_format', 'text'])).text).to.equal('Hello, World.\n');
        expect((await ask(['response_format', 'srt'])).text).to.match(/^1\n00:00:00,000 --> /);
        expect((await ask(['response_format', 'vtt'])).text).to.match(/^WEBVTT\n/);
        expect((await ask(['response_format', 'verbose_json'])).body).to.include({ language: 'english' });
        const { status, body } = await ask(['response_format', 'diarized_json']);
        if (path.endsWith('/translations')) expect(status).to.equal(400);
        else expect(body['text']).to.match(/^A: Hello,\nB: World\.$/);
      },
      stream: async () => {
        const { headers, text } = await ask(['stream', 'true']);
        expect(headers.get('content-type')).to.contain('text/event-stream');
        expect(text).to.contain('"delta":"Hello, World."');
        expect((await ask(['stream', 'false'])).body['text']).to.equal('Hello, World.');
      },
      'Idempotency-Key': async () => {
        const once = (): Promise<Answer> => openAi(path, [file, model], { 'idempotency-key': `${path} once` });
        expect((await once()).headers.get('idempotency-replayed')).to.equal(null);
        expect((await once()).headers.get('idempotency-replayed')).to.equal('true');
      },
      'X-Stainless-Retry-Count': async () => {
        const sent = [file, model, ['prompt', 'sent once']] as Part[];
        const replayed = async (count: string): Promise<string | null> =>
          (await openAi(path, sent, { 'x-stainless-retry-count': count })).headers.get('idempotency-replayed');
        expect([await replayed('0'), await replayed('0'), await replayed('1')]).to.deep.equal([
          ...[null, null],
          'true',
        ]);
      },
    };
  };
  const refusedRow = (name: string, value: string) => async (): Promise<void> => {
    const parts: Part[] = [
      ['file', fakeAudio(3)],
      ['model', 'fake'],
      [name, value],
    ];
    const { status, body } = await openAi('/v1/audio/transcriptions', parts);
    expect(status).to.equal(400);
    expect(body['error']).to.include({ param: name });
  };
  const transcriptionRows: FieldRows = {
    ...sharedRows('/v1/audio/transcriptions'),
    language: async () => {
      const parts: Part[] = [
        ['file', fakeAudio(3)],
        ['model', 'fake'],
        ['response_format', 'verbose_json'],
      ];
      const { body } = await openAi('/v1/audio/transcriptions', [...parts, ['language', 'de']]);
      expect(body['language']).to.equal('german');
    },
    'timestamp_granularities[]': async () => {
      const parts: Part[] = [
        ['file', fakeAudio(3)],
        ['model', 'fake'],
        ['response_format', 'verbose_json'],
      ];
      const { body } = await openAi('/v1/audio/transcriptions', [...parts, ['timestamp_granularities[]', 'word']]);
      expect(body).to.include.keys('words').and.not.to.include.keys('segments');
    },
    chunking_strategy: refusedRow('chunking_strategy', 'server_vad'),
    'include[]': refusedRow('include[]', 'logprobs'),
    'known_speaker_names[]': refusedRow('known_speaker_names[]', 'Ada'),
    'known_speaker_references[]': refusedRow('known_speaker_references[]', 'data:AUDIO/wav;base64,UklGRg=='),
  };
  const named = (path: string, own: FieldRows) =>
    Object.fromEntries(Object.entries(own).map(([name, show]) => [`POST ${path} ${name}`, show]));
  return {
    ...named('/v1/audio/transcriptions', transcriptionRows),
    ...named('/v1/audio/translations', sharedRows('/v1/audio/translations')),
  };
}
