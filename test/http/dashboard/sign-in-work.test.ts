/** Who may be found out by how long signing in takes: nobody, since the same work is done; counted, not timed. */
import crypto from 'node:crypto';
import { expect } from 'chai';
import { hashPassword } from '../../../src/ledger/access/password.js';
import { buildDashboard, CHEAP_PASSWORDS, HttpBrowser } from '../../support/dashboard.js';
import { TestServer } from '../../support/server.js';

/** What was derived since it was asked last: cost, block size, parallelization and length of each. */
type Derived = number[][];

describe('dashboard: the work of signing in', () => {
  let server: TestServer;
  const { scrypt } = crypto;
  let derived: Derived;

  before(buildDashboard);
  beforeEach(async () => {
    server = await TestServer.start({ settings: { passwordCost: CHEAP_PASSWORDS } });
    derived = [];
    crypto.scrypt = ((password, salt, length, options, done) => {
      derived.push([options.cost!, options.blockSize!, options.parallelization!, length]);
      scrypt(password, salt, length, options, done);
    }) as typeof crypto.scrypt;
  });
  afterEach(async () => {
    crypto.scrypt = scrypt;
    await server.dispose();
  });

  async function workFor(email: string, password: string): Promise<Derived> {
    derived = [];
    const fields = { email, password };
    const { status } = await new HttpBrowser(server).post('/dashboard/sign-in', fields);
    expect(status).to.equal(403);
    return derived;
  }

  it('is the same for addresses that have a password, have none, and are unknown', async () => {
    const [ann, bob] = [await server.customer(), await server.customer()];
    const password = await hashPassword('correct horse battery', ann.account.email, CHEAP_PASSWORDS);
    await server.ledger.access.setPassword(ann.account.id, password, { browser: '', address: '' });
    const { cost, blockSize, parallelization } = CHEAP_PASSWORDS;
    const once = [[cost, blockSize, parallelization, 32]];
    for (const guess of ['wrong horse battery', '', 'x'.repeat(1000)]) {
      for (const email of [ann.account.email, bob.account.email, 'nobody@example.com', 'no address']) {
        expect(await workFor(email, guess), `${email}, ${guess.length} characters`).to.deep.equal(once);
      }
    }
  });
});
