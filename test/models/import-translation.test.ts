/** Importing and pulling translation models: real archives, the real addon, a real server. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { installedTranslationModels } from '../../src/service/translation-engine.js';
import { loadBinding } from '../../src/engine/binding.js';
import { TranslationEngine } from '../../src/engine/translation/translation-engine.js';
import {
  importTranslationModel,
  type ImportTranslationOptions,
  type TranslationTraits,
} from '../../src/models/import-translation.js';
import { findModel, type TranslationModelEntry } from '../../src/models/manifest.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { pullModel } from '../../src/models/pull.js';
import { isInstalled, verifyModel } from '../../src/models/store.js';
import { unzip } from '../../src/models/unzip.js';
import { ct2Fixture, writeTinyModel } from '../support/translation-models.js';
import { zipOf, type ZipEntry } from '../support/zip.js';

const packageRoot = join(__dirname, '..', '..');

const withModel: ImportTranslationOptions['withModel'] = async (directory, look) => {
  const model = await loadBinding().loadTranslationModel(directory, { device: 'cpu' });
  look(model);
  model.close();
};

describe('translation models', function () {
  let directory: string;
  let modelsDir: string;
  let model: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-import-'));
    modelsDir = join(directory, 'models');
    model = writeTinyModel(join(directory, 'tiny'), { pieces: ['▁hola', '>>en<<', '>>fr<<'] });
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const roots = (): { packageRoot: string; modelsDir: string } => ({ packageRoot, modelsDir });
  const importFrom = (
    path: string,
    traits: TranslationTraits = {},
    options: Partial<ImportTranslationOptions> = {},
  ): Promise<TranslationModelEntry> => importTranslationModel(path, { roots: roots(), traits, withModel, ...options });
  const failure = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => expect.fail('resolved'),
      (error: unknown) => (error as Error).message,
    );
  const expectNothingLeft = (): void => {
    expect(existsSync(modelsDir) ? readdirSync(modelsDir) : []).to.deep.equal([]);
  };
  const archive = (entries: ZipEntry[], name = 'translate-es_en-1_0.argosmodel'): string => {
    const path = join(directory, name);
    writeFileSync(path, zipOf(entries));
    return path;
  };
  /** As Argos lays a package out. */
  const argosEntries = (metadata: object = { from_code: 'es', to_code: 'en', type: 'translate' }): ZipEntry[] => {
    const file = (name: string, path: string): ZipEntry => ({
      name: `translate-es_en-1_0/${name}`,
      data: readFileSync(join(model, path)),
      deflate: true,
    });
    return [
      { name: 'translate-es_en-1_0/', mode: 0o040755 },
      { name: 'translate-es_en-1_0/metadata.json', data: JSON.stringify(metadata) },
      { name: 'translate-es_en-1_0/README.md', data: 'A model.' },
      { name: 'translate-es_en-1_0/stanza/es/tokenize.pt', data: 'not needed' },
      file('model/model.bin', 'model.bin'),
      file('model/config.json', 'config.json'),
      file('model/shared_vocabulary.json', 'shared_vocabulary.json'),
      file('sentencepiece.model', 'sentencepiece.model'),
    ];
  };

  describe('are imported', () => {
    it('from a CTranslate2 directory, and translate', async () => {
      const entry = await importFrom(model, { from: ['es'], to: ['en'] }, { name: 'mine' });
      expect(entry).to.deep.include({ name: 'mine', directory: 'mine', from: ['es'], to: ['en'] });
      const manifest = readManifest(packageRoot, modelsDir);
      expect(isInstalled(roots(), findModel(manifest, 'mine'))).to.equal(true);
      const results = await verifyModel(roots(), entry);
      expect(results.map(({ ok }) => ok)).to.deep.equal([true, true, true, true]);
      const engine = new TranslationEngine({
        binding: loadBinding(),
        models: installedTranslationModels(roots(), manifest).filter(({ name }) => name === 'mine'),
        device: 'cpu',
        backend: 'auto',
        translators: 1,
        threads: 1,
      });
      const { text } = await engine.translate({ accountId: 'one', text: 'hola.', from: 'es', to: 'en' });
      expect(text).to.not.equal('');
      await engine.close();
    });

    it('from an Argos package: its languages, its target prefix, only the files that are needed', async () => {
      const metadata = { from_code: 'es', to_code: 'en', target_prefix: '>>en<<' };
      const entry = await importFrom(archive(argosEntries(metadata)));
      expect(entry).to.deep.include({
        name: 'translate-es_en-1_0',
        from: ['es'],
        to: ['en'],
        targetToken: { place: 'prefix', template: '>>en<<' },
      });
      expect(readdirSync(join(modelsDir, entry.name)).sort()).to.deep.equal([
        'README.md',
        'config.json',
        'model.bin',
        'sentencepiece.model',
        'shared_vocabulary.json',
      ]);
      expect(readdirSync(modelsDir).sort()).to.deep.equal(['imported.json', entry.name]);
    });

    it('once more, in the place of the one before', async () => {
      for (const from of ['es', 'it']) await importFrom(model, { from: [from], to: ['en'] });
      const manifest = readManifest(packageRoot, modelsDir);
      expect(manifest.models.filter(({ name }) => name === 'tiny')).to.have.length(1);
      expect(findModel(manifest, 'tiny')).to.deep.include({ from: ['it'] });
      expect(readdirSync(modelsDir).sort()).to.deep.equal(['imported.json', 'tiny']);
    });

    it('with several target languages when their tokens are in the vocabulary', async () => {
      const targetToken = { place: 'source' as const, template: '>>{}<<' };
      const entry = await importFrom(model, { from: ['es'], to: ['en', 'fr'], targetToken });
      expect(entry.targetToken).to.deep.equal(targetToken);
    });
  });

  describe('are refused, with nothing left behind,', () => {
    const cases: [string, () => Promise<unknown>, RegExp][] = [
      ['without weights', () => importFrom(__dirname), /no translation model: there is no model\.bin/],
      ['when they are many', () => importFrom(ct2Fixture('.')), /holds more than one model/],
      ['without languages', () => importFrom(model), /give --from and --to/],
      [
        'without a tokenizer',
        () => importFrom(ct2Fixture('tiny-marian-int8'), { from: ['es'], to: ['en'] }),
        /has no SentencePiece model/,
      ],
      [
        'with several targets and no way to distinguish them',
        () => importFrom(model, { from: ['es'], to: ['en', 'fr'] }),
        /give --target-token/,
      ],
      [
        'with a language whose token the vocabulary lacks',
        () =>
          importFrom(model, {
            from: ['es'],
            to: ['en', 'de'],
            targetToken: { place: 'source', template: '>>{}<<' },
          }),
        /lacks the language token ">>de<<"/,
      ],
      [
        'when they do not load',
        () => {
          const broken = join(directory, 'broken');
          cpSync(model, broken, { recursive: true });
          writeFileSync(join(broken, 'model.bin'), 'not weights');
          return importFrom(broken, { from: ['es'], to: ['en'] });
        },
        /model\.bin|version|truncated/i,
      ],
      [
        'when Argos tokenized them with BPE',
        () => {
          const entries = argosEntries().filter(({ name }) => !name.endsWith('sentencepiece.model'));
          return importFrom(archive([...entries, { name: 'translate-es_en-1_0/bpe.model', data: 'x' }]));
        },
        /subword-nmt BPE \(bpe\.model\), which is not supported/,
      ],
      [
        'when the package is for something else',
        () => importFrom(archive(argosEntries({ type: 'sbd', from_code: 'es', to_code: 'en' }))),
        /a package of the type "sbd"/,
      ],
      ['when they are no archive', () => importFrom(__filename), /neither a directory nor an archive/],
      [
        'when the archive is none',
        () => {
          const path = join(directory, 'x.zip');
          writeFileSync(path, 'PK but no zip at all, whatever it is called');
          return importFrom(path, { from: ['es'], to: ['en'] });
        },
        /it is no zip archive/,
      ],
    ];
    for (const [name, work, message] of cases) {
      it(name, async () => {
        expect(await failure(work())).to.match(message);
        expectNothingLeft();
      });
    }
  });

  describe('archives that nobody should unpack', () => {
    const limits = { entries: 5, bytes: 1 << 20, ratio: 100 };
    const cases: [string, ZipEntry[], RegExp][] = [
      ['a path that climbs out', [{ name: '../evil', data: 'x' }], /invalid relative path/],
      ['a path that climbs out further down', [{ name: 'a/../../evil', data: 'x' }], /invalid relative path/],
      ['an absolute path', [{ name: '/tmp/evil', data: 'x' }], /absolute path/],
      ['a path with backslashes', [{ name: 'a\\..\\..\\evil', data: 'x' }], /\\|relative path/],
      ['a symbolic link', [{ name: 'link', data: '/etc', mode: 0o120777 }], /"link" is a link or a special/],
      ['a device', [{ name: 'null', mode: 0o020666 }], /"null" is a link or a special/],
      [
        'encryption',
        [{ name: 'secret', data: Buffer.alloc(13), encrypted: true, claims: { size: 1 } }],
        /"secret" is encrypted/,
      ],
      ['too many entries', Array.from({ length: 6 }, (_, i) => ({ name: String(i) })), /has 6 entries; at most 5/],
      [
        'more bytes than allowed',
        [{ name: 'zeros', data: Buffer.alloc(2 << 20), deflate: true }],
        /unpacks to more than 1048576 bytes/,
      ],
      [
        'a size that is a lie',
        [{ name: 'lie', data: Buffer.alloc(100_000), deflate: true, claims: { size: 10 } }],
        /too many bytes|uncompressed/i,
      ],
      ['a wrong checksum', [{ name: 'bits', data: 'x', claims: { crc: 1 } }], /does not have its checksum/],
      [
        'the same name twice',
        [
          { name: 'a', data: 'x' },
          { name: 'a', data: 'y' },
        ],
        /EEXIST|exists/,
      ],
    ];
    for (const [name, entries, message] of cases) {
      it(`with ${name}`, async () => {
        const target = join(directory, 'deep', 'out');
        mkdirSync(target, { recursive: true });
        expect(await failure(unzip(archive(entries), target, limits))).to.match(message);
        expect(existsSync(join(directory, 'evil')) || existsSync(join(directory, 'deep', 'evil'))).to.equal(false);
      });
    }

    it('that shrank more than weights do', async () => {
      const target = join(directory, 'out');
      const bomb = archive([{ name: 'zeros', data: Buffer.alloc(20 << 20), deflate: true }]);
      expect(await failure(unzip(bomb, target))).to.match(/unpacks to more than 16777216 bytes/);
    });
  });

  describe('are pulled', () => {
    let server: Server;
    let content: Buffer;
    let requests: number;
    beforeEach((done) => {
      requests = 0;
      content = zipOf(argosEntries());
      server = createServer((_request, response) => {
        requests++;
        response.end(content);
      });
      server.listen(0, '127.0.0.1', done);
    });
    afterEach((done) => {
      server.closeAllConnections();
      server.close(done);
    });

    const entryOf = (bytes: Buffer): TranslationModelEntry => ({
      name: 'argos-es-en',
      kind: 'translation',
      directory: 'argos-es-en',
      files: [
        {
          file: 'argos-es-en.argosmodel',
          size: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
          url: '/v1/translate-es_en-1_0.argosmodel',
        },
      ],
      from: ['es'],
      to: ['en'],
      licence: 'a licence',
      source: 'a place',
    });
    const pull = (entry: TranslationModelEntry): Promise<boolean> =>
      pullModel(entry, {
        roots: roots(),
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        withModel,
      });

    it('as an archive: verified, unpacked, registered file by file', async () => {
      const entry = entryOf(content);
      expect(isInstalled(roots(), entry)).to.equal(false);
      expect(await pull(entry)).to.equal(true);
      const installed = findModel(readManifest(packageRoot, modelsDir), 'argos-es-en');
      expect(installed).to.include({ licence: 'a licence', source: 'a place' });
      expect(isInstalled(roots(), installed)).to.equal(true);
      expect((await verifyModel(roots(), installed)).every(({ ok }) => ok)).to.equal(true);
      expect(readdirSync(modelsDir).sort()).to.deep.equal(['argos-es-en', 'imported.json']);
      expect(await pull(installed as TranslationModelEntry)).to.equal(false);
      expect(requests).to.equal(1);
    });

    it('not at all when the checksum is wrong', async () => {
      const entry = entryOf(content);
      content = Buffer.from(content);
      content[1000]! ^= 1;
      expect(await failure(pull(entry))).to.match(/has sha256 [0-9a-f]{64} instead of/);
      expectNothingLeft();
    });

    it('file by file where they are published so', async () => {
      const file = (name: string) => ({ file: `opus/${name}`, url: `/opus/${name}` });
      const names = ['model.bin', 'config.json', 'shared_vocabulary.json', 'sentencepiece.model'];
      server.removeAllListeners('request');
      server.on('request', (request: { url: string }, response: { end: (data: Buffer) => void }) =>
        response.end(readFileSync(join(model, request.url.split('/')[2]!))),
      );
      const entry: TranslationModelEntry = {
        ...entryOf(content),
        name: 'opus',
        directory: 'opus',
        files: names.map(file),
      };
      expect(await pull(entry)).to.equal(true);
      expect(isInstalled(roots(), entry)).to.equal(true);
      expect(await pull(entry)).to.equal(false);
    });
  });

  it('that are bundled are as the manifest says', async () => {
    const { models } = readManifest(packageRoot, modelsDir);
    const bundled = models.filter((entry) => entry.bundled === true);
    expect(bundled.map(({ kind }) => kind)).to.include.members(['speech', 'translation']);
    for (const entry of bundled) {
      for (const result of await verifyModel(roots(), entry)) expect(result).to.have.property('ok', true);
    }
  });
});
