import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { NOTICE_MS, startAgentCheck, type AgentCheck } from '../../../src/http/monitoring/agent-check.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { transcribe } from '../../support/requests.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

async function ask(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (chunk: string) => (received += chunk));
  await once(socket, 'close');
  return received;
}

describe('what a balancer sees', () => {
  let agent: AgentCheck;
  let timers: ManualTimers;
  let backlogSeconds: number;
  let room: number;

  beforeEach(async () => {
    timers = new ManualTimers();
    backlogSeconds = 0;
    room = 1;
    const backlog = (): { backlogSeconds: number; maxBacklogSeconds: number } => ({
      backlogSeconds,
      maxBacklogSeconds: 1000,
    });
    agent = await startAgentCheck({ host: '127.0.0.1', port: 0, backlog, liveRoom: () => room, timers });
  });
  afterEach(() => agent.close());

  for (const [seconds, line] of [
    [0, 'up ready 100%'],
    [250, 'up ready 75%'],
    [949, 'up ready 5%'],
    [950, 'drain'],
    [2000, 'drain'],
  ] as const) {
    it(`is "${line}" with ${seconds} s of 1000 s in the backlog`, async () => {
      backlogSeconds = seconds;
      expect(await ask(agent.port)).to.equal(`${line}\n`);
    });
  }

  it('changes with the room for live sessions where that is less', async () => {
    backlogSeconds = 250;
    room = 0.9;
    expect(await ask(agent.port)).to.equal('up ready 75%\n');
    room = 0.3;
    expect(await ask(agent.port)).to.equal('up ready 30%\n');
    room = 0;
    expect(await ask(agent.port)).to.equal('drain\n');
  });

  it('changes with the backlog, there and back', async () => {
    backlogSeconds = 1000;
    expect(await ask(agent.port)).to.equal('drain\n');
    backlogSeconds = 500;
    expect(await ask(agent.port)).to.equal('up ready 50%\n');
  });

  it('is "drain" from the moment that it leaves, and it has left when everybody could have asked', async () => {
    let left = false;
    const leaving = agent.leave().then(() => (left = true));
    expect(await ask(agent.port)).to.equal('drain\n');
    timers.pass(NOTICE_MS - 1);
    expect(await ask(agent.port)).to.equal('drain\n');
    expect(left).to.equal(false);
    timers.pass(1);
    await leaving;
    expect(await ask(agent.port)).to.equal('drain\n');
  });

  it('holds no connection of somebody who does not go', async () => {
    const socket = connect({ port: agent.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.resume();
    await once(socket, 'end');
    timers.pass(2000);
    await until(() => {
      if (!socket.destroyed) socket.write('still here');
      return socket.destroyed;
    });
  });
});

describe('a node that stops', () => {
  it('takes requests until the balancers have asked, and refuses them then', async () => {
    const timers = new ManualTimers();
    const engine = new FakeEngine();
    const server = await TestServer.start({ timers, engine, agentPort: 0 });
    try {
      const { key } = await server.customer();
      engine.holdAll();
      const running = transcribe(server, { key });
      await engine.untilRunning(1);
      void server.close(60_000);
      await timers.untilWaiting(NOTICE_MS);
      expect(await ask(server.agentPort!)).to.equal('drain\n');
      const late = transcribe(server, { key });
      await engine.untilRunning(2);
      timers.pass(NOTICE_MS);
      await timers.untilWaiting(60_000);
      const refused = await transcribe(server, { key });
      expect(refused.status).to.equal(503);
      expect(await ask(server.agentPort!)).to.equal('drain\n');
      engine.release();
      expect([(await running).status, (await late).status]).to.deep.equal([200, 200]);
    } finally {
      await server.dispose();
    }
  });
});
