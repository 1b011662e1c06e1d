/** `bench ledger`. */
import { expect } from 'chai';
import type { LedgerLoad, LedgerRate } from '../../../bench/load/ledger-nodes.js';
import { administrationAt, POSTGRESQL, type Place } from '../../ledger/backends.js';
import { customer } from '../../ledger/support.js';
import { outputRows, recorded, refusalOf, reportOf, seen, type Recorded, type Rows } from './running.js';

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
      expect(await refusalOf(...LEDGER, '--database', 'books.db')).to.contain('not an address of PostgreSQL');
      const secret = 'the secret of verbatim bench ledger';
      const books = await administrationAt(address, { secret });
      await customer(books);
      await books.close();
      expect(await refusalOf(...LEDGER, '--database', address)).to.contain('--database has accounts');
    }),
  'ledger --nodes': async () => {
    const { report, calls } = await recorded(...LEDGER, '--nodes', '1,3');
    expect(calls.measureLedgerNodes.map(([{ nodes }]) => nodes)).to.deep.equal([1, 3]);
    expect(report.tables[0]?.rows.map((row) => row['times the first'])).to.deep.equal([1, 3]);
    const { measurements } = await reportOf([...LEDGER, '--nodes', '2']);
    expect((measurements as LedgerRate[])[0]?.ofEachNode).to.have.length(2);
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
  'ledger --connections': async () => {
    const connections = ({ connections: n }: LedgerLoad): number => n;
    expect(await seen(LEDGER, ['--connections', '7'], (run) => loads(run).map(connections))).to.deep.equal([
      [2],
      [7],
    ]);
    expect(await refusalOf(...LEDGER, '--connections', '1')).to.contain('an integer from 2');
  },
  'ledger --seconds': async () => {
    const length = ({ seconds }: LedgerLoad): number => seconds;
    expect(await seen(LEDGER, ['--seconds', '5'], (run) => loads(run).map(length))).to.deep.equal([[1], [5]]);
    expect((await recorded(...LEDGER, '--seconds', '5')).report.runs).to.equal(5);
  },
  ...outputRows('ledger', LEDGER),
};
