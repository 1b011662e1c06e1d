import { expect } from 'chai';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AutomaticModelState } from '../../../src/models/automatic-model.js';
import type { ModelEntry } from '../../../src/models/manifest.js';
import { readImported } from '../../../src/models/read-manifest.js';
import { MODEL, samplePath, wordEventsPath } from '../../native/support.js';
import { embeddingGraph } from '../../engine/speakers/tones.js';
import { packageRoot } from '../../../src/package-root.js';
import { writeSpeeds } from '../../../src/service/automatic-model/speed-file.js';
import { readConfig } from '../../../src/service/config.js';
import { openLedger } from '../../../src/ledger/sqlite/ledger.js';
import { startControl } from '../../../src/service/control.js';
import { FakeModelSwitch } from '../../support/fake-model-switch.js';
import { ModelHub } from '../../support/model-hub.js';
import { onnxFile } from '../../support/onnx.js';
import { writeParakeetModel } from '../../support/parakeet-model.js';
import { writeTinyModel } from '../../support/translation-models.js';
import { until } from '../../support/until.js';
import { inWorkplace, ON_THE_CPU, type OptionRows, type Workplace } from './rows.js';

const SPEECH = ['models', 'import', MODEL, '--name', 'mine'];

const ALIGN = ['models', 'align', 'mine', '--clips', wordEventsPath('')];

/** As a server of the workplace does; returns its end. */
async function control(
  { directory }: Workplace,
  models: FakeModelSwitch,
  automaticModel: () => AutomaticModelState | null,
): Promise<() => Promise<void>> {
  const dataDir = join(directory, 'data');
  const ledger = openLedger({ path: join(directory, 'control.db') });
  const { operators } = ledger;
  const started = await startControl({ dataDir, port: 8080, models, operators, automaticModel });
  return async () => {
    await started.close();
    await ledger.close();
  };
}

/** A translation model whose vocabulary knows these language tokens, and the words that import it. */
function translationModel(place: Workplace): string[] {
  const pieces = ['>>pt<<', '>>por<<', '>>es<<', '__it__'];
  return ['models', 'import', writeTinyModel(join(place.directory, 'source'), { pieces }), '--name', 'mine'];
}

/** The registry's entry of the model that these words import. */
async function imported(place: Workplace, words: readonly string[]): Promise<Record<string, unknown>> {
  await place.printed(words);
  const entry = readImported(join(place.directory, 'models')).find(({ name }) => name === 'mine');
  return entry satisfies ModelEntry | undefined as unknown as Record<string, unknown>;
}

/** The option does this to the registry's entry, and a speech model refuses it by name. */
function ofTranslation(option: string, look: (place: Workplace) => Promise<void>): OptionRows {
  return {
    [`models import ${option}`]: () =>
      inWorkplace(async (place) => {
        await look(place);
        const value = option === '--target-token-place' ? 'source' : 'es';
        expect(await place.refusal([...SPEECH, option, value])).to.contain(
          `${option} is for translation models, and this is a speech model`,
        );
      }),
  };
}

/** The option sets this trait of an embedding, and a speech model refuses it by name. */
function ofEmbedding(option: string, trait: string, fallback: number, value: number): OptionRows {
  return {
    [`models import ${option}`]: () =>
      inWorkplace(async (place) => {
        const path = join(place.directory, 'mine.onnx');
        writeFileSync(path, onnxFile(embeddingGraph()));
        const words = ['models', 'import', path];
        expect(await imported(place, words)).to.include({ [trait]: fallback });
        expect(await imported(place, [...words, option, String(value)])).to.include({ [trait]: value });
        expect(await place.refusal([...words, option, '0'])).to.contain('allowed: a number above 0');
        expect(await place.refusal([...SPEECH, option, String(value)])).to.contain(
          `${option} is for speaker embeddings, and this is a speech model`,
        );
      }),
  };
}

type ListedModel = Record<'name' | 'installed' | 'recommended', string>;

export const modelRows: OptionRows = {
  'models list --all': () =>
    inWorkplace(async (place) => {
      const listed = (...words: string[]) => place.json<ListedModel[]>(['models', 'list', '--json', ...words]);
      const all = await listed('--all');
      expect(all.map(({ name }) => name)).to.include.members(['base', 'base.en', 'argos-en-de', 'verbatim-small']);
      const [first, others] = [true, false].map((is) => all.filter((row) => (row.recommended === 'yes') === is));
      expect(all).to.deep.equal([...first!, ...others!]);
      expect(first!.map(({ name }) => name)).to.include.members(['base-q8_0', 'large-v3-turbo-q8_0']);
      const installed = others!.filter((row) => row.installed === 'yes');
      expect(await listed()).to.deep.equal([...first!, ...installed]);
      expect(installed.map(({ name }) => name)).to.include('verbatim-small');
      const [some, every] = [await place.run(['models', 'list']), await place.run(['models', 'list', '--all'])];
      const left = all.length - first!.length - installed.length;
      const unmeasured = 'No speed has been measured on this machine yet. Run: npx verbatim models measure\n';
      expect(some.stderr).to.equal(`${unmeasured}${left} more models: npx verbatim models list --all\n`);
      expect(every.stdout.split('\n').length - some.stdout.split('\n').length).to.equal(left);
      expect(every.stderr).to.equal(unmeasured);
      expect(every.stdout).to.match(
        /^parakeet-tdt-0\.6b-v3 +speech +1256 MB +25 languages +- +CC-BY-4\.0 +recommended$/m,
      );
      expect(Math.max(...some.stdout.split('\n').map(({ length }) => length))).to.be.at.most(100);
      const measured = readConfig({ ...ON_THE_CPU, VERBATIM_DATA_DIR: join(place.directory, 'data') }, packageRoot);
      writeSpeeds(measured, { 'base-q8_0': 7.24 });
      expect((await place.run(['models', 'list'])).stdout).to.match(
        /^base-q8_0 +speech +82 MB +multilingual +7\.2x +MIT +recommended$/m,
      );
      const speedOf = (wanted: string, rows: { name: string; times_real_time: number | null }[]) =>
        rows.find(({ name }) => name === wanted)?.times_real_time;
      const rows = await place.json<{ name: string; times_real_time: number | null }[]>(['models', 'list', '--json']);
      expect([speedOf('base-q8_0', rows), speedOf('small-q8_0', rows)]).to.deep.equal([7.2, null]);
    }),
  'models list --json': () =>
    inWorkplace(async (place) => {
      const rows = await place.json<{ name: string }[]>(['models', 'list', '--json']);
      const table = await place.printed(['models', 'list']);
      for (const { name } of rows) expect(table).to.contain(name);
      expect(table).to.match(/^name +kind/);
    }),
  'models pull --json': () =>
    inWorkplace(async (place) => {
      const words = ['models', 'pull', 'verbatim-small'];
      expect(await place.json([...words, '--json'])).to.deep.equal({
        installed: 'verbatim-small',
        downloaded: false,
      });
      expect(await place.printed(words)).to.contain('is installed and verified already');
    }),
  'models pull --yes': () =>
    inWorkplace(async (place) => {
      expect(await place.refusal(['models', 'pull', 'base', '--yes'])).to.contain('--yes cannot be used with the name');
      expect(await place.refusal(['models', 'pull'])).to.contain('Run: npx verbatim models pull --yes');
      const hub = await ModelHub.start();
      try {
        hub.register(['tiny-q8_0']);
        const settings = { VERBATIM_DATA_DIR: join(place.directory, 'data'), VERBATIM_MODELS_DIR: hub.directory };
        writeSpeeds(readConfig({ ...ON_THE_CPU, ...settings }, packageRoot), { 'tiny-q8_0': 5 });
        const printed = await place.printed(['models', 'pull', '--yes'], settings);
        expect(printed).to.match(/^tiny-q8_0 is installed and verified\nTo use it on a running server: /);
      } finally {
        await hub.close();
      }
    }),
  'models verify --json': () =>
    inWorkplace(async (place) => {
      const rows = await place.json<Record<string, string>[]>(['models', 'verify', '--json']);
      expect(rows.map(({ name }) => name)).to.include('verbatim-small');
      expect(await place.printed(['models', 'verify'])).to.match(/^name +file +result/);
    }),
  'models use --json': () =>
    inWorkplace(async (place) => {
      const models = new FakeModelSwitch('small');
      const close = await control(place, models, () => null);
      const running = place.json(['models', 'use', 'base', '--json']);
      await until(() => models.asked.length > 0);
      models.end(null);
      expect(await running).to.deep.equal({ serving: 'base', before: 'small', after_restart: 'base' });
      await close();
    }),
  'models status --json': () =>
    inWorkplace(async (place) => {
      const models = new FakeModelSwitch('small');
      let automatic: AutomaticModelState | null = null;
      const close = await control(place, models, () => automatic);
      const words = ['models', 'status', '--json'];
      const row = { serving: 'small', since: '1970-01-01T00:00:00.000Z', after_restart: 'small' };
      expect(await place.json(words)).to.deep.equal({ ...row, next: null, phase: null, problem: null });
      automatic = { phase: 'waiting', model: 'base', problem: 'no hub' };
      expect(await place.json(words)).to.deep.equal({ ...row, next: 'base', phase: 'waiting', problem: 'no hub' });
      models.use('base', 'a test');
      automatic = null;
      expect(await place.json(words)).to.deep.equal({ ...row, next: 'base', phase: 'starting', problem: null });
      expect(await place.printed(words.slice(0, 2))).to.match(/^serving +since +after_restart/);
      await close();
    }),
  'models measure --json': () =>
    inWorkplace(async (place) => {
      const words = ['models', 'measure', 'tiny-q8_0'];
      const [row, ...others] = await place.json<{ name: string; times_real_time: number }[]>([...words, '--json']);
      expect(others).to.deep.equal([]);
      expect(row).to.include({ name: 'tiny-q8_0' }).and.have.property('times_real_time').that.is.above(0);
      expect(await place.printed(words)).to.match(
        /^name +times_real_time +fast_enough\ntiny-q8_0 +[\d.]+ +(yes|no)\n$/,
      );
      expect(await place.refusal(['models', 'measure', 'huge', '--json'])).to.contain(
        '"huge" is not measured; allowed: large-v3-turbo-q8_0, small-q8_0, base-q8_0, tiny-q8_0.',
      );
    }),
  'models align --clips': () =>
    inWorkplace(async (place) => {
      await imported(place, [...SPEECH, '--windows', 'short']);
      const { status, stderr } = await place.run(ALIGN);
      expect(status, stderr).to.equal(0);
      expect(stderr).to.match(/^mine now aligns words with the heads (\[\d, \d\](, )?)+\.$/m);
      const entry = readImported(join(place.directory, 'models')).find(({ name }) => name === 'mine');
      expect(entry).to.have.property('alignmentHeads').that.is.an('array').that.is.not.empty;
      const elsewhere = await place.run([...ALIGN.slice(0, -1), place.directory]);
      expect(elsewhere).to.include({ status: 1 });
      expect(elsewhere.stderr).to.contain('words.json');
    }),
  'models align --json': () =>
    inWorkplace(async (place) => {
      await imported(place, [...SPEECH, '--windows', 'short']);
      const rows = await place.json<{ kind: string; heads: string }[]>([...ALIGN, '--json']);
      // Three layers of three heads, the best first.
      expect(rows.filter(({ kind }) => kind === 'alone')).to.have.length(9);
      expect(rows.find(({ kind }) => kind === 'together')?.heads).to.equal(rows[0]?.heads);
      expect(await place.printed(ALIGN)).to.match(/^kind +heads +mean_error_ms/);
    }),
  'models import --name': () =>
    inWorkplace(async (place) => {
      await place.printed(SPEECH);
      expect(existsSync(join(place.directory, 'models', 'ggml-mine.bin'))).to.equal(true);
      expect(await place.printed(SPEECH.slice(0, 3))).to.contain('VERBATIM_MODEL=verbatim-small-q5_1');
    }),
  'models import --windows': () =>
    inWorkplace(async (place) => {
      expect(await imported(place, SPEECH)).to.include({ windows: 'full' });
      expect(await imported(place, [...SPEECH, '--windows', 'short'])).to.include({ windows: 'short' });
      expect(await place.refusal([...SPEECH, '--windows', 'wide'])).to.contain('--windows is "wide"; allowed: ');
      expect(await place.refusal([...translationModel(place), '--windows', 'short'])).to.contain(
        '--windows is for speech models, and this is a translation model',
      );
    }),
  'models import --languages': () =>
    inWorkplace(async (place) => {
      expect(await imported(place, SPEECH)).to.include({ languages: 'whisper' });
      expect(await imported(place, [...SPEECH, '--languages', 'deu,en'])).to.deep.include({
        languages: ['de', 'en'],
      });
      const path = join(place.directory, 'parakeet.bin');
      writeParakeetModel(path);
      const parakeet = ['models', 'import', path, '--name', 'mine'];
      expect((await place.run(parakeet)).stderr).to.contain('give --languages');
      expect(await imported(place, [...parakeet, '--languages', 'en'])).to.deep.include({
        ...{ languages: ['en'], windows: 'pauses', decoder: 'whisper.cpp' },
      });
      expect(await place.refusal([...SPEECH, '--languages', 'klingon'])).to.contain('--languages is "klingon"');
      expect(await place.refusal([...translationModel(place), '--languages', 'en'])).to.contain(
        '--languages is for speech models, and this is a translation model',
      );
    }),
  'models import --translates': () =>
    inWorkplace(async (place) => {
      const words = ['transcribe', samplePath('en-wav16.wav'), '--language', 'ja', '--translate-to', 'en'];
      expect(await imported(place, SPEECH)).not.to.have.property('translates');
      const refused = await place.run(words, { VERBATIM_MODEL: 'mine' });
      expect(refused.status).to.equal(1);
      expect(refused.stderr).to.contain('No installed model translates "ja" into "en"');
      expect(await imported(place, [...SPEECH, '--translates'])).to.include({ translates: true });
      await place.printed(words, { VERBATIM_MODEL: 'mine' });
      expect(await place.refusal([...translationModel(place), '--translates'])).to.contain(
        '--translates is for speech models',
      );
    }),
  ...ofEmbedding('--threshold', 'threshold', 0.4, 0.7),
  ...ofEmbedding('--min-seconds', 'minSeconds', 1, 3.5),
  ...ofTranslation('--from', async (place) => {
    const words = [...translationModel(place), '--to', 'en'];
    expect(await imported(place, [...words, '--from', 'spa,it'])).to.deep.include({ from: ['es', 'it'] });
    expect((await place.run(words)).stderr).to.contain('give --from and --to');
  }),
  ...ofTranslation('--to', async (place) => {
    const words = [...translationModel(place), '--from', 'it'];
    expect(await imported(place, [...words, '--to', 'por'])).to.deep.include({ to: ['pt'] });
    expect(await imported(place, [...words, '--to', 'es'])).to.deep.include({ to: ['es'] });
  }),
  ...ofTranslation('--target-token', async (place) => {
    const words = [...translationModel(place), '--from', 'it', '--to', 'pt,es'];
    expect((await place.run(words)).stderr).to.contain('give --target-token');
    expect(await imported(place, [...words, '--target-token', '>>{}<<'])).to.deep.include({
      targetToken: { place: 'source', template: '>>{}<<' },
    });
  }),
  ...ofTranslation('--target-token-place', async (place) => {
    const words = [...translationModel(place), '--from', 'it', '--to', 'pt'];
    const token = ['--target-token', '>>{}<<', '--target-token-place', 'prefix'];
    expect(await imported(place, [...words, ...token])).to.deep.include({
      targetToken: { place: 'prefix', template: '>>{}<<' },
    });
    expect(await place.refusal([...words, '--target-token-place', 'prefix'])).to.contain(
      '--target-token-place needs --target-token',
    );
  }),
  ...ofTranslation('--source-token', async (place) => {
    const words = [...translationModel(place), '--from', 'it', '--to', 'pt'];
    expect(await imported(place, words)).not.to.have.property('sourceToken');
    expect(await imported(place, [...words, '--source-token', '__{}__'])).to.include({
      sourceToken: '__{}__',
    });
    expect((await place.run([...words, '--source-token', '[{}]'])).stderr).to.contain('lacks the language token');
  }),
  ...ofTranslation('--codes', async (place) => {
    const words = [...translationModel(place), '--from', 'it', '--to', 'pt', '--target-token', '>>{}<<'];
    expect(await imported(place, [...words, '--codes', 'pt=por'])).to.deep.include({ codes: { pt: 'por' } });
    expect((await place.run([...words, '--codes', 'pt=brazil'])).stderr).to.contain('">>brazil<<"');
  }),
};
