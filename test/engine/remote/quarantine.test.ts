import { expect } from 'chai';
import { VerbatimError } from '../../../src/errors.js';
import { Quarantine } from '../../../src/engine/remote/quarantine.js';

describe('Quarantine', () => {
  it('refuses a file for an hour, and no other', () => {
    let now = 0;
    const quarantine = new Quarantine(() => now);
    quarantine.convict({ sha256: 'a', accountId: 'one' });
    expect(() => quarantine.check({ sha256: 'b' })).not.to.throw();
    expect(() => quarantine.check({ sha256: null })).not.to.throw();
    expect(() => quarantine.check(undefined)).not.to.throw();
    now = 30 * 60_000;
    expect(() => quarantine.check({ sha256: 'a' }))
      .to.throw(VerbatimError, 'another 30 min')
      .with.property('code', 'invalid_audio');
    now = 60 * 60_000;
    expect(() => quarantine.check({ sha256: 'a' })).not.to.throw();
  });

  it('remembers ten thousand files, and removes the oldest', () => {
    const quarantine = new Quarantine(() => 0);
    for (let file = 0; file <= 10_000; file++) quarantine.convict({ sha256: String(file), accountId: 'one' });
    expect(() => quarantine.check({ sha256: '0' })).not.to.throw();
    expect(() => quarantine.check({ sha256: '1' })).to.throw();
    expect(() => quarantine.check({ sha256: '10000' })).to.throw();
  });

  it('isolates an account’s jobs after one conviction and all of its work after two, for an hour', () => {
    let now = 0;
    const quarantine = new Quarantine(() => now);
    const isolated = (accountId: string): boolean[] =>
      [true, false].map((background) => quarantine.isIsolated({ accountId, background }));
    expect(isolated('one')).to.deep.equal([false, false]);
    quarantine.convict({ sha256: null, accountId: 'one' });
    expect(isolated('one')).to.deep.equal([true, false]);
    now = 10 * 60_000;
    quarantine.convict({ sha256: 'a', accountId: 'one' });
    expect(isolated('one')).to.deep.equal([true, true]);
    expect(isolated('two')).to.deep.equal([false, false]);
    expect(quarantine.convictionsOf({ accountId: 'one' })).to.equal(2);
    now = 60 * 60_000;
    expect(isolated('one')).to.deep.equal([true, false]);
    // Another within the hour of the second: two again.
    quarantine.convict({ sha256: 'b', accountId: 'one' });
    expect(isolated('one')).to.deep.equal([true, true]);
    now = 120 * 60_000;
    expect(isolated('one')).to.deep.equal([false, false]);
  });

  it('remembers ten thousand accounts, and removes the one whose latest conviction is the oldest', () => {
    const quarantine = new Quarantine(() => 0);
    for (let account = 0; account < 10_000; account++) quarantine.convict({ sha256: null, accountId: String(account) });
    quarantine.convict({ sha256: null, accountId: '0' });
    quarantine.convict({ sha256: null, accountId: 'another' });
    const counts = ['0', '1', '2', 'another'].map((accountId) => quarantine.convictionsOf({ accountId }));
    expect(counts).to.deep.equal([2, 0, 1, 1]);
  });
});
