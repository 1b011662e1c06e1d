/** A recording gives way to what the engine reads: every pass over it, a job's as well, and the time it took is told. */
import { expect } from 'chai';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeReadable } from '../../src/transcription/readable-audio.js';
import { CONVERSION_MS, fakeAudio, FakeEngine, fakeRecording } from '../support/fake-engine.js';
import { transcribe, type Part } from '../support/requests.js';
import { TestServer } from '../support/server.js';

describe('a recording that the engine does not read', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-readable-'));
    path = join(directory, 'audio');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is replaced by what it does, beside which nothing stays', async () => {
    writeFileSync(path, fakeRecording(fakeAudio(3)));
    const file = { path, accountId: 'a' };
    expect(await makeReadable(new FakeEngine(), file)).to.equal(CONVERSION_MS);
    expect(readFileSync(path)).to.deep.equal(fakeAudio(3));
    expect(await makeReadable(new FakeEngine(), file)).to.equal(0);
    expect(readdirSync(directory)).to.deep.equal(['audio']);
  });

  it('stays as it is when that is refused', async () => {
    writeFileSync(path, fakeRecording(fakeAudio(300)));
    const refused = await makeReadable(new FakeEngine(), { path, accountId: 'a', maxSeconds: 200 }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.include({ code: 'audio_too_long' });
    expect(readFileSync(path)).to.deep.equal(fakeRecording(fakeAudio(300)));
    expect(readdirSync(directory)).to.deep.equal(['audio']);
  });

  it('is heard, and heard again for a translation; a second request has it converted anew', async () => {
    const engine = new FakeEngine();
    engine.translatesToEnglish = true;
    const server = await TestServer.start({ engine });
    const customer = await server.customer(100);
    const recording = fakeRecording(fakeAudio(61, { language: 'es', text: 'Hola' }));
    const parts: Part[] = [
      ['audio', recording],
      ['translate_to', 'en'],
    ];
    const { status, body, headers } = await transcribe(server, { key: customer.key, parts });
    expect({ status, ...body }).to.deep.include({
      ...{ status: 200, text: 'Hola', duration_sec: 61, credits_used: 2 },
      translation: { language: 'en', text: 'into English: Hola' },
    });
    // Reading the file takes the fake 2 ms.
    expect(headers.get('server-timing')).to.contain(`decode;dur=${(CONVERSION_MS + 2).toFixed(1)}`);
    expect(server.uploads()).to.deep.equal([]);
    const poor = await server.customer(1);
    expect((await transcribe(server, { key: poor.key, parts })).status).to.equal(402);
    expect(server.uploads()).to.deep.equal([]);
    await server.dispose();
  });
});
