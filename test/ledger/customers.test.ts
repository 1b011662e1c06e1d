/** Accounts as their operator lists and finds them. */
import { expect } from 'chai';
import { exportOf } from '../../src/ledger/account-export.js';
import type { CustomerQuery } from '../../src/ledger/administration.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { searchTerms } from '../../src/ledger/search-terms.js';
import { BROWSER } from './full-account.js';
import { describeLedger } from './backends.js';
import { codeOf, useLedger, type Bench, type KeyHolder } from './support.js';

describe('ledger: the words that an account is found by', () => {
  it('are runs of letters and digits, without case and accents', () => {
    expect(searchTerms('Émile.Zola+x@Example.com', 'Ａｎｎ ÅSA')).to.deep.equal([
      ...['emile', 'zola', 'x', 'example', 'com', 'ann', 'asa'],
    ]);
    expect(searchTerms('a a', null)).to.deep.equal(['a']);
    expect(searchTerms(`' OR 1=1 --%_`)).to.deep.equal(['or', '1']);
  });

  it('are bounded in number and length', () => {
    const many = Array.from({ length: 99 }, (_, n) => `w${n}`).join(' ');
    expect(searchTerms(many)).to.have.length(50);
    expect(searchTerms('x'.repeat(100))[0]).to.have.length(64);
  });
});

describeLedger('ledger: customers', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(100, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  const page = (query: Partial<CustomerQuery> = {}) =>
    ledger.administration.customers({ search: null, limit: 9, after: null, ...query });
  const found = async (search: string): Promise<string[]> => (await page({ search })).map(({ email }) => email);

  it('have their balance, and the time when a key or a session was used last', async () => {
    expect((await page())[0]).to.include({ email: 'ann@example.com', balance: 100, seenAt: null });
    bench.now += 60_000;
    await ledger.access.useLink((await ledger.access.createLink(ann.account.id)).token, BROWSER);
    expect((await page())[0]!.seenAt).to.equal('2026-01-15T12:01:00.000Z');
    bench.now += 60_000;
    await ledger.keys.authenticate(ann.key.rawKey);
    await bench.runHousekeeping();
    expect((await page())[0]!.seenAt).to.equal('2026-01-15T12:02:00.000Z');
    await ledger.credits.grant({ accountId: ann.account.id, amount: 5, expiresAt: '2026-01-16' });
    expect((await page())[0]!.balance).to.equal(105);
    bench.now += 86_400_000;
    expect((await page())[0]!.balance, 'what has expired is not spendable').to.equal(100);
  });

  it('are found by words of the address and the name, by the address and by the id', async () => {
    for (const [email, name] of [
      ['zoe.smith@example.com', 'Zoë Müller'],
      ['li@beispiel.de', '王 Li'],
      ['annabel@example.com', null],
    ] as const) {
      bench.now += 1;
      await ledger.accounts.create({ email, name });
    }
    expect(await found('smith')).to.deep.equal(['zoe.smith@example.com']);
    expect(await found('MÜL')).to.deep.equal(['zoe.smith@example.com']);
    expect(await found('mull zoe exam')).to.deep.equal(['zoe.smith@example.com']);
    expect(await found('mull li')).to.deep.equal([]);
    expect(await found('王')).to.deep.equal(['li@beispiel.de']);
    expect(await found('ann')).to.deep.equal(['ann@example.com', 'annabel@example.com']);
    expect(await found(' ANN@ex')).to.deep.equal(['ann@example.com']);
    expect(await found(ann.account.id)).to.deep.equal(['ann@example.com']);
    expect(await found('@beispiel.de')).to.deep.equal(['li@beispiel.de']);
    for (const nothing of ['', '  ', '%', '_', `' OR 1=1 --`, '"*"', 'acc_nobody', 'nobody@example.com']) {
      expect(await found(nothing), nothing).to.deep.equal([]);
    }
    expect(await page({ search: 'example', limit: 2 })).to.have.length(2);
  });

  it('are granted credits with a note, which is exported, and erased with the account', async () => {
    const { id: accountId } = ann.account;
    const pack = await ledger.credits.grant({ accountId, amount: 3, note: ' Ann’s invoice 7 ', paymentId: 'pay_1' });
    expect(pack).to.include({ note: 'Ann’s invoice 7', paymentId: 'pay_1' });
    expect((await ledger.credits.packs(accountId, 9)).map(({ note }) => note)).to.deep.equal([null, 'Ann’s invoice 7']);
    for (const note of ['x'.repeat(201), 'a\nb', 'a\u202eb']) {
      expect(await codeOf(() => ledger.credits.grant({ accountId, amount: 1, note })), note).to.equal(
        'invalid_request',
      );
    }
    let exported = '';
    for await (const piece of exportOf(ledger, accountId, new Date(0))) exported += piece;
    expect(exported).to.contain('"note":"Ann’s invoice 7"');
    await ledger.administration.delete(accountId);
    expect(JSON.stringify(await bench.rows('SELECT * FROM credit_packs'))).not.to.contain('invoice');
  });

  it('that are deleted are not found, and their words are gone', async () => {
    await ledger.administration.delete(ann.account.id);
    for (const search of ['ann', 'ann@example.com', ann.account.id]) expect(await found(search)).to.deep.equal([]);
    expect(await page()).to.deep.equal([]);
    expect(await bench.rows('SELECT * FROM account_terms')).to.deep.equal([]);
  });

  it('are listed page by page, the oldest first', async () => {
    for (let n = 0; n < 5; n += 1) {
      bench.now += 1;
      await ledger.accounts.create({ email: `many${n}@example.com` });
    }
    const first = await page({ limit: 4 });
    expect(first.map(({ email }) => email.slice(0, 5))).to.deep.equal(['ann@e', 'many0', 'many1', 'many2']);
    const rest = await page({ limit: 4, after: first.at(-1)! });
    expect(rest.map(({ email }) => email.slice(0, 5))).to.deep.equal(['many3', 'many4']);
  });
});
