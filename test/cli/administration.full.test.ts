import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verbatim as command } from '../support/built.js';

describe('administration on the command line', () => {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-cli-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const verbatim = (...words: string[]) => {
    const env = {
      ...process.env,
      VERBATIM_DATABASE: join(directory, 'verbatim.db'),
      VERBATIM_MODELS_DIR: directory,
    };
    const { status, stdout, stderr } = spawnSync(process.execPath, command(...words), {
      encoding: 'utf8',
      env,
    });
    return { status, stdout, stderr };
  };
  const parsed = (words: readonly string[]): unknown => {
    const { status, stdout, stderr } = verbatim(...words, '--json');
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout);
  };
  /** Of a command that lists. */
  const json = (...words: string[]) => parsed(words) as Record<string, unknown>[];
  /** Of a command that makes one thing. */
  const one = (...words: string[]) => parsed(words) as Record<string, unknown>;

  it('makes an account, grants credits, makes and revokes a key, and the ledger balances', () => {
    expect(verbatim('accounts', 'create', '--email', 'ada@example.org', '--name', 'Ada').status).to.equal(0);
    const again = verbatim('accounts', 'create', '--email', 'Ada@example.org');
    expect(again).to.include({ status: 1, stdout: '' });
    expect(again.stderr).to.contain('There is already an account');
    const until = '2999-12-31';
    const pack = one('credits', 'grant', '--account', 'ada@example.org', '--amount', '25', '--expires', until);
    expect(pack).to.include({ balance: 25, expires_at: '3000-01-01T00:00:00.000Z' });
    expect(json('accounts', 'list')[0]).to.include({ email: 'ada@example.org', name: 'Ada', credits: 25 });

    const key = verbatim('keys', 'create', '--account', 'ada@example.org', '--name', 'laptop').stdout.trim();
    expect(key).to.match(/^vb_[A-Za-z0-9_-]{43}$/);
    const [listed] = json('keys', 'list', '--account', 'ada@example.org');
    expect(listed).to.include({ name: 'laptop', prefix: key.slice(0, 11), revoked_at: null });
    expect(JSON.stringify(listed)).not.to.contain(key);

    expect(listed?.['scopes']).to.deep.equal([]);
    const revoked = one('keys', 'revoke', String(listed?.['id']), '--account', 'ada@example.org');
    expect(revoked['revoked_at']).to.be.a('string');
    expect(json('keys', 'list', '--account', 'ada@example.org')[0]?.['revoked_at']).to.be.a('string');
    expect(json('accounts', 'audit')).to.deep.equal([]);
    expect(verbatim('accounts', 'audit').stdout).to.contain('the ledger balances');
  });

  it('exits with 2 for wrong usage and 1 for a failure, and says why', () => {
    expect(verbatim('nonsense')).to.include({ status: 2 });
    const amount = verbatim('credits', 'grant', '--account', 'x@example.org', '--amount', '1.5');
    expect(amount.status).to.equal(2);
    expect(amount.stderr).to.contain('an integer');
    const past = verbatim('credits', 'grant', '--account', 'x@example.org', '--amount', '1', '--expires', '2001-02-30');
    expect(past.status).to.equal(2);
    expect(past.stderr).to.contain('allowed: YYYY-MM-DD');
    const email = verbatim('accounts', 'create', '--email', 'nobody');
    expect(email.status).to.equal(2);
    expect(email.stderr).to.contain('"nobody" is not an email address');
    const nobody = verbatim('credits', 'grant', '--account', 'x@example.org', '--amount', '1');
    expect(nobody).to.include({ status: 1 });
    expect(nobody.stderr).to.contain('no account with the e-mail address "x@example.org"');
    expect(verbatim('models', 'pull', 'nonsense').stderr).to.contain('There is no model "nonsense"');
    expect(verbatim('--help').status).to.equal(0);
  });

  it('exits with 1 when the ledger does not balance, and says where', () => {
    verbatim('accounts', 'create', '--email', 'ada@example.org');
    verbatim('credits', 'grant', '--account', 'ada@example.org', '--amount', '25');
    const database = new Database(join(directory, 'verbatim.db'));
    database.pragma('ignore_check_constraints = ON');
    database.exec('UPDATE credit_packs SET remaining = 26');
    database.close();
    const audit = verbatim('accounts', 'audit');
    expect(audit.status).to.equal(1);
    expect(audit.stdout).to.contain('purchased = remaining + spent + held + expired');
    expect(audit.stdout).to.contain('25 purchased, 26 remaining');
  });

  it('prints names of old databases so that they move no cursor', () => {
    verbatim('accounts', 'create', '--email', 'ada@example.org', '--name', 'Ada');
    const database = new Database(join(directory, 'verbatim.db'));
    database.prepare('UPDATE accounts SET name = ?').run('Ada\u001b[2J\u009b\u202e');
    database.close();
    for (const words of [
      ['accounts', 'list'],
      ['accounts', 'list', '--json'],
    ]) {
      const { stdout } = verbatim(...words);
      expect(stdout).to.contain('Ada\\u001b[2J\\u009b\\u202e');
      expect(stdout).to.match(/^[\x20-\x7e\n]*$/);
    }
    expect(json('accounts', 'list')[0]).to.include({ name: 'Ada\u001b[2J\u009b\u202e' });
    const refused = verbatim('credits', 'grant', '--account', 'x\u001b[2J@y', '--amount', '1');
    expect(refused.stderr).to.contain('x\\u001b[2J@y');
  }).timeout(60_000);

  it('lists the models and verifies the bundled one', () => {
    const models = json('models', 'list', '--all');
    expect(models.map((model) => model['name'])).to.include.members(['tiny', 'large-v3-turbo-q8_0']);
    expect(models.filter((model) => model['installed'] === 'yes')).not.to.have.length(0);
    const verified = json('models', 'verify');
    expect(verified).not.to.have.length(0);
    expect(verified.map((row) => row['result'])).to.satisfy((results: string[]) => results.every((r) => r === 'ok'));
  });
});
