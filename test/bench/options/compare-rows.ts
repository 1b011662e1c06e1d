/** The options of `bench compare`, beside programs that need not be built. */
import { expect } from 'chai';
import { join } from 'node:path';
import { DEFAULT_CLIPS } from '../../../bench/commands/setup.js';
import { AUTO_ON_CPU } from '../../../src/service/speech-decoder.js';
import { MODEL, samplePath } from '../../native/support.js';
import { writePrograms } from '../built-programs.js';
import { withDirectory, showOutput, recorded, refusalOf, seen, type Recorded, type Rows } from './running.js';

const CLIP = samplePath('de-wav24-stereo.wav');
const COMPARE = [
  ...['compare', '--clips', CLIP, '--language', 'auto', '--rounds', '1', '--threads', '2'],
  ...['--long-seconds', '10', '--short-clips', '2'],
];

type Of<Name extends keyof Recorded['calls']> = Recorded['calls'][Name][number];

/** What a row looks at: runs without the option and with it, where the peers are built. */
function compared<T>(option: readonly string[], look: (run: Recorded) => T): Promise<[T, T]> {
  return withPeers((build) => seen([...COMPARE, '--build', build], option, look));
}

function withPeers<T>(work: (build: string) => Promise<T>): Promise<T> {
  return withDirectory((build) => {
    writePrograms(build, { cli: { language: 'de', text: '' }, server: true });
    return work(build);
  });
}

function firstPass({ calls }: Recorded): Of<'serverPass'> {
  return calls.serverPass[0]!;
}

function environment({ calls }: Recorded): Readonly<Record<string, string>> {
  return calls.startVerbatim[0]?.[0]?.env ?? {};
}

function wordAfter(flag: string, { calls }: Recorded): string | undefined {
  const [, words] = calls.commandLinePass[0]!;
  return words[words.indexOf(flag) + 1];
}

export const compareRows: Rows = {
  'compare --model': async () => {
    const [bundled, path] = await compared(['--model', MODEL], ({ calls, report }) => [
      calls.startVerbatim.map(([options]) => options?.modelFile),
      report.models.map(({ name }) => name),
      report.settings['decoder'],
    ]);
    expect(bundled).to.deep.equal([[undefined], ['verbatim-small'], AUTO_ON_CPU]);
    expect(path).to.deep.equal([[MODEL], [MODEL], AUTO_ON_CPU]);
    const two = await compared(['--model', `verbatim-small,${MODEL}`], ({ report }) => report.models.length);
    expect(two).to.deep.equal([1, 2]);
  },
  'compare --threads': async () => {
    const threads = await compared(['--threads', '4', '--slots', '2'], (run) => [
      environment(run)['VERBATIM_THREADS'],
      run.calls.startWhisperServer[0]?.[2],
      wordAfter('-t', run),
    ]);
    expect(threads).to.deep.equal([
      ['1', 2, '2'],
      ['2', 4, '4'],
    ]);
    expect(await refusalOf(...COMPARE, '--threads', '257')).to.contain('an integer from 1 to 256');
  },
  'compare --slots': async () => {
    const shared = await compared(['--slots', '1'], (run) => [
      environment(run)['VERBATIM_SLOTS'],
      environment(run)['VERBATIM_THREADS'],
    ]);
    expect(shared).to.deep.equal([
      ['2', '1'],
      ['1', '2'],
    ]);
    expect(await refusalOf(...COMPARE, '--slots', '257')).to.contain('an integer from 1 to 256');
  },
  'compare --peers': async () => {
    const peers = await compared(['--peers', 'whisper-cli'], ({ calls, report }) => [
      calls.startWhisperServer.length,
      report.tables[0]?.rows.map((row) => row['program']),
    ]);
    expect(peers).to.deep.equal([
      [1, ['verbatim', 'whisper-server', 'whisper-cli']],
      [0, ['verbatim', 'whisper-cli']],
    ]);
    expect(await refusalOf(...COMPARE, '--peers', 'wisper')).to.contain('Allowed: whisper-server, whisper-cli');
  },
  'compare --build': async () => {
    await withPeers(async (build) => {
      const { calls } = await recorded(...COMPARE, '--build', build);
      expect(calls.startWhisperServer[0]?.[0]).to.equal(join(build, 'bin', 'whisper-server'));
      expect(calls.commandLinePass[0]?.[0]).to.equal(join(build, 'bin', 'whisper-cli'));
    });
    await withDirectory(async (empty) => {
      expect(await refusalOf(...COMPARE, '--build', empty)).to.contain(join(empty, 'bin', 'whisper-server'));
    });
  },
  'compare --long-seconds': async () => {
    const lengths = await compared(['--long-seconds', '0'], ({ calls }) =>
      calls.measureFairness.map(([{ long }]) => Math.floor(long.seconds / 10)),
    );
    // Verbatim and whisper-server; none at all.
    expect(lengths).to.deep.equal([[1, 1], []]);
    const [, thirty] = await compared(['--long-seconds', '30'], ({ calls }) => calls.measureFairness[0]?.[0]);
    expect(thirty?.long.seconds).to.be.within(30, 33);
  },
  'compare --short-clips': async () => {
    const counts = await compared(['--short-clips', '5'], ({ calls }) => calls.measureFairness[0]?.[0].count);
    expect(counts).to.deep.equal([2, 5]);
  },
  'compare --clips': async () => {
    const clips = await compared(['--clips', DEFAULT_CLIPS], (run) => firstPass(run)[1].length);
    expect(clips).to.deep.equal([1, 15]);
    await withPeers(async (build) => {
      const nowhere = await refusalOf(...COMPARE, '--build', build, '--clips', 'nowhere');
      expect(nowhere).to.contain('There is no audio at nowhere');
    });
  },
  'compare --language': async () => {
    const languages = await compared(['--language', 'auto,de'], (run) => [
      run.report.tables[0]?.rows.map((row) => row['language']),
      [...new Set(run.calls.serverPass.flatMap(([, uploads]) => uploads.map(({ language }) => language)))],
    ]);
    expect(languages).to.deep.equal([
      [['auto', 'auto', 'auto'], ['auto']],
      [
        ['auto', 'auto', 'auto', 'de', 'de', 'de'],
        ['auto', 'de'],
      ],
    ]);
    expect(await compared(['--language', 'de'], (run) => wordAfter('-l', run))).to.deep.equal(['auto', 'de']);
  },
  'compare --clients': async () => {
    expect(await compared(['--clients', '3'], (run) => firstPass(run)[2])).to.deep.equal([8, 3]);
  },
  'compare --repeat': async () => {
    const uploads = await compared(['--repeat', '3'], (run) => [
      firstPass(run)[1].length,
      run.calls.commandLinePass[0]?.[2].length,
    ]);
    expect(uploads).to.deep.equal([
      [1, 1],
      [3, 3],
    ]);
  },
  'compare --rounds': async () => {
    const rounds = await compared(['--rounds', '3'], ({ calls }) => calls.commandLinePass.length);
    expect(rounds).to.deep.equal([1, 3]);
  },
  'compare --output': () => withPeers((build) => showOutput('compare', [...COMPARE, '--build', build])),
};
