/** The options of `bench words`. */
import { expect } from 'chai';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readTimedClips } from '../../../src/models/alignment/timed-clips.js';
import { MODEL, wordEventsPath } from '../../native/support.js';
import { StubServer, withStub } from '../stub-server.js';
import { recordingParts } from './recording-parts.js';
import { showOutput, recorded, refusalOf, reportOf, seen, withDirectory, type Recorded, type Rows } from './running.js';

const CLIP = 'held-sentence-de-000.wav';

/** So many clips with their words, of which the first is CLIP. */
function timedClips(directory: string, count: number): string {
  mkdirSync(directory);
  const list = readTimedClips(wordEventsPath(''))
    .map(({ path, ...clip }) => ({ file: basename(path), ...clip }))
    .sort((one, other) => Number(other.file === CLIP) - Number(one.file === CLIP))
    .slice(0, count);
  for (const { file } of list) copyFileSync(wordEventsPath(file), join(directory, file));
  writeFileSync(join(directory, 'words.json'), JSON.stringify(list));
  return directory;
}

function withClips<T>(work: (words: string[], directory: string) => Promise<T>): Promise<T> {
  return withDirectory((directory) => work(['words', '--clips', timedClips(join(directory, 'one'), 1)], directory));
}

/** Recognises speech everywhere by the model "everything", and nowhere by others. */
const VOICED_SPANS = `#!/usr/bin/env node
const [, , model, ...files] = process.argv;
for (const file of files) console.log(JSON.stringify(model === 'everything' ? [[0, 1000]] : []));
`;

/** Words that have a program of ours judge, which lies in `directory`. */
function judging(directory: string, model: string): string[] {
  const tool = join(directory, 'voiced_spans');
  writeFileSync(tool, VOICED_SPANS);
  chmodSync(tool, 0o755);
  return ['--unvoiced', model, '--build', directory];
}

function recognised<T>(option: readonly string[], look: (run: Recorded) => T): Promise<[T, T]> {
  return withClips((words) => seen(words, option, look));
}

/** A server that recognises one word in everything, over `words`, which says where it is. */
function asked(words: (url: string) => string[]): Promise<{ stub: StubServer; row: unknown }> {
  const answer = { language: 'de', text: 'Eva', words: [{ word: 'Eva', start: 0.5, end: 1 }] };
  const stub = new StubServer(() => 200, JSON.stringify(answer));
  return withStub(stub, async (url) => {
    const { tables } = await reportOf(words(url), recordingParts().parts);
    return { stub, row: tables[0]?.rows[0] };
  });
}

const usedModel = ({ report }: Recorded): unknown => report.models[0]?.name;
const setting = ({ calls }: Recorded): Recorded['calls']['createBenchEngine'][number][1] =>
  calls.createBenchEngine[0]![1];

export const wordRows: Rows = {
  'words --model': async () => {
    expect(await recognised(['--model', MODEL], usedModel)).to.deep.equal(['verbatim-small', MODEL]);
    expect(await withClips((words) => refusalOf(...words, '--model', 'nonsense'))).to.contain('"nonsense"');
  },
  'words --clips': () =>
    withClips(async (words, directory) => {
      const two = timedClips(join(directory, 'two'), 2);
      const counts = await seen(words, ['--clips', two], ({ report }) => report.settings['clips']);
      expect(counts).to.deep.equal([1, 2]);
      expect(await refusalOf('words', '--clips', directory)).to.contain('words.json');
      expect(await refusalOf('words')).to.contain('--clips');
    }),
  'words --language': async () => {
    const languages = await withClips(async (words) => [
      (await askedWith(words)).stub.seen[0]?.body.includes('name="language"'),
      /name="language"\s+(\w+)/.exec((await askedWith(words, '--language', 'given')).stub.seen[0]!.body)?.[1],
    ]);
    expect(languages).to.deep.equal([false, 'de']);
  },
  'words --vad': async () => {
    const detectors = await recognised(['--vad', 'energy'], (run) => [
      setting(run).voiceActivityModel,
      run.report.settings['vad'],
    ]);
    expect(detectors[1]).to.deep.equal([null, 'energy']);
    const missing = await withClips((words) => refusalOf(...words, '--vad', 'silero'));
    expect(missing).to.contain('models pull silero-vad');
    expect(await withClips((words) => refusalOf(...words, '--vad', 'loud'))).to.contain(
      'Allowed choices are auto, silero, energy',
    );
  },
  'words --unvoiced': () =>
    withClips(async (words, directory) => {
      const judgedBy = async (recognises: 'everything' | 'nothing'): Promise<unknown> => {
        const { report } = await recorded(...words, ...judging(directory, recognises));
        return report.tables[0]?.rows.at(-1);
      };
      const { report } = await recorded(...words);
      expect(report.tables[0]?.rows[0]).to.have.property('F1 50 ms');
      expect(await judgedBy('everything')).to.include({ language: 'all', unvoiced: 0 });
      expect(await judgedBy('nothing')).to.include({ 'unvoiced %': 100 });
    }),
  'words --build': () =>
    withClips(async (words, directory) => {
      const refused = await refusalOf(...words, '--unvoiced', 'everything', '--build', directory);
      expect(refused).to.contain(join(directory, 'voiced_spans'));
      const { report } = await recorded(...words, ...judging(directory, 'everything'));
      expect(report.tables[0]?.rows.at(-1)).to.include({ language: 'all' });
    }),
  'words --url': async () => {
    const { row } = await withClips((words) => askedWith(words));
    expect(row).to.include({ matched: 1, words: 5 });
    const refused = (...more: string[]): Promise<string> =>
      withClips((words) => refusalOf(...words, '--url', 'http://127.0.0.1:1', ...more));
    expect(await refused()).to.contain('--url needs --key');
    expect(await refused('--key', 'a', '--model', MODEL)).to.contain('--model is for the engine');
    expect(await refused('--key', 'a', '--vad', 'energy')).to.contain('--vad is for the engine');
  },
  'words --key': async () => {
    const { stub } = await withClips((words) => askedWith(words));
    expect(stub.seen.map(({ key }) => key)).to.deep.equal(['Bearer vb_one']);
    expect(await withClips((words) => refusalOf(...words, '--key', 'a'))).to.contain('--key acts only with --url');
  },
  'words --output': () => withClips((words) => showOutput('words', words)),
};

function askedWith(words: readonly string[], ...more: string[]): ReturnType<typeof asked> {
  return asked((url) => [...words, '--url', url, '--key', 'vb_one', ...more]);
}
