/** The options of the commands that compare what is recognised with what is said: accuracy, parity. */
import { expect } from 'chai';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MODEL, samplePath } from '../../native/support.js';
import { writePrograms } from '../built-programs.js';
import type { Report } from '../../../bench/reports/report.js';
import { run, withDirectory, showOutput, refusalOf, seen, type Recorded, type Rows } from './running.js';

const RECOGNISED = { language: 'de', text: 'Nichts davon.' };
const CLIPS = [samplePath('de-wav24-stereo.wav'), samplePath('en-wav16.wav')];

interface Spoken {
  /** Of one clip, and of two. */
  one: string;
  two: string;
  /** Where the programs are built that recognise RECOGNISED in every file. */
  build: string;
}

function spoken<T>(work: (places: Spoken) => Promise<T>): Promise<T> {
  return withDirectory((directory) => {
    const [one, two] = [1, 2].map((count) => spokenClips(join(directory, String(count)), count));
    const build = join(directory, 'build');
    writePrograms(build, { cli: RECOGNISED, engine: RECOGNISED });
    return work({ one: one!, two: two!, build });
  });
}

function spokenClips(directory: string, count: number): string {
  mkdirSync(directory);
  const clips = CLIPS.slice(0, count);
  for (const clip of clips) copyFileSync(clip, join(directory, basename(clip)));
  const list = clips.map((clip) => ({ file: basename(clip), language: 'de', text: RECOGNISED.text }));
  writeFileSync(join(directory, 'refs.json'), JSON.stringify(list));
  return directory;
}

/** Of a command that is run over one clip. */
function recognised<T>(
  command: string,
  option: (places: Spoken) => string[],
  look: (run: Recorded) => T,
): Promise<[T, T]> {
  return spoken((places) => seen(wordsOf(command, places), option(places), look));
}

function wordsOf(command: string, { one, build }: Spoken): string[] {
  return [command, '--clips', one, '--build', build];
}

/** The rows that such commands have in common. */
function spokenRows(command: string): Rows {
  return {
    [`${command} --model`]: async () => {
      const models = await recognised(
        command,
        () => ['--model', MODEL],
        ({ report: { models: used } }) => used[0]?.name,
      );
      expect(models).to.deep.equal(['verbatim-small', MODEL]);
      const unknown = await spoken((places) => refusalOf(...wordsOf(command, places), '--model', 'nonsense'));
      expect(unknown).to.contain('"nonsense"');
    },
    [`${command} --clips`]: async () => {
      const clips = await recognised(
        command,
        ({ two }) => ['--clips', two],
        ({ report: { settings } }) => settings['clips'],
      );
      expect(clips).to.deep.equal([1, 2]);
      const unlisted = await spoken(({ build }) => refusalOf(command, '--clips', build));
      expect(unlisted).to.contain('no clips in a refs.json');
    },
    [`${command} --output`]: () => spoken((places) => showOutput(command, wordsOf(command, places))),
  };
}

export const accuracyRows: Rows = {
  ...spokenRows('accuracy'),
  'accuracy --build': () => builtPrograms('accuracy', 'whisper-cli'),
};

/** Programs that recognise something else are those that are asked; there are none in an empty directory. */
async function builtPrograms(command: string, missing: string): Promise<void> {
  await spoken(async (places) => {
    const words = wordsOf(command, places);
    const other = { language: 'en', text: 'Something else.' };
    const elsewhere = join(places.two, 'build');
    writePrograms(elsewhere, { cli: other, engine: other });
    const texts = await seen(words, ['--build', elsewhere], ({ report: { measurements } }) =>
      JSON.stringify(measurements).includes('Something else.'),
    );
    expect(texts).to.deep.equal([false, true]);
    expect(await refusalOf(...words, '--build', places.one)).to.contain(`--target ${missing}`);
  });
}

/** The words that transcribe_windows was run with, first. */
function engineWords({ report: { measurements } }: Recorded): string {
  const [{ pairs: windows }] = measurements as [{ pairs: { first: { text: string } }[] }];
  return windows[0]!.first.text;
}

/** The programs repeat their words, so that every text differs and the command exits with 1. */
function parityWords(option: string[], look: (words: string) => unknown): Promise<[unknown, unknown]> {
  return spoken(async (places) => {
    writePrograms(places.build, { cli: RECOGNISED, engine: RECOGNISED, printsWords: true });
    const reported = async (...more: string[]): Promise<unknown> => {
      const { status, stdout } = await run([...wordsOf('parity', places), '--json', ...more]);
      expect(status).to.equal(1);
      return look(engineWords({ report: JSON.parse(stdout) as Report } as Recorded));
    };
    return [await reported(), await reported(...option)];
  });
}

export const parityRows: Rows = {
  ...spokenRows('parity'),
  'parity --build': () => builtPrograms('parity', 'transcribe_windows'),
  'parity --decoder': async () => {
    const decoders = await parityWords(['--decoder', 'whisper.cpp'], (words) => [
      /--decoder (\S+)/.exec(words)?.[1],
      words.includes('--plain --explain'),
      words.includes('--compute'),
    ]);
    expect(decoders).to.deep.equal([
      ['batched', true, true],
      ['whisper.cpp', false, false],
    ]);
    expect(await refusalOf('parity', '--decoder', 'fast')).to.contain('Allowed choices are whisper.cpp, batched');
  },
  'parity --compute': async () => {
    const types = await parityWords(['--compute', 'int8'], (words) => /--compute (\S+)/.exec(words)?.[1]);
    expect(types).to.deep.equal(['float32', 'int8']);
    expect(await refusalOf('parity', '--compute', 'float64')).to.contain('Allowed choices are');
    const misplaced = await refusalOf('parity', '--decoder', 'whisper.cpp', '--compute', 'int8');
    expect(misplaced).to.contain('--compute is for --decoder batched');
  },
};
