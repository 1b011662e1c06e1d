/** The model of voice activity in the store: pulled from a real server, imported through the real addon. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findModel, VOICE_ACTIVITY_MODEL } from '../../src/models/manifest.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { pullModel } from '../../src/models/pull.js';
import { packageRoot } from '../../src/package-root.js';
import { voiceActivityModel } from '../../src/service/voice-activity.js';
import { inWorkplace, type Workplace } from '../cli/option-rows/rows.js';
import { MODEL, samplePath } from '../native/support.js';
import { voiceModel, writeVoiceModel } from '../support/voice-models.js';

const NAME = VOICE_ACTIVITY_MODEL;

/** What `models list` or `verify` says of it. */
async function rowOf(place: Workplace, command: string): Promise<Record<string, unknown> | undefined> {
  const rows = await place.json<Record<string, unknown>[]>(['models', command, '--json']);
  return rows.find(({ name }) => name === NAME);
}

describe('The model of voice activity', () => {
  let server: Server;
  let urls: string[];
  let answer: Buffer;
  const endpoint = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeEach((done) => {
    urls = [];
    answer = voiceModel('nothing');
    server = createServer((request, response) => {
      urls.push(request.url ?? '');
      response.writeHead(200, { 'content-length': answer.length }).end(answer);
    });
    server.listen(0, '127.0.0.1', done);
  });
  afterEach((done) => {
    server.closeAllConnections();
    server.close(() => done());
  });

  it('is pulled from where whisper.cpp has it, and refused when it is another file', () =>
    inWorkplace(async (place) => {
      const { status, stderr } = await place.run(['models', 'pull', NAME], { HF_ENDPOINT: endpoint() });
      expect(status).to.equal(1);
      expect(stderr).to.contain('was refused: the file has sha256');
      expect(urls[0]).to.equal('/ggml-org/whisper-vad/resolve/main/ggml-silero-v6.2.0.bin');
      expect(await rowOf(place, 'list')).to.include({ kind: 'vad', installed: 'no', licence: 'MIT' });
      expect(await rowOf(place, 'verify')).to.equal(undefined);
    }));

  it('is installed by what was pulled', () =>
    inWorkplace(async (place) => {
      const roots = { packageRoot, modelsDir: join(place.directory, 'models') };
      const manifest = readManifest(packageRoot, roots.modelsDir);
      expect(voiceActivityModel({ voiceActivity: 'auto' }, roots, manifest)).to.equal(null);
      const published = findModel(manifest, NAME);
      if (published.kind !== 'vad') return expect.fail('it is of another kind');
      const sha256 = createHash('sha256').update(answer).digest('hex');
      const entry = { ...published, size: answer.length, sha256 };
      const withModel = (): Promise<void> => Promise.reject(new Error('It is no translation model.'));
      expect(await pullModel(entry, { roots, endpoint: endpoint(), withModel })).to.equal(true);
      expect(await pullModel(entry, { roots, endpoint: endpoint(), withModel })).to.equal(false);
      const path = voiceActivityModel({ voiceActivity: 'auto' }, roots, manifest);
      expect(readFileSync(path ?? '').equals(answer)).to.equal(true);
      expect(voiceActivityModel({ voiceActivity: 'silero' }, roots, manifest)).to.equal(path);
      expect(voiceActivityModel({ voiceActivity: 'energy' }, roots, manifest)).to.equal(null);
      expect(await rowOf(place, 'list')).to.include({ installed: 'yes' });
      // The published file is another one.
      const { status, stdout } = await place.run(['models', 'verify', NAME]);
      expect(status).to.equal(1);
      expect(stdout).to.contain('instead of');
    }));

  it('is imported, detects speech from then on, and is verified', () =>
    inWorkplace(async (place) => {
      const transcribe = ['transcribe', samplePath('en-wav16.wav'), '--language', 'en'];
      expect(await place.printed(transcribe)).to.contain('Laura');
      const file = writeVoiceModel(join(place.directory, 'mine.bin'), 'nothing');
      expect(await place.printed(['models', 'import', file])).to.contain(`${NAME} is imported`);
      expect(await rowOf(place, 'list')).to.include({ kind: 'vad', installed: 'yes' });
      expect(await rowOf(place, 'verify')).to.include({ file: `ggml-${NAME}.bin`, result: 'ok' });
      expect(await place.printed(transcribe)).not.to.contain('Laura');
      expect(await place.printed(transcribe, { VERBATIM_VAD: 'energy' })).to.contain('Laura');
      const refused = await place.run(transcribe, { VERBATIM_MODEL: NAME });
      expect(refused.stderr).to.contain(`"${NAME}" is a voice activity model; VERBATIM_MODEL must name a speech`);
      await place.printed(['models', 'import', writeVoiceModel(file, 'everything')]);
      expect(await place.printed(transcribe)).to.contain('Laura');
      writeFileSync(join(place.directory, 'models', `ggml-${NAME}.bin`), 'spoilt');
      expect((await place.run(['models', 'verify', NAME])).status).to.equal(1);
      expect((await place.run(transcribe)).stderr).to.contain('not a Silero model');
    }));

  it('is refused when it is cut, or given what is for other models, and nothing is registered', () =>
    inWorkplace(async (place) => {
      const file = join(place.directory, 'cut.bin');
      writeFileSync(file, answer.subarray(0, answer.length - 1));
      const { status, stderr } = await place.run(['models', 'import', file]);
      expect(status).to.equal(1);
      expect(stderr).to.contain('truncated');
      expect(await rowOf(place, 'list')).to.include({ installed: 'no' });
      for (const option of ['--name', '--windows', '--from'])
        expect(await place.refusal(['models', 'import', file, option, 'full'])).to.contain(
          `${option} is for speech and translation models, and this is a voice activity model`,
        );
      const taken = await place.run(['models', 'import', MODEL, '--name', NAME]);
      expect(taken.stderr).to.contain(`"${NAME}" is the name of the voice activity model`);
    }));
});
