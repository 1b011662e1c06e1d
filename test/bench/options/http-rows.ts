/** The options of `bench http`. */
import { expect } from 'chai';
import { DEFAULT_CLIPS } from '../../../bench/commands/setup.js';
import { samplePath } from '../../native/support.js';
import { StubServer, withStub } from '../stub-server.js';
import { refusalOf, reportOf, seen, showOutput, type Recorded, type Rows } from './running.js';
import { recordingParts } from './recording-parts.js';

const CLIP = samplePath('de-wav24-stereo.wav');
/** A server that answers at once; what it is sent to warm up counts for `--url` and `--key` alone. */
const URL = 'http://127.0.0.1:1';
const HTTP = ['http', '--url', URL, '--key', 'one,two', '--clips', CLIP, '--long-seconds', '10'];

function firstLoad({ calls }: Recorded): Recorded['calls']['openLoop'][number][0] {
  return calls.openLoop[0]![0];
}

function fairness({ calls }: Recorded): Recorded['calls']['measureFairness'][number][0] {
  return calls.measureFairness[0]![0];
}

/** Authorization headers that the server saw. */
async function keysSeen(keys: string): Promise<(string | undefined)[]> {
  const stub = new StubServer();
  await withStub(stub, (url) =>
    reportOf(['http', '--url', url, '--key', keys, '--clips', CLIP], recordingParts().parts),
  );
  return [...new Set(stub.seen.map(({ key }) => key))];
}

export const httpRows: Rows = {
  'http --url': async () => {
    const stub = new StubServer();
    const { settings } = await withStub(stub, (url) => reportOf([...HTTP, '--url', url], recordingParts().parts));
    expect(stub.seen).to.have.length(1);
    expect(settings['url']).not.to.equal(URL);
    expect(await refusalOf('http', '--key', 'one')).to.contain('--url');
  },
  'http --key': async () => {
    expect(await keysSeen('one')).to.deep.equal(['Bearer one']);
    expect(await keysSeen('two,one')).to.deep.equal(['Bearer two']);
    const accounts = await seen(HTTP, ['--key', 'one'], (run) => firstLoad(run).target.accounts);
    expect(accounts).to.deep.equal([2, 1]);
    expect(await refusalOf('http', '--url', URL, '--key', ',')).to.contain('--key');
  },
  'http --clips': async () => {
    const clips = await seen(HTTP, ['--clips', DEFAULT_CLIPS], (run) => firstLoad(run).uploads.length);
    expect(clips).to.deep.equal([1, 15]);
    expect(await refusalOf(...HTTP, '--clips', 'nowhere')).to.contain('There is no audio at nowhere');
  },
  'http --language': async () => {
    const languages = await seen(HTTP, ['--language', 'de'], (run) => firstLoad(run).uploads[0]?.language);
    expect(languages).to.deep.equal(['auto', 'de']);
  },
  'http --seconds': async () => {
    expect(await seen(HTTP, ['--seconds', '7'], (run) => firstLoad(run).seconds)).to.deep.equal([30, 7]);
    expect(await refusalOf(...HTTP, '--seconds', '0')).to.contain('an integer from 1');
  },
  'http --p95': async () => {
    // The load that stands in answers within half a second at one request a second, within a second at two.
    const borne = await seen(
      HTTP,
      ['--p95', '1000'],
      ({ report: { measurements } }) => (measurements as { highestRate: number }).highestRate,
    );
    expect(borne).to.deep.equal([4, 2]);
  },
  'http --seed': async () => {
    const first = (run: Recorded): number => firstLoad(run).random();
    const [one, seven] = await seen(HTTP, ['--seed', '7'], first);
    expect(one).not.to.equal(seven);
    expect(await seen([...HTTP, '--seed', '7'], [], first)).to.deep.equal([seven, seven]);
  },
  'http --long': async () => {
    const names = await seen(HTTP, ['--long', CLIP], (run) => fairness(run).long.name);
    expect(names).to.deep.equal(['long.wav', 'de-wav24-stereo.wav']);
    expect(await refusalOf(...HTTP, '--long', 'nowhere.wav')).to.contain('nowhere.wav');
  },
  'http --long-seconds': async () => {
    const [ten, thirty] = await seen(HTTP, ['--long-seconds', '30'], (run) => fairness(run).long.seconds);
    expect(ten).to.be.within(10, 13);
    expect(thirty).to.be.within(30, 33);
  },
  'http --short-clips': async () => {
    expect(await seen(HTTP, ['--short-clips', '2'], (run) => fairness(run).count)).to.deep.equal([20, 2]);
  },
  'http --output': () => showOutput('http', HTTP),
};
