import { expect } from 'chai';
import { VerbatimError } from '../../../src/errors.js';
import { Quarantine } from '../../../src/engine/remote/quarantine.js';

describe('Quarantine', () => {
  it('refuses a file for an hour, and no other', () => {
    let now = 0;
    const quarantine = new Quarantine(() => now);
    quarantine.add({ sha256: 'a' });
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

  it('remembers ten thousand files, and lets go of the one that came first', () => {
    const quarantine = new Quarantine(() => 0);
    for (let file = 0; file <= 10_000; file++) quarantine.add({ sha256: String(file) });
    expect(() => quarantine.check({ sha256: '0' })).not.to.throw();
    expect(() => quarantine.check({ sha256: '1' })).to.throw();
    expect(() => quarantine.check({ sha256: '10000' })).to.throw();
  });
});
