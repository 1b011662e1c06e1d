/** One recording in every container and codec: the same words, whatever it is wrapped in. */
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { VerbatimClient } from '../../../src/client/index.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { TestServer } from '../../support/server.js';

const fixtures = join(__dirname, '..', '..', 'fixtures', 'audio', 'formats');
const EXPECTED: Record<string, { language: string; text: string }> = {
  de: { language: 'de', text: 'Mir geht es gut, danke.' },
  es: { language: 'es', text: 'Llevamos aquí siete minutos.' },
};

describe('the same recording in every format', () => {
  let server: TestServer<SpeechEngine>;
  let client: VerbatimClient;

  before(async () => {
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 2 }) });
    client = new VerbatimClient({ baseUrl: server.url, apiKey: (await server.customer(100)).key.rawKey });
  });
  after(() => server.dispose());

  for (const file of readdirSync(fixtures)) {
    it(file, async () => {
      const recognised = await client.transcribe({ audio: join(fixtures, file) });
      expect(recognised).to.include(EXPECTED[file.slice(0, 2)]);
    });
  }
});
