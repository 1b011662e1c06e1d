/** Deepgram's own client, unmodified, with whole files and the real engine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { deepgramFile, type FileCall } from '../../support/deepgram-file-client.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { recordingOf } from '../../support/recordings.js';
import { TestServer, type Customer } from '../../support/server.js';
import { sample } from '../../support/speech.js';

const SPOKEN = 'Hello Emma, this is Laura.';

describe("Deepgram's client with files", () => {
  let server: TestServer<SpeechEngine>;
  let customer: Customer;
  let directory: string;
  const { path, seconds } = sample('en-wav16.wav');

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-deepgram-'));
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }) });
    customer = await server.customer(10);
  });
  after(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true });
  });

  const call = (given: Partial<FileCall>): ReturnType<typeof deepgramFile> =>
    deepgramFile({ baseUrl: server.url, apiKey: customer.key.rawKey, path, ...given });

  it('gets the transcript, words, utterances and paragraphs of a stream and of a buffer', async () => {
    for (const asStream of [true, false]) {
      const options = { model: 'nova-3', smart_format: true, utterances: true, detect_language: true } as const;
      const { answer, error } = await call({ asStream, options });
      expect(error).to.equal(undefined);
      const { metadata, results } = answer!;
      expect(metadata.duration).to.be.closeTo(seconds, 0.01);
      const [channel] = results.channels;
      expect(channel!.detected_language).to.equal('en');
      const [alternative] = channel!.alternatives!;
      expect(alternative!.transcript).to.equal(SPOKEN);
      expect(alternative!.words!.map(({ word }) => word)).to.deep.equal(['hello', 'emma', 'this', 'is', 'laura']);
      expect(alternative!.paragraphs!.transcript).to.equal(`\n${SPOKEN}`);
      expect(results.utterances!.map(({ transcript }) => transcript).join(' ')).to.equal(SPOKEN);
    }
    expect(await server.balance(customer)).to.equal(8);
  });

  it('sends a recording of a browser', async () => {
    const webm = join(directory, 'browser.webm');
    recordingOf(path, webm, ['-c:a', 'libopus', '-f', 'webm', '-live', '1']);
    const { answer } = await call({ path: webm, options: { punctuate: true } });
    expect(answer!.results.channels[0]!.alternatives![0]!.transcript).to.equal(SPOKEN);
  });

  it('throws its own errors for what is refused', async () => {
    const text = join(directory, 'none.wav');
    writeFileSync(text, 'no audio');
    const refused = async (given: Partial<FileCall>): Promise<[number | undefined, string | undefined]> => {
      const { error } = await call(given);
      return [error?.statusCode, error?.body?.err_code];
    };
    expect(await refused({ path: text })).to.deep.equal([400, 'UNSUPPORTED_AUDIO_FORMAT']);
    expect(await refused({ url: 'https://example.org/a.wav' })).to.deep.equal([400, 'INVALID_REQUEST']);
    expect(await refused({ apiKey: 'none' })).to.deep.equal([401, 'INVALID_API_KEY']);
    const { error } = await call({ options: { keyterm: ['Emma'] } });
    expect(error?.body?.err_msg).to.include('keyterm');
  });
});
