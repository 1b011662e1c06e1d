/** What browsers, phones and cameras record: the words of the WAV file that it was made of, for the same price. */
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { conversionsOf } from '../../support/child-processes.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { recordingOf, recordLate, RECORDINGS } from '../../support/recordings.js';
import { call, transcribe, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

const fixtures = join(__dirname, '..', '..', 'fixtures', 'audio');
const WAV = join(fixtures, 'samples', 'en-wav16.wav');
const EXPECTED = { language: 'en', text: 'Hello Emma, this is Laura.' };

describe('recordings of browsers, phones and cameras', () => {
  let server: TestServer<SpeechEngine>;
  let customer: Customer;
  let directory: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-recordings-'));
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 2 }) });
  });
  after(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true });
  });
  beforeEach(async () => {
    customer = await server.customer(100);
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
    expect(conversionsOf()).to.deep.equal([]);
  });

  /** Neither name nor type of the part says what it is. */
  const send = (path: string, fields: Part[] = []): Promise<Answer> =>
    transcribe(server, { key: customer.key, parts: [['audio', readFileSync(path)], ...fields] });

  for (const { name, args } of RECORDINGS) {
    it(name, async () => {
      const { status, body } = await send(recordingOf(WAV, join(directory, name), args));
      expect({ status, ...body }).to.include({
        ...EXPECTED,
        status: 200,
        credits_used: 1,
        credits_remaining: 99,
      });
      expect(body['duration_sec']).to.be.closeTo(2.44, 0.2);
    });
  }

  const PHONES = {
    'es-08-narrow.amr': { language: 'es', text: 'Llevamos aquí siete minutos.' },
    'de-03-wide.amr': { language: 'de', text: 'Mir geht es gut, danke.' },
  };
  for (const [name, expected] of Object.entries(PHONES)) {
    it(name, async () => {
      const { status, body } = await send(join(fixtures, 'recordings', name));
      expect({ status, ...body }).to.include({ ...expected, status: 200, credits_used: 1 });
    });
  }

  it("OpenAI's clients work as well", async () => {
    const body = new FormData();
    const webm = recordingOf(WAV, join(directory, 'openai.webm'), ['-c:a', 'libopus']);
    body.append('file', new Blob([new Uint8Array(readFileSync(webm))]), 'audio.wav');
    body.append('model', 'whisper-1');
    const answer = await call(server, '/v1/audio/transcriptions', {
      method: 'POST',
      headers: bearer(customer.key),
      body,
    });
    expect(answer.body).to.include({ text: EXPECTED.text });
  });

  it('times are those of the video, in which the sound begins late', async () => {
    const { body } = await send(recordLate(WAV, join(directory, 'late.mp4'), 3), [['timestamps', 'word']]);
    expect(body).to.include(EXPECTED);
    expect((body['words'] as { start: number }[])[0]?.start).to.be.within(3, 3.6);
  });
});
