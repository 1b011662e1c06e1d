/** Deltas of a model that takes no prefix: of its later decodings the words behind the committed ones count. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LocalSpeechEngine } from '../../../src/engine/speech/transcriber.js';
import { at24kHz, pieces } from '../../support/live-audio.js';
import { importParakeet } from '../../support/parakeet-model.js';
import { loadConfigured } from '../../support/real-engine.js';
import { bearer, TestServer } from '../../support/server.js';
import { SocketClient } from '../../support/socket-client.js';
import { pcmOfSample, pcmOfSilence } from '../../support/speech.js';
import { until } from '../../support/until.js';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const BUFFER = 'input_audio_buffer';

describe('A live session of a Parakeet model', function () {
  this.timeout(60_000);
  let directory: string;
  let server: TestServer<LocalSpeechEngine>;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-parakeet-'));
    const env = await importParakeet(directory, ['the', 'train', 'leaves', 'at', 'nine']);
    const engine = await loadConfigured({ ...env, VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1', VERBATIM_THREADS: '1' });
    server = await TestServer.start({ engine });
  });
  after(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true });
  });

  it('has deltas while one speaks that join to the transcript', async () => {
    expect(server.engine.info).to.include({ modelName: 'parakeet-small', commits: 'words' });
    const { key } = await server.customer();
    const url = `${server.url}/v1/realtime?intent=transcription`;
    const client = await SocketClient.connect(url, [], { headers: bearer(key) });
    const input = { transcription: { language: 'en', delay: 'minimal' }, turn_detection: null };
    client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    await client.next('session.updated');
    const speech = at24kHz(pcmOfSample());
    let deltas = 0;
    // Spoken until some text is final.
    for (let round = 0; deltas < 2 && round < 8; round++) {
      for (const piece of pieces(speech, 4800)) {
        client.send({ type: `${BUFFER}.append`, audio: piece.toString('base64') });
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      deltas = client.of(`${TRANSCRIPTION}.delta`).length;
    }
    client.send({ type: `${BUFFER}.append`, audio: at24kHz(pcmOfSilence(0.2)).toString('base64') });
    client.send({ type: `${BUFFER}.commit` });
    await until(() => client.of(`${TRANSCRIPTION}.completed`).length === 1);
    const [completed] = client.of(`${TRANSCRIPTION}.completed`);
    const sent = client.of(`${TRANSCRIPTION}.delta`).map(({ delta }) => delta);
    expect(deltas, 'deltas while one speaks').to.be.at.least(2);
    expect(sent.join('')).to.equal(completed!['transcript']);
    expect(sent.join('').trim()).not.to.equal('');
    client.close();
  });
});
