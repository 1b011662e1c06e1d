import { expect } from 'chai';
import { hashPassword, verifyPassword, type ScryptCost } from '../../src/ledger/access/password.js';
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../src/ledger/access/types.js';
import { MAX_SESSIONS } from '../../src/ledger/rows/sessions.js';
import { DAY_MS } from '../../src/ledger/time.js';
import type { Account } from '../../src/ledger/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Bench, codeOf } from './support.js';
import { describeLedger } from './backends.js';

const CHEAP: ScryptCost = { cost: 16, blockSize: 8, parallelization: 1 };
const BROWSER = { browser: 'Firefox', address: '192.0.2.7' };
const NOBODY = 'acc_nobody';

describeLedger('ledger: who may sign in, and who has', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: Account;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
    ann = await ledger.accounts.create({ email: 'ann@example.com' });
  });
  afterEach(() => bench.dispose());

  async function signedIn(account = ann): Promise<string> {
    const { token } = await ledger.access.createLink(account.id);
    return (await ledger.access.useLink(token, BROWSER))!.token;
  }

  const rows = async (table: string): Promise<number> =>
    (await bench.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n;

  it('gives roles, first that of a user', async () => {
    expect(ann.role).to.equal('user');
    expect(await ledger.access.setRole(ann.id, 'operator')).to.include({ id: ann.id, role: 'operator' });
    expect((await ledger.accounts.find(ann.email))?.role).to.equal('operator');
    const key = await ledger.keys.create({ accountId: ann.id, name: 'k', scopes: [] });
    expect((await ledger.keys.authenticate(key.rawKey))?.account.role).to.equal('operator');
    expect(await codeOf(() => ledger.access.setRole(NOBODY, 'user'))).to.equal('account_not_found');
  });

  describe('a link', () => {
    it('opens one session, once', async () => {
      const { token, expiresAt } = await ledger.access.createLink(ann.id);
      expect(expiresAt).to.equal('2026-01-16T12:00:00.000Z');
      expect(await ledger.access.linkOwner(token)).to.deep.equal(ann);
      const session = await ledger.access.useLink(token, BROWSER);
      expect(session).to.include({ ...BROWSER, method: 'link', createdAt: '2026-01-15T12:00:00.000Z' });
      expect(await ledger.access.linkOwner(token)).to.equal(null);
      expect(await ledger.access.useLink(token, BROWSER)).to.equal(null);
      const found = await ledger.access.findSession(session!.token);
      expect(found).to.deep.include({ account: ann, hasPassword: false });
      expect(found?.session.id).to.equal(session?.id);
    });

    it('works for a day, and until there is a newer one', async () => {
      const { token: replaced } = await ledger.access.createLink(ann.id);
      const { token } = await ledger.access.createLink(ann.id);
      expect(await ledger.access.useLink(replaced, BROWSER)).to.equal(null);
      bench.now += DAY_MS - 1;
      expect(await ledger.access.linkOwner(token)).not.to.equal(null);
      bench.now += 1;
      expect(await ledger.access.linkOwner(token)).to.equal(null);
      expect(await ledger.access.useLink(token, BROWSER)).to.equal(null);
      await bench.runHousekeeping();
      expect(await rows('sign_in_links')).to.equal(0);
    });

    it('is of an account that there is', async () => {
      expect(await codeOf(() => ledger.access.createLink(NOBODY))).to.equal('account_not_found');
    });
  });

  it('stores nothing that would open anything', async () => {
    const { token: link } = await ledger.access.createLink(ann.id);
    const session = await signedIn(await ledger.accounts.create({ email: 'bob@example.com' }));
    const tables = ['accounts', 'sign_in_links', 'sessions', 'passwords', 'settings'];
    const rows = await Promise.all(tables.map((table) => bench.rows<object>(`SELECT * FROM ${table}`)));
    const values = rows.flat().flatMap((row) => Object.values(row) as unknown[]);
    const stored = values.map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(String(value))));
    expect(stored).to.have.length.above(10);
    for (const token of [link, session]) {
      const bytes = Buffer.from(token, 'base64url');
      expect(stored.some((value) => value.includes(token) || value.includes(bytes))).to.equal(false);
    }
  });

  describe('a session', () => {
    it('ends when it is not used', async () => {
      const token = await signedIn();
      bench.now += SESSION_IDLE_MS - 1;
      expect(await ledger.access.findSession(token)).not.to.equal(null);
      bench.now += SESSION_IDLE_MS - 1;
      expect(await ledger.access.findSession(token), 'a use counts').not.to.equal(null);
      bench.now += SESSION_IDLE_MS;
      expect(await ledger.access.findSession(token)).to.equal(null);
      expect(await ledger.access.listSessions(ann.id)).to.deep.equal([]);
      await bench.runHousekeeping();
      expect(await rows('sessions')).to.equal(0);
    });

    it('ends at last, however much it is used', async () => {
      const token = await signedIn();
      const end = bench.now + SESSION_LIFE_MS;
      for (; bench.now < end; bench.now += SESSION_IDLE_MS / 2) {
        expect(await ledger.access.findSession(token)).not.to.equal(null);
      }
      expect(await ledger.access.findSession(token)).to.equal(null);
    });

    it('is listed and ended by its account alone', async () => {
      const bob = await ledger.accounts.create({ email: 'bob@example.com' });
      const [first, second, bobs] = [await signedIn(), await signedIn(), await signedIn(bob)];
      const [newest, oldest] = await ledger.access.listSessions(ann.id);
      expect(await ledger.access.endSession(bob.id, oldest!.id)).to.equal(false);
      expect(await ledger.access.endSession(ann.id, oldest!.id)).to.equal(true);
      expect(await ledger.access.endSession(ann.id, oldest!.id)).to.equal(false);
      expect(await ledger.access.findSession(first)).to.equal(null);
      expect((await ledger.access.findSession(second))?.session.id).to.equal(newest?.id);
      const third = await signedIn();
      expect(await ledger.access.endOtherSessions(ann.id, newest!.id)).to.equal(1);
      expect(await ledger.access.findSession(third)).to.equal(null);
      expect(await ledger.access.findSession(second)).not.to.equal(null);
      expect(await ledger.access.findSession(bobs)).not.to.equal(null);
    });

    it('makes room for a newer one when an account has many', async () => {
      const first = await signedIn();
      for (let n = 1; n < MAX_SESSIONS; n += 1) await signedIn();
      expect(await ledger.access.findSession(first)).not.to.equal(null);
      await signedIn();
      expect(await ledger.access.findSession(first)).to.equal(null);
      expect(await ledger.access.listSessions(ann.id)).to.have.length(MAX_SESSIONS);
    });

    it('keeps of a browser’s name what can be shown', async () => {
      const { token } = await ledger.access.createLink(ann.id);
      const browser = `\u001b[2J\u202e${'x'.repeat(1000)}`;
      const session = await ledger.access.useLink(token, { ...BROWSER, browser });
      expect(session?.browser).to.equal(`[2J${'x'.repeat(197)}`);
    });
  });

  describe('a password', () => {
    const PASSWORD = 'correct horse battery staple';

    it('is found by the address, and verified', async () => {
      expect(await ledger.access.findPassword(ann.email)).to.equal(null);
      const record = await hashPassword(PASSWORD, ann.email, CHEAP);
      await ledger.access.setPassword(ann.id, record, BROWSER);
      const found = await ledger.access.findPassword(' Ann@Example.com');
      expect(found).to.deep.equal({ account: ann, password: record });
      expect(await verifyPassword(PASSWORD, found!.password, CHEAP)).to.equal(true);
      expect(await verifyPassword(`${PASSWORD}.`, found!.password, CHEAP)).to.equal(false);
      expect(await verifyPassword(PASSWORD, null, CHEAP)).to.equal(false);
    });

    it('ends every session and the open link when it is set', async () => {
      const bob = await ledger.accounts.create({ email: 'bob@example.com' });
      const [before, bobs] = [await signedIn(), await signedIn(bob)];
      const { token: link } = await ledger.access.createLink(ann.id);
      const record = await hashPassword(PASSWORD, ann.email, CHEAP);
      const { token } = await ledger.access.setPassword(ann.id, record, BROWSER);
      expect(await ledger.access.findSession(before)).to.equal(null);
      expect(await ledger.access.linkOwner(link)).to.equal(null);
      expect(await ledger.access.findSession(token)).to.deep.include({ hasPassword: true });
      expect(await ledger.access.findSession(bobs)).not.to.equal(null);
    });

    it('begins no session when it was changed since it was verified', async () => {
      const old = await hashPassword(PASSWORD, ann.email, CHEAP);
      await ledger.access.setPassword(ann.id, old, BROWSER);
      const changed = await hashPassword('another horse and battery', ann.email, CHEAP);
      await ledger.access.setPassword(ann.id, changed, BROWSER);
      expect(await ledger.access.startSession(ann.id, old, BROWSER)).to.equal(null);
      const session = await ledger.access.startSession(ann.id, changed, BROWSER);
      expect(session).to.include({ method: 'password' });
    });

    it('is hashed again when the parameters have grown', async () => {
      const old = await hashPassword(PASSWORD, ann.email, CHEAP);
      await ledger.access.setPassword(ann.id, old, BROWSER);
      const grown = await hashPassword(PASSWORD, ann.email, { ...CHEAP, cost: 32 });
      expect(await ledger.access.startSession(ann.id, old, BROWSER, grown)).not.to.equal(null);
      expect((await ledger.access.findPassword(ann.email))?.password).to.deep.equal(grown);
    });

    it('has 12 to 256 characters, and is not the address', async () => {
      for (const [password, reason] of [
        ['x'.repeat(11), 'too short'],
        ['x'.repeat(257), 'too long'],
        ['Ann@Example.com', 'the address'],
      ] as const) {
        const hashing = (): Promise<unknown> => hashPassword(password, ann.email, CHEAP);
        expect(await codeOf(hashing), reason).to.equal('invalid_request');
      }
      const long = '\u{1f600}'.repeat(256);
      expect(await verifyPassword(long, await hashPassword(long, ann.email, CHEAP), CHEAP)).to.equal(true);
    });

    it('is the same in other code points for the same characters', async () => {
      const record = await hashPassword('Zo\u00eb wei\u00df das Wort', ann.email, CHEAP);
      expect(await verifyPassword('Zoe\u0308 wei\u00df das Wort', record, CHEAP)).to.equal(true);
    });
  });
});
