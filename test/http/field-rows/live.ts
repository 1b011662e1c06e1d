/** The fields of the endpoints that make ephemeral keys. */
import { expect } from 'chai';
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
  const rows: Record<string, FieldRows> = {
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
