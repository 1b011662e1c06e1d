import { expect } from 'chai';
import { Responsiveness } from '../../../src/http/monitoring/responsiveness.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call } from '../../support/requests.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('Responsiveness', () => {
  const errors: unknown[] = [];
  const measured: number[] = [];
  let timers: ManualTimers;
  let probe: Responsiveness;

  beforeEach(() => {
    errors.length = measured.length = 0;
    timers = new ManualTimers();
    probe = new Responsiveness({
      timers,
      observe: (seconds) => measured.push(seconds),
      onError: (error) => errors.push(error),
    });
  });

  afterEach(() => probe.close());

  it('asks itself once a second', async () => {
    timers.pass(999);
    timers.pass(1);
    await until(() => measured.length === 1);
    // The next not before the connection of the last is closed.
    await until(() => {
      timers.pass(1000);
      return measured.length === 2;
    });
    expect(errors).to.deep.equal([]);
  });

  it('asks one question at a time, and counts in it all the time that the event loop was held up', async () => {
    timers.pass(5000);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    await until(() => measured.length > 0);
    expect(measured).to.have.length(1);
    expect(measured[0]).to.be.at.least(0.06);
  });

  it('asks no more once closed', async () => {
    probe.close();
    timers.pass(5000);
    const other = new Responsiveness({
      timers,
      observe: (seconds) => errors.push(seconds),
      onError: (error) => errors.push(error),
    });
    timers.pass(1000);
    await until(() => errors.length === 1);
    other.close();
    expect(measured).to.deep.equal([]);
  });

  it('is in the metrics of a server', async () => {
    const turned = new ManualTimers();
    const server = await TestServer.start({ timers: turned });
    try {
      const count = async (): Promise<string | undefined> =>
        /^verbatim_shell_answer_seconds_count (\d+)$/m.exec((await call(server, '/metrics')).text)?.[1];
      expect(await count()).to.equal('0');
      turned.pass(1000);
      while ((await count()) !== '1');
    } finally {
      await server.close();
    }
  });
});
