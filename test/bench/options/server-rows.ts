/** The options of the commands that start servers of their own: overhead, memory. */
import { expect } from 'chai';
import { DEFAULT_CLIPS } from '../../../bench/commands/setup.js';
import { MODEL, samplePath } from '../../native/support.js';
import { showOutput, recorded, refusalOf, seen, type Recorded, type Rows } from './running.js';

const CLIP = samplePath('de-wav24-stereo.wav');
const OVERHEAD = ['overhead', '--clips', CLIP, '--rounds', '1', '--threads', '1'];
const MEMORY = ['memory', '--clips', CLIP, '--minutes', '60'];

/** Variables of the first server that was started. */
function environment({ calls }: Recorded): Readonly<Record<string, string>> {
  return calls.startVerbatim[0]?.[0]?.env ?? {};
}

function modelFile({ calls }: Recorded): string | undefined {
  return calls.startVerbatim[0]?.[0]?.modelFile;
}

function pairs({ calls }: Recorded): Recorded['calls']['measureOverhead'][number][0] {
  return calls.measureOverhead[0]![0];
}

function load({ calls }: Recorded): Recorded['calls']['soak'][number][0] {
  return calls.soak[0]![0];
}

export const overheadRows: Rows = {
  'overhead --model': async () => {
    expect(await seen(OVERHEAD, ['--model', MODEL], modelFile)).to.deep.equal([undefined, MODEL]);
    const paths = await seen(OVERHEAD, ['--model', MODEL], ({ report }) => report.models[0]?.name);
    expect(paths).to.deep.equal(['verbatim-small', MODEL]);
    expect(await refusalOf(...OVERHEAD, '--model', 'nonsense')).to.contain('"nonsense"');
  },
  'overhead --clips': async () => {
    const clips = await seen(OVERHEAD, ['--clips', DEFAULT_CLIPS], (run) => pairs(run).clips.length);
    expect(clips).to.deep.equal([1, 15]);
    expect(await refusalOf(...OVERHEAD, '--clips', 'nowhere')).to.contain('There is no audio at nowhere');
  },
  'overhead --language': async () => {
    const languages = await seen(OVERHEAD, ['--language', 'de'], (run) => pairs(run).language);
    expect(languages).to.deep.equal(['auto', 'de']);
  },
  'overhead --slots': async () => {
    const slots = await seen(OVERHEAD, ['--slots', '2'], (run) => [
      environment(run)['VERBATIM_SLOTS'],
      run.calls.createBenchEngine[0]?.[1].cell.slots,
    ]);
    expect(slots).to.deep.equal([
      ['1', 1],
      ['2', 2],
    ]);
    expect(await refusalOf(...OVERHEAD, '--slots', '257')).to.contain('an integer from 1 to 256');
  },
  'overhead --threads': async () => {
    const threads = await seen(OVERHEAD, ['--threads', '2'], (run) => [
      environment(run)['VERBATIM_THREADS'],
      run.calls.createBenchEngine[0]?.[1].cell.threads,
    ]);
    expect(threads).to.deep.equal([
      ['1', 1],
      ['2', 2],
    ]);
    expect(await refusalOf(...OVERHEAD, '--threads', '257')).to.contain('an integer from 1 to 256');
  },
  'overhead --rounds': async () => {
    expect(await seen(OVERHEAD, ['--rounds', '3'], (run) => pairs(run).rounds)).to.deep.equal([1, 3]);
    const measured = await seen(OVERHEAD, ['--rounds', '3'], ({ report }) => report.settings['pairs']);
    expect(measured).to.deep.equal([1, 3]);
  },
  'overhead --output': () => showOutput('overhead', OVERHEAD),
};

export const memoryRows: Rows = {
  'memory --model': async () => {
    expect(await seen(MEMORY, ['--model', MODEL], modelFile)).to.deep.equal([undefined, MODEL]);
    expect(await refusalOf(...MEMORY, '--model', 'nonsense')).to.contain('"nonsense"');
  },
  'memory --clips': async () => {
    const clips = await seen(MEMORY, ['--clips', DEFAULT_CLIPS], (run) => load(run).uploads.length);
    expect(clips).to.deep.equal([1, 15]);
    expect(await refusalOf(...MEMORY, '--clips', 'nowhere')).to.contain('There is no audio at nowhere');
  },
  'memory --slots': async () => {
    const measured = await seen(MEMORY, ['--slots', '3,5'], ({ calls }) =>
      calls.measureMemory.map(([{ slots }]) => slots),
    );
    expect(measured).to.deep.equal([
      [1, 2, 4],
      [3, 5],
    ]);
    const served = (await recorded(...MEMORY, '--slots', '3,5')).calls.startVerbatim;
    expect(served.slice(0, 2).map(([options]) => options?.env?.['VERBATIM_SLOTS'])).to.deep.equal(['3', '5']);
    for (const one of ['1', '2,2']) {
      const why = await refusalOf(...MEMORY, '--slots', one);
      expect(why).to.contain('--slots').and.to.contain('two different numbers at least');
    }
    expect(await refusalOf(...MEMORY, '--slots', '1,257')).to.contain('an integer from 1 to 256');
  },
  'memory --repeat': async () => {
    const times = await seen(MEMORY, ['--repeat', '2'], ({ calls }) => calls.measureMemory[0]?.[0].repeat);
    expect(times).to.deep.equal([3, 2]);
  },
  'memory --minutes': async () => {
    expect(await seen(MEMORY, ['--minutes', '30'], (run) => load(run).seconds)).to.deep.equal([3600, 1800]);
    const { calls, report } = await recorded(...MEMORY, '--minutes', '0');
    expect(calls.soak).to.have.length(0);
    expect(report.charts.map(({ name }) => name)).to.deep.equal(['windows']);
  },
  'memory --warm-up-minutes': async () => {
    const titles = await seen(MEMORY, ['--warm-up-minutes', '5'], ({ report }) => report.tables[2]?.title);
    expect(titles).to.deep.equal([15, 5].map((minutes) => `Mixed load, after ${minutes} minutes to warm up`));
    // A sample every five seconds, and those of the warm-up do not count.
    const samples = await seen(
      MEMORY,
      ['--warm-up-minutes', '5'],
      ({ report }) => report.tables[2]?.rows[0]?.['samples'],
    );
    expect(samples).to.deep.equal([541, 661]);
  },
  'memory --rate': async () => {
    expect(await seen(MEMORY, ['--rate', '0.5'], (run) => load(run).rate)).to.deep.equal([1, 0.5]);
  },
  'memory --sample-seconds': async () => {
    const periods = await seen(MEMORY, ['--sample-seconds', '9'], (run) => load(run).sampleSeconds);
    expect(periods).to.deep.equal([5, 9]);
    // Four samples after the 15 minutes of warm-up are the least that a slope can be computed from.
    expect(await refusalOf(...MEMORY, '--sample-seconds', '676')).to.contain('--sample-seconds is 676');
    expect((await recorded(...MEMORY, '--sample-seconds', '675')).calls.soak).to.have.length(1);
  },
  'memory --seed': async () => {
    const first = (run: Recorded): number => load(run).random();
    const [one, seven] = await seen(MEMORY, ['--seed', '7'], first);
    expect(one).not.to.equal(seven);
    expect(await seen([...MEMORY, '--seed', '7'], [], first)).to.deep.equal([seven, seven]);
  },
  'memory --output': () => showOutput('memory', MEMORY),
};
