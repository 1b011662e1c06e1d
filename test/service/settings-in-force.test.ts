import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { settingsInForce } from '../../src/service/settings-in-force.js';
import { VARIABLES } from '../../src/service/variables.js';

describe('The settings in force', () => {
  const shown = (env: Record<string, string>, tuned = {}) => {
    const config = readConfig(env, packageRoot);
    return new Map(
      settingsInForce({ env }, config, { ...config, ...tuned }).map((setting) => [setting.variable, setting]),
    );
  };

  it('are all variables, with what they have become and where that is from', () => {
    const settings = shown({ VERBATIM_PORT: '9001', VERBATIM_TRUST_PROXY: 'loopback,10.0.0.0/8' });
    expect([...settings.keys()]).to.deep.equal([...VARIABLES]);
    expect(settings.get('VERBATIM_PORT')).to.include({ value: '9001', from: 'environment' });
    expect(settings.get('VERBATIM_TRUST_PROXY')).to.include({ value: 'loopback, 10.0.0.0/8' });
    expect(settings.get('VERBATIM_MAX_IN_FLIGHT')).to.include({ value: '64', from: 'default' });
    expect(settings.get('VERBATIM_DASHBOARD')).to.include({ value: 'on', from: 'default' });
    expect(settings.get('VERBATIM_SLOTS')).to.include({ value: '', from: 'default' });
  });

  it('report what an option of the command line has set', () => {
    const env = { VERBATIM_PORT: '9001', VERBATIM_HOST: '::1' };
    const config = readConfig(env, packageRoot);
    const settings = settingsInForce({ env, options: ['VERBATIM_PORT'] }, config);
    const originOf = (name: string) => settings.find(({ variable }) => variable === name)?.from;
    expect([originOf('VERBATIM_PORT'), originOf('VERBATIM_HOST')]).to.deep.equal(['option', 'environment']);
  });

  it('report what was measured', () => {
    expect(shown({}, { slots: 3 }).get('VERBATIM_SLOTS')).to.include({ value: '3', from: 'measured' });
  });

  it('report no secret', () => {
    const env = { VERBATIM_SECRET: 'hush-hush-hush-hush', VERBATIM_METRICS_TOKEN: 'token-that-nobody-knows' };
    const settings = shown(env);
    for (const [name, value] of Object.entries(env)) {
      expect(settings.get(name)).to.include({ value: '(hidden)', from: 'environment' });
      expect(JSON.stringify([...settings])).not.to.contain(value);
    }
    expect(shown({}).get('VERBATIM_SECRET')).to.include({ value: '', from: 'default' });
    const config = readConfig({}, packageRoot);
    const database = 'postgres://ann:hush@db.example:5433/ledger?password=hush';
    const reported = settingsInForce({ env: {} }, { ...config, database }).find(
      ({ variable }) => variable === 'VERBATIM_DATABASE',
    );
    expect(reported?.value).to.equal('postgres://db.example:5433/ledger');
  });
});
