/** The options of `bench live`. */
import { expect } from 'chai';
import { DEFAULT_CLIPS } from '../../../bench/commands/setup.js';
import { MODEL, samplePath } from '../../native/support.js';
import { StubServer, withStub } from '../stub-server.js';
import { recordingParts } from './recording-parts.js';
import { recorded, refusalOf, reportOf, seen, showOutput, type Recorded, type Rows } from './running.js';

const CLIP = samplePath('de-wav24-stereo.wav');
const LIVE = ['live', '--clips', CLIP, '--sessions', '2', '--seconds', '3'];

type Measured = Recorded['calls']['measureLive'][number][0];

function measured({ calls }: Recorded): Measured {
  return calls.measureLive[0]![0];
}

const seconds = ({ tracks }: Measured): number => tracks[0]!.samples.length / 16_000;
const languages = (run: Recorded): string[] => [...new Set(measured(run).tracks.map(({ language }) => language))];

export const liveBenchRows: Rows = {
  'live --url': async () => {
    const stub = new StubServer(() => 200, '{"language":"de","text":"Nichts davon."}');
    const { parts, calls } = recordingParts();
    await withStub(stub, async (url) => {
      await reportOf([...LIVE, '--url', url, '--key', 'one,two'], parts);
      expect(calls.measureLive[0]?.[0]).to.include({ url, pid: null });
      expect(calls.startVerbatim).to.have.length(0);
    });
    expect(await refusalOf(...LIVE, '--url', 'http://127.0.0.1:1')).to.contain('--url needs --key');
  },
  'live --key': async () => {
    const stub = new StubServer(() => 200, '{"language":"de","text":"Nichts davon."}');
    const { parts, calls } = recordingParts();
    await withStub(stub, (url) => reportOf([...LIVE, '--url', url, '--key', 'one,two'], parts));
    expect(calls.measureLive[0]?.[0].keys).to.deep.equal(['one', 'two']);
    expect(stub.seen[0]?.key).to.equal('Bearer one');
    expect(await refusalOf(...LIVE, '--key', 'one')).to.contain('--key needs --url');
  },
  'live --model': async () => {
    const files = await seen(LIVE, ['--model', MODEL], ({ calls }) => calls.startVerbatim[0]?.[0]?.modelFile);
    expect(files).to.deep.equal([undefined, MODEL]);
    expect(await refusalOf(...LIVE, '--model', 'nonsense')).to.contain('"nonsense"');
  },
  'live --clips': async () => {
    const clips = await seen(LIVE, ['--clips', DEFAULT_CLIPS], ({ report }) => report.settings['clips']);
    expect(clips).to.deep.equal([1, 15]);
    expect(await refusalOf('live', '--clips', 'nowhere')).to.contain('There is no audio at nowhere');
  },
  'live --language': async () => {
    expect(await seen(LIVE, ['--language', 'de'], languages)).to.deep.equal([['auto'], ['de']]);
    const given = ['live', '--sessions', '4', '--seconds', '1'];
    const [each, all] = await seen(given, ['--language', 'en'], languages);
    expect(each).to.have.length.above(1);
    expect(all).to.deep.equal(['en']);
  },
  'live --protocol': async () => {
    const names = await seen(LIVE, ['--protocol', 'openai'], (run) => measured(run).protocol);
    expect(names).to.deep.equal(['deepgram', 'openai']);
    expect(await refusalOf(...LIVE, '--protocol', 'morse')).to.contain('Allowed choices are openai, deepgram');
  },
  'live --sessions': async () => {
    const counts = await seen(LIVE, ['--sessions', '1,3'], ({ calls, report }) => [
      calls.measureLive.map(([{ tracks }]) => tracks.length),
      report.tables[0]?.rows.map((row) => row['sessions']),
    ]);
    expect(counts).to.deep.equal([
      [[2], [2]],
      [
        [1, 3],
        [1, 3],
      ],
    ]);
  },
  'live --seconds': async () => {
    const [three, nine] = await seen(LIVE, ['--seconds', '9'], (run) => seconds(measured(run)));
    expect(three).to.be.within(3, 7);
    expect(nine).to.be.within(9, 13);
  },
  'live --silence': async () => {
    const chosen = await seen(LIVE, ['--silence', '800'], (run) => measured(run).choices.silenceMs);
    expect(chosen).to.deep.equal([500, 800]);
    expect(await refusalOf(...LIVE, '--silence', '299')).to.contain('an integer from 300');
  },
  'live --no-interim': async () => {
    expect(await seen(LIVE, ['--no-interim'], (run) => measured(run).choices.interim)).to.deep.equal([true, false]);
  },
  'live --beside': async () => {
    const [plain, clips] = await seen(LIVE, ['--beside', 'clips'], ({ calls, report }) => [
      calls.measureLive.map(([{ other, keys }]) => [other?.kind, keys.length]),
      report.tables.at(-1)?.rows[0]?.['ratio of p95'],
    ]);
    expect(plain).to.deep.equal([[[undefined, 2]], undefined]);
    expect(clips).to.deep.equal([[['clips', 1]], 2]);
    // Each number of sessions without the file, and with it.
    const { calls, report } = await recorded(...LIVE, '--beside', 'file');
    expect(calls.measureLive.map(([{ other }]) => other?.kind)).to.deep.equal([undefined, 'file']);
    expect(report.tables[0]?.rows.map(({ beside }) => beside)).to.deep.equal(['nothing', 'file']);
    expect(await refusalOf(...LIVE, '--beside', 'noise')).to.contain('Allowed choices are clips, file');
  },
  'live --file-seconds': async () => {
    const words = [...LIVE, '--beside', 'file'];
    const lengths = await seen(words, ['--file-seconds', '60'], ({ calls }) =>
      Math.floor((calls.measureLive.at(-1)?.[0].other?.upload.seconds ?? 0) / 60),
    );
    expect(lengths).to.deep.equal([120, 1]);
  },
  'live --rounds': async () => {
    const rounds = await seen(LIVE, ['--rounds', '3'], ({ calls, report }) => [calls.measureLive.length, report.runs]);
    expect(rounds).to.deep.equal([
      [1, 1],
      [3, 3],
    ]);
  },
  'live --seed': async () => {
    const words = ['live', '--sessions', '1', '--seconds', '20', '--language', 'en'];
    const order = (run: Recorded): string[] => measured(run).tracks[0]!.clips.map(({ path }) => path);
    const [one, seven] = await seen(words, ['--seed', '7'], order);
    expect(one).not.to.deep.equal(seven);
    expect(order(await recorded(...words, '--seed', '7'))).to.deep.equal(seven);
  },
  'live --output': () => showOutput('live', LIVE),
};
