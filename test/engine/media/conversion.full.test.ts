/** A conversion by itself: what ends it, and its priority, with programs in the place of ffmpeg and counted time. */
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/engine/clock.js';
import { containerOf } from '../../../src/engine/media/containers.js';
import { Conversion } from '../../../src/engine/media/conversion.js';
import { DEMOTED, niceOfNewSession, niceOfSession, type Priority, USUAL } from '../../../src/engine/media/priority.js';
import { conversionsOf } from '../../support/child-processes.js';
import { until } from '../../support/until.js';

const PROGRAMS = {
  silent: 'sleep infinity & wait',
  'of hours': 'n=0; while :; do n=$((n + 10000000)); echo out_time_us=$n; sleep 0.01; done',
  wordy: 'exec yes "[amrnb] Corrupt bitstream" >&2',
} as const;

/** Linux's SCHED_OTHER and SCHED_IDLE. */
const POLICIES = { usual: '0', idle: '5' } as const;
const MOST_STEPS = 200;

describe('A conversion', () => {
  let directory: string;
  let conversion: Conversion;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-conversion-'))));
  after(() => rmSync(directory, { recursive: true }));
  afterEach(async () => {
    void conversion.close();
    await conversion.gone;
  });

  async function start(name: keyof typeof PROGRAMS, { msAStep = 0, isDemoted = false }): Promise<void> {
    const [program, from, to] = ['program', 'from', 'to'].map((file) => join(directory, file)) as [
      string,
      string,
      string,
    ];
    writeFileSync(program, `#!/bin/sh\n${PROGRAMS[name]}\n`, { mode: 0o755 });
    const container = await containerOf(from, '#!AMR\n');
    if (container === null) throw new Error('It is not taken for a recording.');
    let usedMs = 0;
    const job = { from, to, container, maxSeconds: 3600, isDemoted };
    conversion = new Conversion(program, job, systemClock, () => (usedMs += msAStep));
  }

  async function steps(most: number): Promise<{ count: number; error: unknown }> {
    for (let count = 1; count <= most; count++) {
      const error = await conversion.measure().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (error !== null) return { count, error };
    }
    return { count: most, error: null };
  }

  const TOO_COSTLY = {
    code: 'invalid_audio',
    message: 'decoding the AMR file takes too much processor time for the audio that comes of it',
  };

  it('ends when it has had 10 s of a processor and no audio has come of it', async () => {
    await start('silent', { msAStep: 1000 });
    const { count, error } = await steps(MOST_STEPS);
    expect(error).to.include(TOO_COSTLY);
    expect(count).to.equal(11);
    void conversion.close();
    await conversion.gone;
    expect(conversionsOf()).to.deep.equal([]);
  });

  it('goes on beyond 10 s while audio comes of it', async () => {
    await start('of hours', { msAStep: 1000 });
    expect(await steps(15)).to.deep.equal({ count: 15, error: null });
    expect(conversion.isCostly).to.equal(false);
  });

  it('ends when it only complains', async () => {
    await start('wordy', {});
    expect((await steps(MOST_STEPS)).error).to.include(TOO_COSTLY);
  });

  it('has the priority of what computes, and the lowest once it is costly', async () => {
    await start('silent', { msAStep: 40 });
    const { pid } = await started();
    await until(() => conversion.measure().then(() => scheduling(pid).session === sessionOf(USUAL, pid)));
    expect(scheduling(pid)).to.deep.equal({
      nice: getPriority() + 10,
      session: sessionOf(USUAL, pid),
      policy: POLICIES.usual,
    });
    expect(conversion.isCostly).to.equal(false);
    await until(() => conversion.measure().then(() => conversion.isCostly));
    await until(() => conversion.measure().then(() => scheduling(pid).session === sessionOf(DEMOTED, pid)));
    expect(scheduling(pid)).to.deep.equal({ nice: 19, session: sessionOf(DEMOTED, pid), policy: POLICIES.usual });
  });

  it('gets only what others leave where its account is demoted', async () => {
    await start('silent', { isDemoted: true });
    const { pid } = await started();
    await until(() => conversion.measure().then(() => scheduling(pid).policy === POLICIES.idle));
    await until(() => conversion.measure().then(() => scheduling(pid).session === sessionOf(DEMOTED, pid)));
    expect(scheduling(pid).nice).to.equal(19);
  });

  /** null: this kernel has none. */
  function sessionOf(priority: Priority, pid: number): number | null {
    const own = { threads: getPriority(), session: niceOfSession() };
    return niceOfSession(pid) === null ? null : niceOfNewSession(priority, own);
  }

  async function started(): Promise<{ pid: number }> {
    let found: { pid: number } | undefined;
    await until(() => (found = conversionsOf()[0]) !== undefined);
    return found!;
  }

  function scheduling(pid: number): { nice: number; session: number | null; policy: string | undefined } {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const policy = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38];
    return { nice: getPriority(pid), session: niceOfSession(pid), policy };
  }
});

describe('The session of a conversion', () => {
  it('is placed beside that of its parent, and beside single threads where its parent has none', () => {
    const cases = [
      { own: { threads: 0, session: 0 }, usual: 5 },
      { own: { threads: 0, session: 3 }, usual: 8 },
      { own: { threads: 12, session: 16 }, usual: 19 },
      { own: { threads: 0, session: null }, usual: 10 },
      { own: { threads: 4, session: null }, usual: 14 },
    ];
    for (const { own, usual } of cases) {
      expect(niceOfNewSession(USUAL, own)).to.equal(usual);
      expect(niceOfNewSession(DEMOTED, own)).to.equal(19);
    }
  });
});
