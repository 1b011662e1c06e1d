/** The fields of Deepgram's file endpoint, and of the endpoints that make ephemeral keys. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { library } from '../../support/kept.js';
import { call, type Answer } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { type FieldFixture, type FieldRows } from './field-fixture.js';

export function liveRows(fixture: FieldFixture): FieldRows {
  const post = (path: string, body: object): Promise<Answer> =>
    call(fixture.server, path, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { ...bearer(fixture.customer.key), 'content-type': 'application/json' },
    });
  const secrets = '/v1/realtime/client_secrets';
  const translations = '/v1/realtime/translations/client_secrets';
  const beta = '/v1/realtime/transcription_sessions';
  const shown = async (body: object): Promise<Record<string, unknown>> => (await post(beta, body)).body;
  interface Listened {
    transcript: string;
    words: object[];
    paragraphs?: object;
  }
  const listen = async (query: string, language = 'en', headers: Record<string, string> = {}): Promise<Answer> =>
    call(fixture.server, `/v1/listen?${query}`, {
      ...{ method: 'POST', headers: { ...bearer(fixture.customer.key), ...headers } },
      body: new Uint8Array(fakeAudio(3, { language })),
    });
  const alternativeOf = async (query: string, language?: string): Promise<Listened> => {
    const { results } = (await listen(query, language)).body as {
      results: { channels: { alternatives: Listened[] }[] };
    };
    return results.channels[0]!.alternatives[0]!;
  };
  const rows: Record<string, FieldRows> = {
    '/v1/listen': {
      keep: async () => {
        const { headers } = await listen('keep=true');
        const kept = await library(fixture.server, fixture.customer.key, `/${headers.get('x-transcription-id')}`);
        expect(kept.status).to.equal(200);
        const other = (await listen('keep=false')).headers.get('x-transcription-id');
        expect((await library(fixture.server, fixture.customer.key, `/${other}`)).status).to.equal(404);
      },
      model: async () => {
        expect((await listen('model=fake')).status).to.equal(200);
        expect((await listen('model=other')).status).to.equal(400);
      },
      language: async () => {
        expect((await alternativeOf('language=multi', 'es')).words[0]).to.include({ language: 'es' });
        expect((await alternativeOf('language=es')).words[0]).not.to.have.property('language');
        expect((await listen('language=klingon')).status).to.equal(400);
      },
      detect_language: async () => {
        const { body } = await listen('detect_language=true', 'de');
        expect(body).to.have.nested.property('results.channels[0].detected_language', 'de');
      },
      punctuate: async () => {
        expect((await alternativeOf('punctuate=true')).transcript).to.equal('Hello, World.');
        expect((await alternativeOf('punctuate=false')).transcript).to.equal('hello world');
      },
      smart_format: async () => {
        expect(await alternativeOf('smart_format=true')).to.include.keys('paragraphs');
      },
      diarize: async () => {
        expect((await alternativeOf('diarize=true')).words[1]).to.include({ speaker: 1 });
        expect((await alternativeOf('')).words[1]).not.to.have.property('speaker');
      },
      utterances: async () => {
        expect((await listen('utterances=true')).body['results']).to.include.keys('utterances');
      },
      utt_split: async () => {
        const apart = async (seconds: string): Promise<number> => {
          const { body } = await listen(`utterances=true&utt_split=${seconds}`);
          return (body['results'] as { utterances: object[] }).utterances.length;
        };
        expect([await apart('60'), await apart('0.1')]).to.deep.equal([1, 2]);
        expect((await listen('utterances=true&utt_split=61')).status).to.equal(400);
      },
      paragraphs: async () => {
        expect(await alternativeOf('paragraphs=true')).to.include.keys('paragraphs');
        expect(await alternativeOf('')).not.to.include.keys('paragraphs');
      },
      'Idempotency-Key': async () => {
        const once = (): Promise<Answer> => listen('', 'en', { 'idempotency-key': 'listen once' });
        expect((await once()).headers.get('idempotency-replayed')).to.equal(null);
        expect((await once()).headers.get('idempotency-replayed')).to.equal('true');
      },
    },
    [secrets]: {
      expires_after: async () => {
        const later = await post(secrets, { expires_after: { seconds: 7200 } });
        const sooner = await post(secrets, { expires_after: { seconds: 10 } });
        expect(Number(later.body['expires_at']) - Number(sooner.body['expires_at'])).to.be.above(7000);
      },
      session: async () => {
        const session = { audio: { input: { format: { type: 'audio/pcma' } } } };
        const { body } = await post(secrets, { session });
        expect(body['session']).to.have.nested.property('audio.input.format.type', 'audio/pcma');
      },
    },
    [translations]: {
      expires_after: async () => {
        const later = await post(translations, { expires_after: { seconds: 7200 } });
        const sooner = await post(translations, { expires_after: { seconds: 10 } });
        expect(Number(later.body['expires_at']) - Number(sooner.body['expires_at'])).to.be.above(7000);
      },
      session: async () => {
        const { body } = await post(translations, { session: { audio: { output: { language: 'de' } } } });
        expect(body['session']).to.have.nested.property('audio.output.language', 'de');
      },
    },
    [beta]: {
      client_secret: async () => {
        const expiry = async (seconds: number): Promise<number> => {
          const body = await shown({ client_secret: { expires_at: { seconds } } });
          return (body['client_secret'] as { expires_at: number }).expires_at;
        };
        expect((await expiry(7200)) - (await expiry(10))).to.be.above(7000);
      },
      input_audio_format: async () => {
        expect(await shown({ input_audio_format: 'g711_ulaw' })).to.include({ input_audio_format: 'g711_ulaw' });
      },
      input_audio_transcription: async () => {
        const body = await shown({ input_audio_transcription: { language: 'de' } });
        expect(body).to.have.nested.property('input_audio_transcription.language', 'de');
      },
      turn_detection: async () => {
        expect(await shown({ turn_detection: null })).to.include({ turn_detection: null });
      },
      include: async () => {
        const include = ['item.input_audio_transcription.logprobs'];
        expect((await shown({ include }))['include']).to.deep.equal(include);
      },
    },
    '/v1/auth/grant': {
      ttl_seconds: async () => {
        expect((await post('/v1/auth/grant', { ttl_seconds: 60 })).body).to.include({ expires_in: 60 });
      },
    },
  };
  return Object.fromEntries(
    Object.entries(rows).flatMap(([path, own]) =>
      Object.entries(own).map(([field, row]) => [`POST ${path} ${field}`, row]),
    ),
  );
}
