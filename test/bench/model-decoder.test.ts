/** A model that only one decoder knows is measured with that one, whatever suits the device. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { importParakeet } from '../support/parakeet-model.js';
import { samplePath } from '../native/support.js';
import { recordingParts } from './options/recording-parts.js';
import { reportOf, run } from './options/running.js';

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
    return [
      ...new Set(cells.map(({ modelPath, decoder }) => `${modelPath.startsWith(directory)} ${decoder.kind}`)),
    ];
  };

  it('is taken for each of the models that are compared', async () => {
    expect(await decodersOf(...ENGINE)).to.deep.equal(['true whisper.cpp']);
    const both = await decodersOf(...ENGINE, '--model', 'parakeet-small,verbatim-small');
    expect(both).to.deep.equal(['true whisper.cpp', 'false batched']);
  });

  it('is taken where settings are searched for', async () => {
    expect(
      await decodersOf('tune', ...CLIPS, '--pairs', '1', '--file', join(directory, 'tuned.json')),
    ).to.deep.equal(['true whisper.cpp']);
  });

  it('refuses another by name', async () => {
    const { parts, calls } = recordingParts();
    const { status, stderr } = await run([...ENGINE, '--decoder', 'batched'], parts, env);
    expect(status).to.not.equal(0);
    expect(stderr).to.contain('allowed: auto, whisper.cpp for parakeet-small');
    expect(calls.measureInProcess).to.deep.equal([]);
  });
});
