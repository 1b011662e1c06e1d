/**
 * The published Parakeet models in the store: pulled from a real server, held against what is known of them, served by
 * the real addon.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { inWorkplace, type Workplace } from '../cli/option-rows/rows.js';
import { samplePath } from '../native/support.js';
import { writeParakeetModel } from '../support/parakeet-model.js';

const THREE = '/ggml-org/parakeet-GGUF/resolve/main/ggml-parakeet-tdt-0.6b-v3';
const TWO = '/JoaoZaokk/parakeet-tdt-0.6b-v2-ggml/resolve/main/ggml-parakeet-tdt-0.6b-v2';
/** Path on the hub, and bytes where they are published. */
const PUBLISHED: Readonly<Record<string, readonly [url: string, size: number | null]>> = {
  'parakeet-tdt-0.6b-v3': [`${THREE}-f16.bin`, 1_255_897_319],
  'parakeet-tdt-0.6b-v3-q8_0': [`${THREE}-q8_0.bin`, 668_757_119],
  'parakeet-tdt-0.6b-v3-q4_k': [`${THREE}-q4_k.bin`, 415_611_879],
  'parakeet-tdt-0.6b-v2': [`${TWO}-f16.bin`, null],
  'parakeet-tdt-0.6b-v2-q8_0': [`${TWO}-q8_0.bin`, 658_909_748],
};
const NAME = 'parakeet-tdt-0.6b-v2';
const FILE = 'ggml-parakeet-tdt-0.6b-v2-f16.bin';

async function rowOf(place: Workplace, command: string[], name: string): Promise<unknown> {
  const rows = await place.json<Record<string, unknown>[]>(['models', ...command, '--json']);
  return rows.find((row) => row['name'] === name);
}

describe('The published Parakeet models', () => {
  let server: Server;
  let urls: string[];
  let answer: Buffer;

  const pull = (place: Workplace, name: string): ReturnType<Workplace['run']> => {
    const { port } = server.address() as AddressInfo;
    return place.run(['models', 'pull', name], { HF_ENDPOINT: `http://127.0.0.1:${port}` });
  };

  beforeEach(async () => {
    await inWorkplace((place) => {
      const path = join(place.directory, 'model.bin');
      writeParakeetModel(path);
      answer = readFileSync(path);
      return Promise.resolve();
    });
    urls = [];
    server = createServer((request, response) => {
      urls.push(request.url ?? '');
      response.writeHead(200, { 'content-length': answer.length }).end(answer);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach((done) => {
    server.closeAllConnections();
    server.close(() => done());
  });

  for (const [name, [url, size]] of Object.entries(PUBLISHED)) {
    it(`${name}: is pulled from where it is published, and is CC BY 4.0`, () =>
      inWorkplace(async (place) => {
        const { status, stderr } = await pull(place, name);
        expect(urls[0]).to.equal(url);
        expect(status).to.equal(size === null ? 0 : 1);
        if (size !== null) expect(stderr).to.contain(`ended after ${answer.length} of ${size} bytes`);
        const size_mib = size === null ? null : Math.round(size / 2 ** 20);
        const row = await rowOf(place, ['list', '--all'], name);
        expect(row).to.include({
          kind: 'speech',
          installed: size === null ? 'yes' : 'no',
          size_mib,
          licence: 'CC-BY-4.0',
        });
        const languages = (row as { languages: string }).languages.split(',');
        expect(languages).to.have.length(name.includes('v3') ? 25 : 1);
        expect(languages).to.include('en');
      }));
  }

  it('are served by their names once they are installed', () =>
    inWorkplace(async (place) => {
      const { status, stdout, stderr } = await pull(place, NAME);
      expect(status, stderr).to.equal(0);
      expect(stdout).to.contain(`${NAME} is installed (size and checksum unknown)`);
      expect(await rowOf(place, ['verify'], NAME)).to.deep.equal({
        name: NAME,
        file: FILE,
        result: 'ok',
        checked: 'presence',
      });
      const words = ['transcribe', samplePath('en-wav16.wav'), '--format', 'json'];
      const recognised = await place.json<Record<string, unknown>>(words, { VERBATIM_MODEL: NAME });
      expect(recognised['language']).to.equal('en');
      expect(recognised['text']).to.match(/w\d/);
    }));

  it('are refused when they are loaded, where only that shows that a file is broken', () =>
    inWorkplace(async (place) => {
      answer = answer.subarray(0, answer.length - 1);
      expect((await pull(place, NAME)).status).to.equal(0);
      expect(existsSync(join(place.directory, 'models', FILE))).to.equal(true);
      const words = ['transcribe', samplePath('en-wav16.wav')];
      const { status, stderr } = await place.run(words, { VERBATIM_MODEL: NAME });
      expect(status).to.equal(1);
      expect(stderr).to.contain(`${FILE}: the model file is truncated`);
    }));
});
