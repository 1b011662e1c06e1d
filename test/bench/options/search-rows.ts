/** The options of the commands that go through many measurements: tune, throughput. */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH_PARTS } from '../../../bench/commands/parts.js';
import { DEFAULT_CLIPS } from '../../../bench/commands/setup.js';
import { readTuned } from '../../../src/service/tuned.js';
import { MODEL, samplePath } from '../../native/support.js';
import { writePrograms } from '../built-programs.js';
import { recordingParts } from './recording-parts.js';
import { withDirectory, showOutput, recorded, refusalOf, run, seen, type Recorded, type Rows } from './running.js';

const CLIP = samplePath('de-wav24-stereo.wav');

/** The words of a `tune` that writes into a directory of its own. */
function tuning<T>(work: (words: string[], file: string) => Promise<T>): Promise<T> {
  return withDirectory((directory) => {
    const file = join(directory, 'tuned.json');
    return work(['tune', '--clips', CLIP, '--pairs', '1', '--file', file], file);
  });
}

function tuned<T>(option: readonly string[], look: (run: Recorded) => T): Promise<[T, T]> {
  return tuning((words) => seen(words, option, look));
}

function job({ calls }: Recorded): Recorded['calls']['measureInProcess'][number][0] {
  return calls.measureInProcess[0]![0];
}

export const tuneRows: Rows = {
  'tune --model': async () => {
    const names = await tuned(['--model', MODEL], ({ report }) => report.models[0]?.name);
    expect(names).to.deep.equal(['verbatim-small', MODEL]);
    // A file that no manifest knows is cut as published models are.
    expect(await tuned(['--model', MODEL], (one) => job(one).policy.maxSeconds)).to.deep.equal([8, 30]);
    const unknown = await tuning((words) => refusalOf(...words, '--model', 'nonsense'));
    expect(unknown).to.contain('"nonsense"');
  },
  'tune --pairs': async () => {
    expect(await tuned(['--pairs', '4'], ({ report }) => report.runs)).to.deep.equal([1, 4]);
    expect(await refusalOf('tune', '--pairs', '0')).to.contain('an integer from 1');
  },
  'tune --sweep': async () => {
    const sweeps = await tuned(['--sweep', '2'], ({ report }) =>
      report.tables.slice(2).map(({ rows }) => rows.length > 0 && rows[0]?.['rounds']),
    );
    expect(sweeps).to.deep.equal([[], [undefined, 2]]);
  },
  'tune --file': () =>
    tuning(async (words, file) => {
      const other = `${file}.other`;
      await recorded(...words, '--file', other);
      expect(existsSync(file)).to.equal(false);
      await recorded(...words);
      expect(readTuned(file)?.model.name).to.equal(readTuned(other)?.model.name).and.to.equal('verbatim-small');
    }),
  'tune --clips': async () => {
    expect(await tuned(['--clips', DEFAULT_CLIPS], (one) => job(one).clips.length)).to.deep.equal([1, 15]);
    const nowhere = await tuning((words) => refusalOf(...words, '--clips', 'nowhere'));
    expect(nowhere).to.contain('There is no audio at nowhere');
  },
  'tune --language': async () => {
    expect(await tuned(['--language', 'de'], (one) => job(one).language)).to.deep.equal(['auto', 'de']);
  },
  'tune --clients': async () => {
    expect(await tuned(['--clients', '3'], (one) => job(one).clients)).to.deep.equal([8, 3]);
  },
  'tune --repeat': async () => {
    expect(await tuned(['--repeat', '2'], (one) => job(one).repeat)).to.deep.equal([1, 2]);
  },
  'tune --output': () => tuning((words) => showOutput('tune', words)),
};

/** The words of each command that a run of all of them starts. */
async function steps(build: string, ...words: string[]): Promise<Map<string, string[]>> {
  const { parts, calls } = recordingParts();
  const { status, stderr } = await run(['throughput', 'reports', '--build', build, ...words], parts);
  expect(status, stderr).to.equal(0);
  return new Map(calls.runBench.map(([[name = '', ...rest]]) => [name, rest]));
}

function withPrograms<T>(work: (build: string) => Promise<T>): Promise<T> {
  return withDirectory((build) => {
    const output = { language: 'de', text: '' };
    writePrograms(build, { cli: output, server: true, clips: true });
    return work(build);
  });
}

function valueOf(words: readonly string[] | undefined, flag: string): string | undefined {
  return words?.includes(flag) === true ? words[words.indexOf(flag) + 1] : undefined;
}

export const throughputRows: Rows = {
  'throughput --quick': () =>
    withPrograms(async (build) => {
      const [full, quick] = [await steps(build), await steps(build, '--quick')];
      expect([...quick.keys()])
        .to.deep.equal([...full.keys()])
        .and.to.include.members(['tune', 'memory']);
      const minutes = [full, quick].map((all) => valueOf(all.get('memory'), '--minutes'));
      expect(minutes).to.deep.equal(['120', '1']);
    }),
  'throughput --from': () =>
    withPrograms(async (build) => {
      expect(valueOf((await steps(build)).get('clips'), '--from')).to.equal(undefined);
      const named = await steps(build, '--from', DEFAULT_CLIPS);
      expect(valueOf(named.get('clips'), '--from')).to.equal(DEFAULT_CLIPS);
      const nowhere = await refusalOf('throughput', 'reports', '--build', build, '--from', 'nowhere');
      expect(nowhere).to.contain('There is no audio at nowhere');
    }),
  'throughput --model': () =>
    withPrograms(async (build) => {
      expect(valueOf((await steps(build)).get('compare'), '--model')).to.equal(undefined);
      const named = await steps(build, '--model', 'verbatim-small');
      expect(valueOf(named.get('compare'), '--model')).to.equal('verbatim-small');
      const unknown = await refusalOf('throughput', 'reports', '--build', build, '--model', 'nonsense');
      expect(unknown).to.contain('"nonsense"');
    }),
  'throughput --build': () =>
    withPrograms(async (build) => {
      const all = await steps(build);
      for (const name of ['clips', 'compare']) expect(valueOf(all.get(name), '--build')).to.equal(build);
      await withDirectory(async (empty) => {
        expect(await refusalOf('throughput', 'reports', '--build', empty)).to.contain('join_clips');
      });
      const { parts } = recordingParts();
      const failing = { ...BENCH_PARTS, ...parts, runBench: ([name]: readonly string[]) => name !== 'tune' };
      const { status, stderr } = await run(['throughput', 'reports', '--build', build], failing);
      expect(status).to.equal(1);
      expect(stderr).to.contain('tune: FAILED').and.to.contain('memory: done');
    }),
};
