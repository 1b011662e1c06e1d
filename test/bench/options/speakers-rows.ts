/** The options of `bench speakers`. */
import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../../bench/reports/report.js';
import { findModel } from '../../../src/models/manifest.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { packageRoot } from '../../../src/package-root.js';
import { toRttm } from '../../../bench/speakers/rttm.js';
import { embeddingGraph, HUMMED, segmentationGraph, writeHum } from '../../engine/speakers/tones.js';
import { onnxFile } from '../../support/onnx.js';
import { failureText, showOutput, refusalOf, reportOf, withDirectory, type Rows } from './running.js';

interface Answers {
  /** A speaks 0-6, B 6-10. */
  known: string;
  /** One person speaks 0-10. */
  one: string;
  /** x speaks 0-7, y 7-10. */
  late: string;
  /** What the service makes of it: x speaks 0-8, y 8-10. */
  recognised: string;
  /** A says six words, B four, a second each. */
  spoken: string;
}

const SPOKEN = [
  { speaker: 'A', start: 0, end: 6, text: 'one two three four five six' },
  { speaker: 'B', start: 6, end: 10, text: 'seven eight nine ten' },
];

const RECOGNISED = {
  segments: [
    { start: 0, end: 8, text: 'One, two, three, seven', speaker: 'x' },
    { start: 8, end: 10, text: '', speaker: 'y' },
    { start: 10, end: 10, text: '', speaker: 'z' },
  ],
  words: ['One,', 'two,', 'three,', 'or', 'nine.'].map((word, index) => ({
    ...{ word, start: index, end: index + 1, probability: 1 },
    speaker: index === 2 ? 'y' : 'x',
  })),
};

function answers<T>(work: (answers: Answers) => Promise<T>): Promise<T> {
  return withDirectory((directory) => {
    const folder = (name: string, ...lines: string[]): string => {
      const path = join(directory, name);
      mkdirSync(path);
      writeFileSync(join(path, 'talk.rttm'), lines.join('\n'));
      return path;
    };
    const reported = (name: string, content: unknown): string => {
      const path = join(directory, name);
      mkdirSync(path);
      writeFileSync(join(path, 'talk.json'), JSON.stringify(content));
      return path;
    };
    return work({
      recognised: reported('recognised', RECOGNISED),
      spoken: reported('said', SPOKEN),
      known: folder('known', line(0, 6, 'A'), line(6, 4, 'B')),
      one: folder('one', line(0, 10, 'x')),
      late: folder('late', line(0, 7, 'x'), line(7, 3, 'y')),
    });
  });
}

const line = (start: number, seconds: number, speaker: string, recording = 'talk'): string =>
  `SPEAKER ${recording} 1 ${start} ${seconds} <NA> <NA> ${speaker} <NA> <NA>`;

function firstRow({ tables }: Report): Record<string, unknown> {
  return tables[0]?.rows[0] ?? {};
}

function scored(rttm: string, hypotheses: string): Promise<Report> {
  return reportOf(['speakers', '--rttm', rttm, '--hypotheses', hypotheses]);
}

interface Hums {
  rttm: string;
  audio: string;
  models: string;
}

/** Two people who hum, six seconds each, and models that recognise them. */
function hums<T>(work: (places: Hums) => Promise<T>): Promise<T> {
  return withDirectory((directory) => {
    const places = {
      rttm: join(directory, 'rttm'),
      audio: join(directory, 'audio'),
      models: join(directory, 'models'),
    };
    for (const place of Object.values(places)) mkdirSync(place);
    writeFileSync(join(places.rttm, 'talk.rttm'), toRttm('talk', HUMMED));
    writeHum(join(places.audio, 'talk.wav'), HUMMED, 12);
    writeFileSync(join(places.models, 'segmentation.onnx'), onnxFile(segmentationGraph()));
    writeFileSync(join(places.models, 'embedding.onnx'), onnxFile(embeddingGraph()));
    return work(places);
  });
}

function humWords({ rttm, audio, models }: Hums): string[] {
  const [segmentation, embedding] = ['segmentation.onnx', 'embedding.onnx'].map((name) => join(models, name));
  return [
    ...['speakers', '--rttm', rttm, '--audio', audio],
    ...['--segmentation', segmentation ?? '', '--embedding', embedding ?? ''],
  ];
}

const BUNDLED = ['speaker-segmentation-verbatim.onnx', 'speaker-embedding-verbatim.onnx'];
const TRAITS = bundledTraits();

function bundledTraits(): { threshold: number; minSeconds: number } {
  const manifest = readManifest(packageRoot, join(packageRoot, 'models'));
  const entry = findModel(manifest, manifest.defaultSpeakerEmbedding);
  return entry.kind === 'speaker-embedding' ? entry : expect.fail('it is of another kind');
}

/** A file is loaded; a name is looked for in the manifest. */
async function ofPair(places: Hums, which: string, missing: string): Promise<void> {
  const path = join(places.models, 'no.onnx');
  writeFileSync(path, 'no model');
  const reported = await failureText(...humWords(places), `--${which}`, path);
  expect(reported).to.contain(`${which} model ${path}: The file is no ONNX model.`);
  const named = await refusalOf(...humWords(places), `--${which}`, missing);
  expect(named).to.match(new RegExp(`(There is no model|The model) "${missing}"`));
  const found = await reportOf([...humWords(places), `--${which}`, `speaker-${which}-verbatim`]);
  expect(found.models.map(({ name }) => name)).to.include(`speaker-${which}-verbatim.onnx`);
}

export const speakersRows: Rows = {
  'speakers --rttm': () =>
    answers(async ({ known, one, late }) => {
      expect(firstRow(await scored(known, one))).to.include({ 'DER %': 40, 'one speaker, DER %': 40 });
      expect(firstRow(await scored(late, one))).to.include({ 'DER %': 30, 'one speaker, DER %': 30 });
      // The reference begins a turn a second early: one speaker of the answer misses none of it, nor does one of the
      // reference.
      expect(firstRow(await scored(known, late))).to.include({
        ...{ 'DER %': 10, 'one speaker where it finds speech, DER %': 40 },
      });
      expect(await refusalOf('speakers', '--rttm', join(known, 'x'), '--hypotheses', one)).to.contain(
        'holds no .rttm files',
      );
    }),
  'speakers --hypotheses': () =>
    answers(async ({ known, late }) => {
      const row = firstRow(await scored(known, late));
      expect(row).to.include({ 'DER %': 10, 'confusion %': 10, 'missed %': 0, 'false alarm %': 0 });
      expect(row).to.include({ 'speakers known, found': '2, 2', 'DER %, collar 0.25 s': 8.3 });
      // A: 6 of 7; B: 3 of 4.
      expect(row['JER %']).to.equal(19.6);
      writeFileSync(join(late, 'more.rttm'), line(0, 1, 'x', 'more'));
      const unasked = await refusalOf('speakers', '--rttm', known, '--hypotheses', late);
      expect(unasked).to.contain('has "more"');
    }),
  'speakers --audio': () =>
    hums(async (places) => {
      const found = await reportOf(humWords(places));
      expect(firstRow(found)).to.include({ 'DER %': 0, 'JER %': 0, 'speakers known, found': '2, 2' });
      expect(found.models.map(({ name }) => name)).to.deep.equal(['segmentation.onnx', 'embedding.onnx']);
      expect(found.settings['real-time factor']).to.be.above(0);
      const missing = await failureText(...humWords({ ...places, audio: places.models }));
      expect(missing).to.contain('holds no audio of "talk" (.wav');
      const both = await refusalOf(...humWords(places), '--hypotheses', places.rttm);
      expect(both).to.contain('One of --hypotheses, --audio and --transcripts is needed.');
      expect(await refusalOf('speakers', '--rttm', places.rttm)).to.contain(
        'One of --hypotheses, --audio and --transcripts',
      );
      // Nobody speaks there: the bundled models, and what `serve` would take, find that nobody hums.
      const bundled = await reportOf(['speakers', '--rttm', places.rttm, '--audio', places.audio]);
      expect(bundled.models.map(({ name }) => name)).to.deep.equal(BUNDLED);
    }),
  'speakers --transcripts': () =>
    answers(async ({ known, one, recognised }) => {
      const words = ['speakers', '--rttm', known, '--transcripts', recognised];
      const found = await reportOf(words);
      // The empty segment of no length is nobody's.
      expect(firstRow(found)).to.include({ 'DER %': 20, 'speakers known, found': '2, 2' });
      expect(found.tables).to.have.length(1);
      expect(await refusalOf(...words, '--hypotheses', one)).to.contain(
        'One of --hypotheses, --audio and --transcripts is needed',
      );
      expect(await refusalOf(...words, '--threads', '1')).to.contain('--threads acts only with --audio');
      expect(await refusalOf('speakers', '--rttm', known, '--transcripts', one)).to.contain('has no words of "talk"');
      writeFileSync(
        join(recognised, 'talk.json'),
        JSON.stringify({ ...RECOGNISED, words: [{ word: 'one', start: 0, end: 1 }] }),
      );
      expect(await refusalOf(...words)).to.contain('word 0 has no speaker');
      writeFileSync(join(recognised, 'talk.json'), '{');
      expect(await refusalOf(...words)).to.contain('talk.json is no JSON');
    }),
  'speakers --words': () =>
    answers(async ({ known, one, late, recognised, spoken }) => {
      const rightWords = async (...answer: string[]): Promise<unknown> => {
        const { tables, settings } = await reportOf(['speakers', '--rttm', known, ...answer, '--words', spoken]);
        expect(settings).to.include({ words: spoken });
        return tables[1]?.rows[0];
      };
      expect((await scored(known, late)).tables).to.have.length(1);
      // x has the first of B's words, too; who says that one person speaks is right about A's.
      const trivial = { recording: 'talk', words: 10, 'one speaker, right %': 60 };
      expect(await rightWords('--hypotheses', late)).to.include({ ...trivial, judged: 10, 'right %': 90 });
      expect(await rightWords('--hypotheses', one)).to.include({ ...trivial, judged: 10, 'right %': 60 });
      // Three of A's and one of B's are recognised: x has two of A's, and B's as well.
      expect(await rightWords('--transcripts', recognised)).to.include({ ...trivial, judged: 4, 'right %': 50 });
      const missing = await refusalOf('speakers', '--rttm', known, '--hypotheses', one, '--words', one);
      expect(missing).to.contain('has no words of "talk" (NAME.json: [{speaker, start, end, text}])');
      for (const [content, reported] of [
        [{}, 'a list is missing'],
        [[{ start: 0, end: 1, speaker: 'A' }], 'turn 0 has no text'],
        [[{ start: 2, end: 1, speaker: 'A', text: 'one' }], 'turn 0: start and end'],
      ] as const) {
        writeFileSync(join(spoken, 'talk.json'), JSON.stringify(content));
        const refused = await refusalOf('speakers', '--rttm', known, '--hypotheses', one, '--words', spoken);
        expect(refused).to.contain(reported);
      }
    }),
  'speakers --segmentation': () => hums((places) => ofPair(places, 'segmentation', 'pyannote-segmentation-3.0')),
  'speakers --embedding': () => hums((places) => ofPair(places, 'embedding', 'nobody')),
  'speakers --threshold': () =>
    hums(async (places) => {
      // Both hum a third tone as well, which the segmentation does not know: a cosine of a half.
      const long = HUMMED.map((turn, index) => ({
        ...turn,
        startSeconds: 40 * index,
        endSeconds: 40 * index + 40,
      }));
      const both = { startSeconds: 0, endSeconds: 80, speaker: 'S5' };
      writeHum(join(places.audio, 'talk.wav'), [...long, both], 80);
      for (const [threshold, speakers] of [
        ['20', '2, 1'],
        ['0.6', '2, 2'],
      ] as const) {
        const found = await reportOf([...humWords(places), '--threshold', threshold]);
        expect(firstRow(found)).to.include({ 'speakers known, found': speakers });
        expect(found.settings).to.include({ threshold: Number(threshold) });
      }
      expect((await reportOf(humWords(places))).settings).to.include({ threshold: TRAITS.threshold });
      const refused = await refusalOf(...humWords(places), '--threshold', '-1');
      expect(refused).to.contain('--threshold');
      const unheard = await refusalOf('speakers', '--rttm', places.rttm, '--hypotheses', places.rttm, '--known-count');
      expect(unheard).to.contain('--known-count acts only with --audio');
    }),
  'speakers --min-seconds': () =>
    hums(async (places) => {
      writeHum(join(places.audio, 'talk.wav'), [HUMMED[0]!, { ...HUMMED[1]!, endSeconds: 9 }], 12);
      const reported = async (...words: string[]): Promise<unknown> =>
        firstRow(await reportOf([...humWords(places), ...words]))['speakers known, found'];
      // Five seconds of one, three of the other, whatever the windows overlap.
      expect(await reported('--min-seconds', '1')).to.equal('2, 2');
      expect(await reported('--min-seconds', '60')).to.equal('2, 2');
      expect(await reported('--min-seconds', '4')).to.equal('2, 1');
      expect((await reportOf(humWords(places))).settings).to.include({ 'fewest seconds': TRAITS.minSeconds });
    }),
  'speakers --threads': () =>
    hums(async (places) => {
      expect((await reportOf([...humWords(places), '--threads', '2'])).settings).to.include({ threads: 2 });
      expect(await refusalOf(...humWords(places), '--threads', '257')).to.contain('an integer from 1 to 256');
    }),
  'speakers --known-count': () =>
    hums(async (places) => {
      writeFileSync(join(places.rttm, 'talk.rttm'), line(0, 12, 'A'));
      expect(firstRow(await reportOf(humWords(places)))).to.include({ 'speakers known, found': '1, 2' });
      const found = await reportOf([...humWords(places), '--known-count']);
      expect(firstRow(found)).to.include({ 'speakers known, found': '1, 1' });
      expect(found.settings).to.include({ 'number of speakers known': 'yes' });
    }),
  'speakers --output': () =>
    answers(({ known, one }) => showOutput('speakers', ['speakers', '--rttm', known, '--hypotheses', one])),
};
