/** The options of `bench segments`, with a program of ours in the place of the one that makes scenes. */
import { expect } from 'chai';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { register } from '../../../src/models/import.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { packageRoot } from '../../../src/package-root.js';
import type { Report } from '../../../bench/reports/report.js';
import { samplePath } from '../../native/support.js';
import { writeVoiceModel } from '../../support/voice-models.js';
import { showOutput, refusalOf, reportOf, run, withDirectory, type Rows } from './running.js';

const CLIP = samplePath('de-wav24-stereo.wav');
const SECONDS = 1.872;

interface Places {
  /** One clip, and two. */
  one: string;
  two: string;
  /** A recording with RTTM that has all of it spoken. */
  rttm: string;
  build: string;
  directory: string;
}

/** By the policies that models name, each of which is judged. */
function eachPolicy<T>(value: T): T[] {
  const { windowPolicies } = readManifest(packageRoot, join(packageRoot, 'models'));
  return Object.keys(windowPolicies).map(() => value);
}

/** Copies the first file, says that all of it is spoken, and notes how it was asked. */
const MAKE_SCENE = `#!/usr/bin/env node
const { appendFileSync, copyFileSync, writeFileSync } = require('node:fs');
const [, , out, seed, noise, rttm, first] = process.argv;
copyFileSync(first, out);
appendFileSync(__dirname + '/asked', [seed, noise, rttm === 'none' ? 'noise' : 'scene'].join(' ') + '\\n');
if (rttm !== 'none') writeFileSync(rttm, 'SPEAKER scene 1 0 ${SECONDS} <NA> <NA> one <NA> <NA>\\n');
`;

/** Says of every file that nobody speaks in it. */
const DEAF = `#!/usr/bin/env node
for (const file of process.argv.slice(3)) console.log('[]');
`;

function inPlaces<T>(work: (places: Places) => Promise<T>): Promise<T> {
  return withDirectory((directory) => {
    const [one, two, rttm, build] = ['one', 'two', 'rttm', 'build'].map((name) => join(directory, name));
    for (const path of [one!, two!, rttm!, build!]) mkdirSync(path);
    copyFileSync(CLIP, join(one!, 'a.wav'));
    for (const name of ['a.wav', 'b.wav']) copyFileSync(CLIP, join(two!, name));
    copyFileSync(CLIP, join(rttm!, 'talk.wav'));
    writeFileSync(join(rttm!, 'talk.rttm'), `SPEAKER talk 1 0.000 ${SECONDS} <NA> <NA> one <NA> <NA>\n`);
    writeFileSync(join(build!, 'make_scene'), MAKE_SCENE);
    writeFileSync(join(build!, 'voiced_spans'), DEAF);
    for (const name of ['make_scene', 'voiced_spans']) chmodSync(join(build!, name), 0o755);
    return work({ one: one!, two: two!, rttm: rttm!, build: build!, directory });
  });
}

function segments({ one, build }: Places, ...words: string[]): string[] {
  return ['segments', '--clips', one, '--build', build, '--noise-db', '', ...words];
}

function rowsOf({ tables }: Report, table = 0): Record<string, unknown>[] {
  return [...(tables[table]?.rows ?? [])];
}

function column(report: Report, name: string): unknown[] {
  return [...new Set(rowsOf(report).map((row) => row[name]))];
}

/** With a model of voice activity that detects nothing in anything. */
function deaf(places: Places, words: readonly string[]): Promise<Report> {
  const modelsDir = join(places.directory, 'models');
  mkdirSync(modelsDir);
  writeVoiceModel(join(modelsDir, 'vad.bin'), 'nothing');
  register(modelsDir, { name: 'silero-vad', kind: 'vad', file: 'vad.bin', licence: 'MIT', source: 'test' });
  return reportOf(words, undefined, { VERBATIM_MODELS_DIR: modelsDir });
}

export const segmentsRows: Rows = {
  'segments --clips': () =>
    inPlaces(async (places) => {
      expect((await reportOf(segments(places))).settings).to.include({ clips: 1 });
      expect((await reportOf(segments(places, '--clips', places.two))).settings).to.include({ clips: 2 });
    }),
  'segments --rttm': () =>
    inPlaces(async (places) => {
      expect(column(await reportOf(segments(places)), 'source')).to.deep.equal(['clips']);
      const both = await reportOf(segments(places, '--rttm', places.rttm));
      expect(column(both, 'source')).to.deep.equal(['clips', 'rttm']);
      expect(rowsOf(both, 1).map(({ file }) => file)).to.deep.equal(eachPolicy('talk.wav'));
      for (const row of rowsOf(both)) {
        expect(row['spoken s']).to.be.closeTo(SECONDS, 0.01);
        expect(row['cover']).to.be.within(0.5, 1.01);
      }
      const { stderr } = await run(segments(places, '--rttm', places.one));
      expect(stderr).to.contain('no audio files with RTTM');
    }),
  'segments --agree': () =>
    inPlaces(async (places) => {
      expect((await reportOf(segments(places))).tables).to.have.length(1);
      const held = await deaf(places, segments(places, '--agree', places.two));
      expect(rowsOf(held, 1).map(({ files }) => files)).to.deep.equal(eachPolicy(2));
      expect(rowsOf(held, 1)[0]).to.include({ 'Silero finds speech in % of the audio': 0 });
    }),
  'segments --vad': () =>
    inPlaces(async (places) => {
      expect(column(await reportOf(segments(places)), 'vad')).to.deep.equal(['energy']);
      const both = rowsOf(await deaf(places, segments(places, '--vad', 'energy,silero')));
      const cover = (vad: string): unknown => both.find((row) => row['vad'] === vad)?.['cover'];
      expect(cover('silero')).to.equal(0);
      expect(cover('energy')).to.be.above(0.5);
      expect(await refusalOf('segments', '--vad', 'loud')).to.contain('allowed: silero, energy');
    }),
  'segments --noise-db': () =>
    inPlaces(async (places) => {
      const noisy = await reportOf(segments(places, '--rttm', places.rttm, '--noise-db', '15,-5'));
      expect(column(noisy, 'noise dB')).to.deep.equal(['none', 15, -5]);
      expect(await refusalOf('segments', '--noise-db', 'loud')).to.contain('integers from -60 to 60');
    }),
  'segments --seed': () =>
    inPlaces(async (places) => {
      expect((await reportOf(segments(places, '--seed', '7'))).settings).to.include({ seed: 7 });
      expect(await refusalOf('segments', '--seed', '-1')).to.contain('an integer from 0');
    }),
  'segments --build': () =>
    inPlaces(async (places) => {
      const { stderr } = await run(['segments', '--clips', places.one, '--build', places.directory]);
      expect(stderr).to.contain(join(places.directory, 'make_scene'));
    }),
  'segments --output': () => inPlaces((places) => showOutput('segments', segments(places))),
};
