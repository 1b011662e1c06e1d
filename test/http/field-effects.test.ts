/** Every field that the document lets a request have changes something; one without a row here fails. */
import { expect } from 'chai';
import { call } from '../support/requests.js';
import { adminRows } from './field-rows/admin.js';
import { FieldFixture, type FieldRows } from './field-rows/field-fixture.js';
import { fields } from './field-rows/fields.js';
import { jobRows } from './field-rows/jobs.js';
import { liveRows } from './field-rows/live.js';
import { openAiRows } from './field-rows/openai.js';
import { transcribeFieldRows } from './field-rows/transcribe.js';
import { transcriptRows } from './field-rows/transcripts.js';
import { usageAndKeyRows } from './field-rows/usage-and-keys.js';

describe('every field of a request acts', () => {
  const fixture = new FieldFixture();
  before(() => fixture.open());
  after(() => fixture.server.dispose());

  const rows: FieldRows = {
    ...transcribeFieldRows(fixture),
    ...jobRows(fixture),
    ...openAiRows(fixture),
    ...liveRows(fixture),
    ...usageAndKeyRows(fixture),
    ...transcriptRows(fixture),
    ...adminRows(fixture),
  };

  for (const { method, path, name } of fields) {
    const field = `${method} ${path} ${name}`;
    it(field, async () => {
      if (name === 'X-Request-Id') {
        const { headers } = await call(fixture.server, path, {
          method,
          headers: { 'x-request-id': `${field.length}.me` },
        });
        expect(headers.get('x-request-id')).to.equal(`${field.length}.me`);
        return;
      }
      expect(rows, 'a row of its own').to.have.property(field);
      await rows[field]!();
    });
  }

  it('has no row for a field that is none', () => {
    const known = fields.map(({ method, path, name }) => `${method} ${path} ${name}`);
    expect(known).to.include.members(Object.keys(rows));
    expect(known).to.include('POST /api/v1/transcribe punctuate');
  });
});
