/** The fields of usage, keys and models. */
import { expect } from 'chai';
import { type FieldFixture, type FieldRows } from './field-fixture.js';

export function usageAndKeyRows(fixture: FieldFixture): FieldRows {
  const makeKey = async (name: string): Promise<string> =>
    String((await fixture.manage('/api/v1/keys', { method: 'POST', body: JSON.stringify({ name }) })).body['id']);
  const namesOf = async (): Promise<Map<string, unknown>> => {
    const { keys } = (await fixture.manage('/api/v1/keys')).body as { keys: Record<string, string>[] };
    return new Map(keys.map((key) => [key['name']!, key['revoked_at']]));
  };
  return {
    'GET /v1/models/{model} model': async () => {
      expect((await fixture.manage('/v1/models/fake')).body).to.include({ id: 'fake' });
      expect((await fixture.manage('/v1/models/other')).status).to.equal(404);
    },
    'GET /api/v1/usage days': async () => {
      for (const days of [1, 7, 90]) {
        const { body } = await fixture.manage(`/api/v1/usage?days=${days}`);
        expect(body['window_days']).to.equal(days);
        expect(body['by_day']).to.have.length(days);
      }
    },
    'POST /api/v1/keys name': async () => {
      await makeKey('laptop');
      await makeKey('telephone');
      expect([...(await namesOf()).keys()]).to.include.members(['laptop', 'telephone']);
    },
    'DELETE /api/v1/keys/{id} id': async () => {
      const [, id] = [await makeKey('kept'), await makeKey('revoked')];
      expect((await fixture.manage(`/api/v1/keys/${id}`, { method: 'DELETE' })).body['id']).to.equal(id);
      const revokedAt = await namesOf();
      expect(revokedAt.get('kept')).to.equal(null);
      expect(revokedAt.get('revoked')).to.be.a('string');
    },
  };
}
