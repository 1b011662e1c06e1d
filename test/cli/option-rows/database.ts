/** The options of `database`. */
import { expect } from 'chai';
import { join } from 'node:path';
import { DATABASE_PASSWORD } from '../../support/postgres-cluster.js';
import { type OptionRows } from './rows.js';
import { credits, loggedOf, placeToCopyTo, type Row, withAccounts } from './account-places.js';

export const databaseRows: OptionRows = {
  'database backup --json': withAccounts(async (place) => {
    const file = join(place.directory, 'one.db');
    expect(await place.json(['database', 'backup', file, '--json'])).to.include({ file });
    const other = join(place.directory, 'other.db');
    expect(await place.printed(['database', 'backup', other])).to.match(/^wrote .*other\.db.* \(\d+ bytes\)\n$/);
    const logged = [file, other].map((backup) => [null, backup, 'done']);
    expect(await loggedOf(place, 'database-backed-up')).to.deep.equal(logged);
  }),
  'database copy --from': withAccounts(async (place) => {
    const { from, address } = await placeToCopyTo(place);
    expect(await place.refusal(['database', 'copy', '--to', address])).to.contain('--from <file>');
    expect(await place.refusal(['database', 'copy', '--from', address, '--to', address])).to.contain(
      'allowed: the path of a file',
    );
    const nowhere = await place.run(['database', 'copy', '--from', `${from}.none`, '--to', address]);
    expect(nowhere).to.include({ status: 1 });
    expect(nowhere.stderr).to.contain('There is no database at');
  }),
  'database copy --to': withAccounts(async (place) => {
    const { from, address } = await placeToCopyTo(place);
    expect(await place.refusal(['database', 'copy', '--from', from, '--to', 'ledger.db'])).to.contain('--to');
    const copy = ['database', 'copy', '--from', from, '--to', address];
    expect(await place.printed(copy)).to.contain('copied 2 accounts');
    const moved = { VERBATIM_DATABASE: address };
    expect(await place.json<Row[]>(['accounts', 'list', '--json'], moved)).to.deep.equal(await credits(place));
    const again = await place.run(copy);
    expect(again.stderr).to.contain('not empty').and.not.to.contain(DATABASE_PASSWORD);
    const backup = await place.run(['database', 'backup', 'b.db'], moved);
    expect(backup).to.include({ status: 2 });
    expect(backup.stderr).to.contain('pg_dump');
    expect((await place.run(['database', 'restore', 'b.db'], moved)).stderr).to.contain('pg_restore');
  }),
  'database copy --json': withAccounts(async (place) => {
    const { from, address } = await placeToCopyTo(place);
    const copied = await place.json<Row>(['database', 'copy', '--from', from, '--to', address, '--json']);
    expect(copied['rows']).to.include({ accounts: 2, api_keys: 0 });
  }),
  'database restore --json': withAccounts(async (place) => {
    const file = join(place.directory, 'backup.db');
    await place.printed(['database', 'backup', file]);
    const database = join(place.directory, 'data', 'verbatim.db');
    expect(await place.json(['database', 'restore', file, '--json'])).to.include({ database });
    expect(await loggedOf(place, 'database-restored')).to.deep.equal([[null, file, 'done']]);
    expect(await place.printed(['database', 'restore', file])).to.match(/^restored .*verbatim\.db; what was there/);
  }),
};
