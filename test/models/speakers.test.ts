/** The speaker models in the store, and the engine that is made of them. */
import { expect } from 'chai';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../../src/models/read-manifest.js';
import { modelFiles } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import {
  createSpeakerEngine,
  type SpeakerOptions,
  type Speakers,
  type SpeakerSettings,
} from '../../src/service/speaker-engine.js';
import { inWorkplace, type Workplace } from '../cli/option-rows/rows.js';
import { embeddingGraph, HUMMED, segmentationGraph, writeHum } from '../engine/speakers/tones.js';
import { onnxFile } from '../support/onnx.js';

const DEFAULTS: SpeakerSettings = { speakers: 'auto', speakerSegmentation: null, speakerEmbedding: null };

/** What serve would take, of this models directory. */
function speakersOf(
  { directory }: Workplace,
  settings: Partial<SpeakerSettings> = {},
  options?: SpeakerOptions,
  root = packageRoot,
): Speakers {
  const modelsDir = join(directory, 'models');
  const roots = { packageRoot: root, modelsDir };
  const manifest = readManifest(packageRoot, modelsDir);
  return createSpeakerEngine({ ...DEFAULTS, ...settings }, roots, manifest, options);
}

function whyNot(speakers: Speakers): string {
  return speakers.engine === null ? speakers.unavailable : 'it is available';
}

/** Models of people who hum. */
function writeModels({ directory }: Workplace): { segments: string; voices: string } {
  const paths = { segments: join(directory, 'segments.onnx'), voices: join(directory, 'voices.onnx') };
  writeFileSync(paths.segments, onnxFile(segmentationGraph()));
  writeFileSync(paths.voices, onnxFile(embeddingGraph()));
  return paths;
}

describe('Speaker models', () => {
  it('that are bundled serve without a download, and are verified', () =>
    inWorkplace(async (place) => {
      const speakers = speakersOf(place);
      if (speakers.engine === null) return expect.fail(speakers.unavailable);
      expect(speakers.segmentation.bundled).to.equal(true);
      expect(speakers.embedding.bundled).to.equal(true);
      const path = join(packageRoot, 'models', 'bundled', 'sample-es.flac');
      const turns = await speakers.engine.diarize({ path, durationSeconds: 60 });
      await speakers.engine.close();
      expect(new Set(turns.map(({ speaker }) => speaker))).to.deep.equal(new Set(['S1']));
      const rows = await place.json<Record<string, string>[]>(['models', 'verify', '--json']);
      for (const { name } of [speakers.segmentation, speakers.embedding])
        expect(rows.find((row) => row['name'] === name)).to.include({ result: 'ok' });
    }));

  it('say why they are unavailable where the runtime or a file is not there', () =>
    inWorkplace((place) => {
      const without = { hasRuntime: () => false };
      expect(whyNot(speakersOf(place, {}, without))).to.contain('npm install --include=optional');
      const root = join(place.directory, 'package');
      cpSync(join(packageRoot, 'models'), join(root, 'models'), {
        recursive: true,
        filter: (path) => !path.includes('train'),
      });
      expect(whyNot(speakersOf(place, {}, {}, root))).to.equal('it is available');
      rmSync(join(root, 'models', 'bundled', 'speaker-embedding-verbatim.onnx'));
      const missing = 'The model "speaker-embedding-verbatim" is not installed';
      expect(whyNot(speakersOf(place, {}, {}, root))).to.contain(missing);
      expect(whyNot(speakersOf(place, { speakers: 'off' }))).to.equal('VERBATIM_SPEAKERS is off.');
      // Who names a model wants it.
      const named = { speakerEmbedding: 'speaker-embedding-verbatim' };
      expect(() => speakersOf(place, named, {}, root)).to.throw(missing);
      expect(() => speakersOf(place, named, without)).to.throw('npm install --include=optional');
      return Promise.resolve();
    }));

  it('that are published have an address, a size and a checksum, and are missing until they are pulled', () =>
    inWorkplace((place) => {
      const manifest = readManifest(packageRoot, join(packageRoot, 'models'));
      const published = manifest.models.filter((entry) => entry.kind.startsWith('speaker-') && entry.bundled !== true);
      expect(published.map(({ name }) => name)).to.deep.equal([
        ...['pyannote-segmentation-3.0', 'wespeaker-resnet34', 'titanet-small', 'campplus'],
      ]);
      for (const entry of published) {
        const [file] = modelFiles(entry);
        expect(file?.size, entry.name).to.be.within(5e6, 5e7);
        expect(file?.sha256, entry.name).to.match(/^[0-9a-f]{64}$/);
        expect(file?.url, entry.name).to.match(/^(https:\/\/github\.com)?\/.*\.onnx$/);
        const settings =
          entry.kind === 'speaker-embedding' ? { speakerEmbedding: entry.name } : { speakerSegmentation: entry.name };
        expect(() => speakersOf(place, settings)).to.throw(`npx verbatim models pull ${entry.name}`);
      }
      return Promise.resolve();
    }));

  it('are imported after they have run once, and serve by their names', () =>
    inWorkplace(async (place) => {
      const { segments, voices } = writeModels(place);
      expect(await place.printed(['models', 'import', segments])).to.contain('VERBATIM_SPEAKER_SEGMENTATION=segments');
      expect(await place.printed(['models', 'import', voices, '--name', 'hums'])).to.contain(
        'VERBATIM_SPEAKER_EMBEDDING=hums',
      );
      const listed = await place.json<Record<string, unknown>[]>(['models', 'list', '--json']);
      const row = (name: string): unknown => listed.find((entry) => entry['name'] === name);
      expect(row('segments')).to.include({ kind: 'speaker-segmentation', installed: 'yes', languages: '' });
      expect(row('hums')).to.include({ kind: 'speaker-embedding', installed: 'yes', languages: 'any' });
      const { engine } = speakersOf(place, { speakerSegmentation: 'segments', speakerEmbedding: 'hums' });
      const path = join(place.directory, 'talk.wav');
      writeHum(path, HUMMED, 12);
      const turns = await engine?.diarize({ path, durationSeconds: 12 });
      await engine?.close();
      expect(turns?.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2']);
    }));

  it('are refused where they do not run, and nothing is registered', () =>
    inWorkplace(async (place) => {
      const { voices } = writeModels(place);
      const refused = async (bytes: Uint8Array, why: string): Promise<void> => {
        writeFileSync(voices, bytes);
        const { status, stderr } = await place.run(['models', 'import', voices]);
        expect({ status, stderr }).to.have.property('status', 1);
        expect(stderr).to.contain(why);
      };
      await refused(Buffer.from('no model'), 'The file is no ONNX model.');
      const graph = embeddingGraph();
      await refused(onnxFile({ ...graph, facts: { ...graph.facts, output_dim: 9 } }), 'it says 9');
      await refused(onnxFile({ ...graph, facts: { sample_rate: 8000 } }), 'sample_rate');
      mkdirSync(join(place.directory, 'models'), { recursive: true });
      expect(readManifest(packageRoot, join(place.directory, 'models')).models).to.deep.equal(
        readManifest(packageRoot, join(packageRoot, 'models')).models,
      );
    }));

  it('are refused what is for others', () =>
    inWorkplace(async (place) => {
      const { segments, voices } = writeModels(place);
      const reported = (path: string, option: string, value: string): Promise<string> =>
        place.refusal(['models', 'import', path, option, value]);
      expect(await reported(voices, '--windows', 'full')).to.contain('and this is a speaker model');
      expect(await reported(voices, '--from', 'en')).to.contain('and this is a speaker model');
      expect(await reported(segments, '--threshold', '0.4')).to.contain('and this is a speaker segmentation');
      const { stderr } = await place.run(['transcribe', voices], {
        VERBATIM_MODEL: 'speaker-embedding-verbatim',
      });
      expect(stderr).to.contain('is a speaker embedding model; VERBATIM_MODEL must name a speech model');
      expect(readFileSync(voices).length).to.be.above(0);
    }));
});
