/**
 * A model that only one decoder knows is measured with that one, whatever suits the device, beside the programs that
 * know it.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { modelNamed, serving } from '../../bench/commands/bench-models.js';
import { benchContext } from '../../bench/commands/setup.js';
import { readUpload } from '../../bench/load/http-target.js';
import { startVerbatim } from '../../bench/processes/verbatim-process.js';
import { importParakeet } from '../support/parakeet-model.js';
import { MODEL, samplePath } from '../native/support.js';
import { writePrograms } from './built-programs.js';
import { recordingParts } from './options/recording-parts.js';
import { refusalOf, reportOf, run } from './options/running.js';

const CLIPS = ['--clips', samplePath('en-wav16.wav'), '--clients', '1'];
const ENGINE = ['engine', ...CLIPS, '--slots', '1', '--threads', '1', '--rounds', '1'];

describe('bench: the decoder of a model', () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-decoder-'));
  let env: Record<string, string>;
  before(async () => {
    env = await importParakeet(directory);
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const decodersOf = async (...words: string[]): Promise<string[]> => {
    const { parts, calls } = recordingParts();
    await reportOf(words, parts, env);
    const cells = [
      ...calls.measureInProcess.map(([{ cell }]) => cell),
      ...calls.createBenchEngine.map(([, { cell }]) => cell),
    ];
    return [...new Set(cells.map(({ modelPath, decoder }) => `${modelPath.startsWith(directory)} ${decoder.kind}`))];
  };

  it('is taken for each of the models that are compared', async () => {
    expect(await decodersOf(...ENGINE)).to.deep.equal(['true whisper.cpp']);
    const both = await decodersOf(...ENGINE, '--model', 'parakeet-small,verbatim-small');
    expect(both).to.deep.equal(['true whisper.cpp', 'false batched']);
  });

  it('is taken where settings are searched for', async () => {
    expect(await decodersOf('tune', ...CLIPS, '--pairs', '1', '--file', join(directory, 'tuned.json'))).to.deep.equal([
      'true whisper.cpp',
    ]);
  });

  it('refuses another by name', async () => {
    const { parts, calls } = recordingParts();
    const { status, stderr } = await run([...ENGINE, '--decoder', 'batched'], parts, env);
    expect(status).to.not.equal(0);
    expect(stderr).to.contain('allowed: auto, whisper.cpp for parakeet-small');
    expect(calls.measureInProcess).to.deep.equal([]);
  });

  describe('of a Parakeet file', () => {
    const file = join(directory, 'source.bin');
    const COMPARE = [
      ...['compare', ...CLIPS, '--language', 'auto', '--rounds', '1', '--threads', '2'],
      ...['--long-seconds', '0', '--build', directory],
    ];
    before(() => {
      writePrograms(directory, {
        cli: { language: 'en', text: '' },
        server: true,
        parakeet: 'Nothing of it.',
      });
    });

    it('is measured without being installed, its windows cut at pauses', async () => {
      const { parts, calls } = recordingParts();
      const report = await reportOf([...ENGINE, '--model', file], parts);
      expect(report.models.map(({ name }) => name)).to.deep.equal([file]);
      const [{ cell, policy, languages }] = calls.measureInProcess[0]!;
      expect(cell).to.deep.include({ modelPath: file, decoder: { kind: 'whisper.cpp' } });
      expect(policy).to.include({ cut: 'pause', ownLength: true, maxSeconds: 30 });
      expect(languages).to.have.length(25);
    });

    it('is compared with parakeet-cli, a Whisper model beside it with Whisper’s programs', async () => {
      const { parts, calls } = recordingParts();
      const report = await reportOf([...COMPARE, '--model', `${file},${MODEL}`], parts);
      const rows = report.tables[0]?.rows.map((row) => [row['model'], row['program']]);
      expect(rows).to.deep.equal([
        ['source.bin', 'verbatim'],
        ['source.bin', 'parakeet-cli'],
        [basename(MODEL), 'verbatim'],
        [basename(MODEL), 'whisper-server'],
        [basename(MODEL), 'whisper-cli'],
      ]);
      expect(report.notes.filter((note) => note.startsWith('Both greedy'))).to.have.length(1);
      expect(report.notes.join()).to.contain('parakeet-cli takes no language');
      const [program, words, paths] = calls.commandLinePass[0]!;
      expect(program).to.equal(join(directory, 'bin', 'parakeet-cli'));
      expect(words).to.deep.equal(['-m', file, '-t', '2', '-np', '-ng']);
      expect(paths).to.deep.equal([samplePath('en-wav16.wav')]);
      expect(calls.startVerbatim.map(([options]) => options?.modelTraits)).to.deep.include.members([
        { languages: 'whisper', windows: 'full' },
      ]);
      expect(calls.startVerbatim[0]?.[0]?.modelTraits).to.deep.include({
        windows: 'pauses',
        decoder: 'whisper.cpp',
      });
    });

    it('has no peers of another family, and says so before anything is measured', async () => {
      const refusal = await refusalOf(...COMPARE, '--model', file, '--peers', 'whisper-cli');
      expect(refusal).to.contain(`--peers is "whisper-cli"; allowed for ${file}: parakeet-cli.`);
      const words = ['--model', file, '--build', directory];
      expect(await refusalOf('parity', ...words)).to.contain(`--model is "${file}"; allowed: a Whisper model.`);
    });

    it('is judged by what is said, beside parakeet-cli', async () => {
      const spoken = join(directory, 'spoken');
      mkdirSync(spoken);
      copyFileSync(samplePath('en-wav16.wav'), join(spoken, 'clip.wav'));
      const clip = { file: 'clip.wav', language: 'en', text: 'Nothing of it.' };
      writeFileSync(join(spoken, 'refs.json'), JSON.stringify([clip]));
      const words = ['accuracy', '--model', file, '--build', directory, '--clips', spoken];
      const { tables } = await reportOf(words);
      expect(tables[0]?.rows[0]).to.include({ 'parakeet-cli WER %': 0, 'same text': '0/1' });
      expect(tables[0]?.rows[0]).to.include.keys(['Verbatim WER %', 'language right, Verbatim']);
      expect(tables[0]?.rows[0]).to.not.include.keys(['language right, parakeet-cli']);
    });

    it('is served as it is, in a process of its own', async () => {
      const model = await modelNamed(benchContext(), file);
      const server = await startVerbatim(serving(model, { slots: 1, threads: 1, deviceSetting: 'cpu' }));
      try {
        const upload = readUpload(samplePath('en-wav16.wav'), 2.5, 'fi');
        expect((await server.target.send(upload, 0)).status).to.equal(200);
      } finally {
        await server.stop();
      }
    });
  });
});
