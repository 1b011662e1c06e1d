/** The shipped configuration in a real HAProxy, before two real nodes that share their ledger. */
import { expect } from 'chai';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOTICE_MS } from '../../src/http/monitoring/agent-check.js';
import { VerbatimError } from '../../src/errors.js';
import { packageRoot } from '../../src/package-root.js';
import { POSTGRESQL, serverAt, SQLITE, type Place } from '../ledger/backends.js';
import { FakeEngine } from '../support/fake-engine.js';
import { ManualTimers } from '../support/manual-timers.js';
import { NameServer } from '../support/name-server.js';
import { spokenPcm } from '../support/live-audio.js';
import { call, transcribe, type Answer } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';
import { until } from '../support/until.js';
import { freePort } from '../../bench/processes/free-port.js';

const SHIPPED = join(packageRoot, 'packaging', 'haproxy', 'haproxy.cfg');

/** What a node is there: its state, and its weight as a percentage. */
interface NodeState {
  status: string;
  weight: number;
  /** That it has in work. */
  requests: number;
}

interface BalancerOptions {
  names?: Partial<Record<'NODE1' | 'NODE2', string>>;
  /** The port of the one that they are asked of. */
  nameServer?: number;
  /** Changes the configuration. */
  edit?: (text: string) => string;
}

class Balancer {
  private constructor(
    readonly url: string,
    readonly port: number,
    private readonly directory: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(
    nodes: readonly TestServer[],
    { names, nameServer, edit = (text) => text }: BalancerOptions = {},
  ): Promise<Balancer> {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-haproxy-'));
    const port = await freePort();
    const text = edit(configuration(directory, port, nodes));
    const asking = `nameserver test 127.0.0.1:${nameServer ?? 53}`;
    writeFileSync(join(directory, 'haproxy.cfg'), text.replace('parse-resolv-conf', asking));
    const byDns = nameServer === undefined ? {} : { NODES_BY_DNS: '1' };
    const env = { ...process.env, NODE1: '127.0.0.1', NODE2: '127.0.0.1', ...byDns, ...names };
    const child = spawn('haproxy', ['-db', '-f', join(directory, 'haproxy.cfg')], { env, stdio: 'ignore' });
    child.once('error', () => undefined);
    const balancer = new Balancer(`http://127.0.0.1:${port}`, port, directory, child);
    await until(async () => {
      if (child.exitCode !== null || child.pid === undefined)
        throw new Error('HAProxy does not start; "./setup tests" installs it.');
      return (await balancer.states().catch(() => null))?.get('node1') !== undefined;
    });
    return balancer;
  }

  /** By name, as its statistics have them. */
  async states(): Promise<Map<string, NodeState>> {
    const socket = connect(join(this.directory, 'stats')).setEncoding('utf8');
    socket.end('show stat\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    const [head = '', ...lines] = text.split('\n');
    const column = (name: string): number => head.replace(/^# /, '').split(',').indexOf(name);
    const rows = lines.map((line) => line.split(',')).filter(([proxy]) => proxy === 'nodes');
    return new Map(
      rows.map((row) => [
        row[column('svname')]!,
        {
          status: row[column('status')]!,
          weight: Number(row[column('uweight')]),
          requests: Number(row[column('scur')]),
        },
      ]),
    );
  }

  async untilState(node: string, condition: (state: NodeState) => boolean): Promise<void> {
    await until(async () => condition((await this.states()).get(node)!), `${node}: ${condition.toString()}`);
  }

  async stop(): Promise<void> {
    this.child.kill();
    if (this.child.exitCode === null) await once(this.child, 'exit');
    rmSync(this.directory, { recursive: true });
  }
}

/** As shipped, but for ports. */
function configuration(directory: string, port: number, nodes: readonly TestServer[]): string {
  let text = readFileSync(SHIPPED, 'utf8').replace('bind :80', `bind 127.0.0.1:${port}`);
  nodes.forEach((node, index) => {
    const host = `"\${NODE${index + 1}-10.0.0.1${index + 1}}:`;
    text = text.replaceAll(`${host}8080"`, `${host}${node.port}" agent-port ${node.agentPort}`);
  });
  return text.replace('global\n', `global\n    stats socket ${join(directory, 'stats')}\n`);
}

for (const backend of [SQLITE, POSTGRESQL])
  describe(`HAProxy before nodes on ${backend.name}`, () => {
    let place: Place;
    let timers: ManualTimers[];
    let engines: [FakeEngine, FakeEngine];
    let nodes: [TestServer, TestServer];
    let balancer: Balancer;
    let customer: Customer;

    beforeEach(async () => {
      place = await backend.place();
      timers = [new ManualTimers(), new ManualTimers()];
      engines = [new FakeEngine(), new FakeEngine()];
      const node = async (index: 0 | 1): Promise<TestServer> =>
        TestServer.start({
          ledger: await serverAt(place.address, { secret: 'a secret for the tests' }),
          ...{ timers: timers[index]!, engine: engines[index], agentPort: 0 },
        });
      nodes = [await node(0), await node(1)];
      customer = await nodes[0].customer(10_000);
      balancer = await Balancer.start(nodes);
    });

    afterEach(async () => {
      await balancer.stop();
      for (const node of nodes) await node.dispose();
      await place.remove();
    });

    const post = (): Promise<Answer> => transcribe(balancer, { key: customer.key });

    it('gives a node less as its backlog grows', async () => {
      engines[0].backlogSeconds = engines[0].maxBacklogSeconds * 0.75;
      await balancer.untilState('node1', ({ weight }) => weight === 25);
      await balancer.untilState('node2', ({ weight, status }) => weight === 100 && status === 'UP');
      engines[0].backlogSeconds = 0;
      await balancer.untilState('node1', ({ weight }) => weight === 100);
    });

    it('loses no request when a node leaves', async () => {
      await balancer.untilState('node2', ({ status }) => status === 'UP');
      const statuses: number[] = [];
      let stopping = false;
      const client = async (): Promise<void> => {
        while (!stopping) statuses.push((await post()).status);
      };
      const clients = Array.from({ length: 4 }, client);
      await until(() => engines.every(({ transcribed }) => transcribed >= 5));
      const left = nodes[0].close(60_000);
      // What was sent there before has had its answer, for which three seconds are enough where time is not made to
      // pass.
      await balancer.untilState('node1', ({ status, requests }) => status.startsWith('DRAIN') && requests === 0);
      timers[0]!.pass(NOTICE_MS);
      await left;
      const before = engines.map(({ transcribed }) => transcribed);
      await until(() => engines[1].transcribed >= before[1]! + 20);
      stopping = true;
      await Promise.all(clients);
      expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
      expect(engines[0].transcribed).to.equal(before[0]);
    });

    it('keeps a live session in place while its node leaves, and sends the next one to the other', async () => {
      for (const name of ['node1', 'node2']) await balancer.untilState(name, ({ status }) => status === 'UP');
      const path = '/v1/listen?encoding=linear16&sample_rate=16000&vad_events=true&endpointing=false';
      const listen = (): Promise<SocketClient> =>
        SocketClient.connect(balancer.url + path, [], { headers: bearer(customer.key) });
      const sessions = async (node: TestServer): Promise<number> => {
        const { text } = await call(node, '/metrics');
        return Number(/^verbatim_live_sessions (\d+)$/m.exec(text)?.[1]);
      };
      const client = await listen();
      client.socket.send(spokenPcm());
      await client.next('SpeechStarted');
      const index = (await sessions(nodes[0])) === 1 ? 0 : 1;
      const [node, other] = [nodes[index], nodes[1 - index]!];
      const left = node.close(60_000);
      await balancer.untilState(`node${index + 1}`, ({ status }) => status.startsWith('DRAIN'));
      const next = await listen();
      expect(await sessions(other)).to.equal(1);
      timers[index]!.pass(NOTICE_MS);
      await until(async () => (await call(node, '/readyz')).status === 503);
      expect([client.closed, client.of('Results')]).to.deep.equal([null, []]);
      client.socket.send(spokenPcm());
      client.send({ type: 'Finalize' });
      const result = await client.next('Results');
      expect(result).to.include({ is_final: true, from_finalize: true });
      // What was sent before and after the node began to leave, up to the second of silence at its end.
      const sent = (2 * spokenPcm().length) / 32_000;
      expect(result['duration']).to.be.within(sent - 1.2, sent);
      expect((await client.untilClosed()).code).to.equal(1001);
      await left;
      expect(next.closed).to.equal(null);
      next.close();
    });

    it('passes on how a node refuses when all are full, and says itself when to come again when none is left', async () => {
      for (const engine of engines) engine.backlogSeconds = engine.maxBacklogSeconds;
      for (const name of ['node1', 'node2']) {
        await balancer.untilState(name, ({ status }) => status.startsWith('DRAIN'));
      }
      for (const engine of engines) {
        engine.failWith = new VerbatimError('overloaded', 'The backlog is full.', {
          retryAfterSeconds: 4321,
        });
      }
      const refused = await post();
      expect(refused.status).to.equal(503);
      expect(refused.headers.get('retry-after')).to.equal('4321');
      expect(refused.error).to.include({ code: 'overloaded', message: 'The backlog is full.' });

      for (const node of nodes) {
        const closed = node.close(0);
        timers[nodes.indexOf(node)]!.pass(NOTICE_MS);
        await closed;
      }
      const nobody = await post();
      expect(nobody.status).to.equal(503);
      expect(nobody.headers.get('retry-after')).to.equal('5');
      const id = nobody.headers.get('x-request-id');
      expect(id).to.match(/^req_[0-9a-f-]+$/);
      expect(nobody.error).to.include({ code: 'overloaded', param: null, request_id: id });
    });

    it('shows nobody the metrics of a node', async () => {
      await balancer.untilState('node1', ({ status }) => status === 'UP');
      expect((await call(balancer, '/healthz')).status).to.equal(200);
      expect((await call(balancer, '/metrics')).status).to.equal(404);
    });
  });

describe('HAProxy', () => {
  it('takes the shipped configuration without a warning', () => {
    const { status, stdout, stderr } = spawnSync('haproxy', ['-c', '-f', SHIPPED], { encoding: 'utf8' });
    // HAProxy 3 says nothing of a valid file.
    expect(stdout + stderr).to.match(/^(Configuration file is valid\n)?$/);
    expect(status).to.equal(0);
  });

  it('leaves a silent WebSocket open for longer than requests may take', async () => {
    const node = await TestServer.start({ agentPort: 0 });
    const edit = (text: string): string =>
      text.replace('timeout client 60s', 'timeout client 500ms').replace('timeout server 4h', 'timeout server 500ms');
    const balancer = await Balancer.start([node, node], { edit });
    try {
      await balancer.untilState('node1', ({ status }) => status === 'UP');
      const { key } = await node.customer();
      const path = '/v1/realtime?intent=transcription';
      const client = await SocketClient.connect(balancer.url + path, [], { headers: bearer(key) });
      await client.next('session.created');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      client.send({ type: 'input_audio_buffer.clear' });
      await client.next('input_audio_buffer.cleared');
      client.close();
    } finally {
      await balancer.stop();
      await node.dispose();
    }
  });

  it('takes a name that nobody knows yet where DNS is to be asked for it later, and nowhere else', () => {
    const take = (more: Record<string, string>): number | null => {
      const env = { ...process.env, NODE1: 'node1.invalid', ...more };
      return spawnSync('haproxy', ['-c', '-f', SHIPPED], { env }).status;
    };
    expect(take({})).to.equal(1);
    expect(take({ NODES_BY_DNS: '1' })).to.equal(0);
  });

  it('sends requests to a node that is given by its name, which is known later than the balancer', async () => {
    const nameServer = await NameServer.start();
    const node = await TestServer.start({ agentPort: 0 });
    const names = { NODE1: 'node1.nodes.test', NODE2: 'node2.nodes.test' };
    const balancer = await Balancer.start([node, node], { names, nameServer: nameServer.port });
    try {
      await balancer.untilState('node1', ({ status }) => status === 'MAINT (resolution)');
      expect((await call(balancer, '/healthz')).status).to.equal(503);
      nameServer.names.add(names.NODE1);
      await balancer.untilState('node1', ({ status, weight }) => status === 'UP' && weight === 100);
      expect((await balancer.states()).get('node2')?.status).to.equal('MAINT (resolution)');
      expect((await call(balancer, '/healthz')).status).to.equal(200);
    } finally {
      await balancer.stop();
      await node.dispose();
      await nameServer.close();
    }
  });
});
