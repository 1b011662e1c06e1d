/** Those that need a database of several nodes: ledger, nodes. */
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { DEFAULT_CLIPS } from '../../../bench/commands/setup.js';
import type { NodesLoad, NodesResult } from '../../../bench/load/nodes.js';
import { BENCH_SECRET, type LedgerLoad, type LedgerRate } from '../../../bench/load/ledger-nodes.js';
import { administrationAt, POSTGRESQL, type Place } from '../../ledger/backends.js';
import { customer } from '../../ledger/support.js';
import { MODEL, samplePath } from '../../native/support.js';
import { showOutput, recorded, refusalOf, reportOf, seen, withDirectory, type Recorded, type Rows } from './running.js';

/** The smallest measurement: what is given later counts. */
const LEDGER = ['ledger', '--nodes', '1', '--seconds', '1'];

function loads({ calls }: Recorded): LedgerLoad[] {
  return calls.measureLedgerNodes.map(([load]) => load);
}

async function onPostgres(work: (place: Place) => Promise<void>): Promise<void> {
  const place = await POSTGRESQL.place();
  try {
    await work(place);
  } finally {
    await place.remove();
  }
}

export const ledgerRows: Rows = {
  'ledger --database': () =>
    onPostgres(async (place) => {
      const { address } = place;
      const { settings, measurements } = await reportOf([...LEDGER, '--database', address]);
      expect((measurements as LedgerRate[])[0]?.perSecond).to.be.above(0);
      expect(settings['database']).to.equal(address.replace(/:[^:@/]+@/, '@'));
      const [charged] = await place.rows<{ n: number }>('SELECT count(*) AS n FROM usage_events');
      expect(charged?.n, 'charged there').to.be.above(0);
      expect((await recorded(...LEDGER)).report.settings['database']).to.equal('SQLite');
      expect(await refusalOf(...LEDGER, '--database', 'ledger.db')).to.contain('not an address of PostgreSQL');
      const secret = BENCH_SECRET;
      const ledger = await administrationAt(address, { secret });
      await customer(ledger);
      await ledger.close();
      expect(await refusalOf(...LEDGER, '--database', address)).to.contain('--database has accounts');
    }),
  'ledger --nodes': async () => {
    const { report, calls } = await recorded(...LEDGER, '--nodes', '1,3');
    expect(calls.measureLedgerNodes.map(([{ nodes }]) => nodes)).to.deep.equal([1, 3]);
    expect(report.tables[0]?.rows.map((row) => row['times the first'])).to.deep.equal([1, 3]);
    const { measurements } = await reportOf([...LEDGER, '--nodes', '1,2']);
    expect((measurements as LedgerRate[]).map(({ ofEachNode }) => ofEachNode.length)).to.deep.equal([1, 2]);
    expect(await refusalOf(...LEDGER, '--nodes', '65')).to.contain('an integer from 1 to 64');
  },
  'ledger --delay': () =>
    onPostgres(async ({ address }) => {
      const words = [...LEDGER, '--database', address];
      const ms = ({ roundTripMs }: LedgerLoad): number => roundTripMs;
      const [without, with_] = await seen(words, ['--delay', '300'], (run) => loads(run).map(ms));
      expect([without, with_]).to.deep.equal([[0], [300]]);
      // Four clients on two connections: a charge takes two round trips of 300 ms at least.
      const { measurements } = await reportOf([...words, '--seconds', '2', '--delay', '300']);
      expect((measurements as LedgerRate[])[0]?.perSecond)
        .to.be.above(0)
        .and.below(4);
      expect(await refusalOf(...LEDGER, '--delay', '10')).to.contain('SQLite has none');
    }),
  'ledger --seconds': async () => {
    const length = ({ seconds }: LedgerLoad): number => seconds;
    expect(await seen(LEDGER, ['--seconds', '5'], (run) => loads(run).map(length))).to.deep.equal([[1], [5]]);
    expect((await recorded(...LEDGER, '--seconds', '5')).report.runs).to.equal(5);
  },
  'ledger --output': () => showOutput('ledger', LEDGER),
};

/** The smallest: what is given later counts. */
const LIBRARY = ['library', '--transcripts', '20', '--searches', '1'];

export const libraryRows: Rows = {
  'library --database': () =>
    onPostgres(async (place) => {
      const { address } = place;
      const { settings } = await reportOf([...LIBRARY, '--database', address]);
      expect(settings['database']).to.equal(address.replace(/:[^:@/]+@/, '@'));
      expect(await place.rows('SELECT count(*) AS n FROM transcripts')).to.deep.equal([{ n: 19 }]);
      expect(await refusalOf(...LIBRARY, '--database', 'ledger.db')).to.contain('not an address of PostgreSQL');
    }),
  'library --transcripts': async () => {
    const { settings, tables } = await reportOf([...LIBRARY, '--transcripts', '40']);
    expect(settings).to.include({ database: 'SQLite', transcripts: 40 });
    expect(tables[0]?.rows.find((row) => row['search'] === 'no word')).to.include({ account: 'large', 'with hits': 1 });
    expect(await refusalOf(...LIBRARY, '--transcripts', '4')).to.contain('--transcripts');
  },
  'library --searches': async () => {
    const { runs, tables } = await reportOf([...LIBRARY, '--searches', '3']);
    expect(runs).to.equal(3);
    expect(tables[0]?.rows.find((row) => row['search'] === 'no word')).to.include({ 'with hits': 3 });
  },
  'library --output': () => showOutput('library', LIBRARY),
};

const CLIP = samplePath('de-wav24-stereo.wav');

/** The ledger is real, and empty; the nodes are not started. */
async function nodesRun(...words: string[]): Promise<Recorded> {
  let run: Recorded | undefined;
  await onPostgres(async ({ address }) => {
    run = await recorded('nodes', '--database', address, '--clips', CLIP, '--nodes', '1', ...words);
  });
  return run!;
}

async function nodesSeen<T>(words: readonly string[], look: (load: NodesLoad) => T): Promise<[T, T]> {
  const first = async (...more: string[]): Promise<T> => look((await nodesRun(...more)).calls.measureNodes[0]![0]);
  return [await first(), await first(...words)];
}

export const nodesRows: Rows = {
  'nodes --database': () =>
    onPostgres(async (place) => {
      // All of it: servers, balancer, database.
      const words = ['--clips', CLIP, '--nodes', '2', '--requests', '6', '--clients', '3'];
      const { measurements, tables } = await reportOf(['nodes', '--database', place.address, ...words]);
      const [found] = measurements as NodesResult[];
      expect(found?.requestsPerSecond).to.be.above(0);
      expect(found?.audioPerSecond).to.be.closeTo(1.872 * found!.requestsPerSecond, 0.01 * found!.audioPerSecond);
      expect(found?.shares.engine).to.be.above(0);
      expect(found?.shares.database).to.be.a('number');
      expect(tables[1]?.rows[0]).to.include.keys('engine', 'shell', 'PostgreSQL', 'HAProxy');
      const servers = await place.rows<{ n: number }>('SELECT count(*) AS n FROM usage_events');
      expect(servers[0]?.n, 'charged there, warm-up and all').to.equal(10);
      expect(await refusalOf('nodes', '--database', 'ledger.db')).to.contain('not an address of PostgreSQL');
    }),
  'nodes --model': async () => {
    const file = ({ serving }: NodesLoad): string | undefined => serving.modelFile;
    expect(await nodesSeen(['--model', MODEL], file)).to.deep.equal([undefined, MODEL]);
  },
  'nodes --clips': async () => {
    const count = ({ uploads }: NodesLoad): number => uploads.length;
    expect(await nodesSeen(['--clips', DEFAULT_CLIPS], count)).to.deep.equal([1, 15]);
  },
  'nodes --language': async () => {
    const language = ({ uploads }: NodesLoad): string | undefined => uploads[0]?.language;
    expect(await nodesSeen(['--language', 'de'], language)).to.deep.equal(['auto', 'de']);
  },
  'nodes --nodes': async () => {
    const { report, calls } = await nodesRun('--nodes', '1,4');
    expect(calls.measureNodes.map(([{ nodes, serving }]) => [nodes, serving.env?.['VERBATIM_SLOTS']])).to.deep.equal([
      [1, '1'],
      [4, '1'],
    ]);
    expect(report.tables[0]?.rows.map((row) => row['requests/s'])).to.deep.equal([1, 4]);
  },
  'nodes --requests': async () => {
    expect(await nodesSeen(['--requests', '7'], ({ requests }) => requests)).to.deep.equal([200, 7]);
  },
  'nodes --clients': async () => {
    expect(await nodesSeen(['--clients', '3'], ({ clients }) => clients)).to.deep.equal([8, 3]);
  },
  'nodes --output': () =>
    withDirectory(async (directory) => {
      await nodesRun('--output', directory);
      expect(readdirSync(directory)).to.include.members(['nodes.json', 'nodes.md']);
    }),
};
