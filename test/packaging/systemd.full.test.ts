/** The shipped unit as systemd itself judges it; no systemd need run for that. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

const SHIPPED = join(packageRoot, 'packaging', 'systemd');
const UNIT = readFileSync(join(SHIPPED, 'verbatim.service'), 'utf8');

/** Of systemd's scale from 0, nothing can be done, to 10; what it says of most services is above 9. */
const MOST_EXPOSURE = 1.5;

describe('the systemd unit', () => {
  let directory: string;
  let file: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-unit-'));
    file = join(directory, 'verbatim.service');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function analyze(...words: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr, error } = spawnSync('systemd-analyze', [...words, file], {
      encoding: 'utf8',
    });
    if (error) throw new Error('systemd-analyze does not start; "./setup tests" installs it.', { cause: error });
    return { status, output: stdout + stderr };
  }

  /** The program that it starts is not installed where the tests run. */
  function verify(unit: string): { status: number | null; output: string } {
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    return analyze('verify', '--man=no');
  }

  function exposed(unit: string): boolean {
    writeFileSync(file, unit);
    const { status, output } = analyze('security', '--offline=yes', `--threshold=${MOST_EXPOSURE * 10}`);
    expect(output).to.include('Overall exposure level');
    return status !== 0;
  }

  it('has nothing that systemd does not know', () => {
    expect(verify(UNIT)).to.deep.equal({ status: 0, output: '' });
    expect(verify(UNIT.replace('ProtectSystem=', 'ProtectSistem=')).output).to.include('ProtectSistem');
  });

  it('has a drop-in for CUDA that systemd knows, too', () => {
    const dropIn = join(directory, 'verbatim.service.d');
    mkdirSync(dropIn);
    cpSync(join(SHIPPED, 'cuda.conf'), join(dropIn, 'cuda.conf'));
    expect(verify(UNIT)).to.deep.equal({ status: 0, output: '' });
    const [first = ''] = readFileSync(join(dropIn, 'cuda.conf'), 'utf8').match(/^DeviceAllow=.*/m) ?? [];
    writeFileSync(join(dropIn, 'cuda.conf'), `[Service]\n${first.replace('char-', '')}x\n`);
    expect(verify(UNIT).output).to.include('verbatim.service.d');
  });

  it(`is exposed to at most ${MOST_EXPOSURE} by systemd's reckoning`, () => {
    expect(exposed(UNIT)).to.equal(false);
    for (const directive of ['SystemCallFilter=@system-service', 'CapabilityBoundingSet=']) {
      expect(exposed(UNIT.replace(`${directive}\n`, '')), `without ${directive}`).to.equal(true);
    }
  });

  it('lets V8 and oneDNN write machine code, and the service lose a child without ending', () => {
    expect(UNIT).not.to.match(/^MemoryDenyWriteExecute/m);
    expect(UNIT).to.match(/^OOMPolicy=continue$/m);
    expect(UNIT).to.match(/^KillMode=mixed$/m);
  });
});
