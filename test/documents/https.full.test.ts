/** The configurations of docs/https.md in the programs that they are for, before a real server. */
import { expect } from 'chai';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { WebSocket } from 'ws';
import { freePort } from '../../bench/processes/free-port.js';
import { blocksOf } from '../support/documents/blocks.js';
import { TestServer, type Customer } from '../support/server.js';
import { selfSigned } from '../support/tls-front.js';
import { until } from '../support/until.js';

const NAME = 'speech.example.org';
const blocks = blocksOf('docs/https.md');
const blockIn = (language: string, file?: string): string => {
  const found = blocks.find((block) => block.language === language && (file === undefined || block.file === file));
  if (found === undefined) throw new Error(`docs/https.md has no block of ${language} for ${file ?? 'any file'}.`);
  return found.code;
};

const toLoopback: LookupFunction = (_name, { all }, found) =>
  all === true ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

/** The program and its words. `check`: of the program's own check of a configuration. */
interface Front {
  program: string;
  /** The configuration of the document with the ports and files of this test. Writes it; returns its path. */
  configure: (directory: string, port: number, behind: number) => string;
  check: (file: string) => string[];
  run: (file: string) => string[];
}

function written(directory: string, name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

/** `text` with each of these in another form; throws where the document no longer has one. */
function changed(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`The document no longer has "${from}".`);
    return result.replaceAll(from, to);
  }, text);
}

const FRONTS: readonly Front[] = [
  {
    program: 'caddy',
    configure: (directory, port, behind) => {
      const site = changed(blockIn('caddyfile'), {
        [`${NAME} {`]: `https://${NAME}:${port} {\n\ttls ${join(directory, 'cert')} ${join(directory, 'key')}`,
        '127.0.0.1:8080': `127.0.0.1:${behind}`,
      });
      const globals = `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${directory}\n}\n`;
      return written(directory, 'Caddyfile', globals + site + '\n');
    },
    check: (file) => ['validate', '--adapter', 'caddyfile', '--config', file],
    run: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    program: 'nginx',
    configure: (directory, port, behind) => {
      const server = changed(blockIn('nginx'), {
        'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
        '127.0.0.1:8080': `127.0.0.1:${behind}`,
        '/etc/ssl/verbatim.pem': join(directory, 'cert'),
        '/etc/ssl/verbatim.key': join(directory, 'key'),
      });
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temporary = paths.map((name) => `${name}_temp_path ${join(directory, name)};`).join('\n');
      const main = `daemon off;\nuser root;\npid ${join(directory, 'pid')};\nerror_log stderr;\nevents {}\n`;
      return written(directory, 'nginx.conf', `${main}http {\naccess_log off;\n${temporary}\n${server}\n}\n`);
    },
    check: (file) => ['-t', '-c', file],
    run: (file) => ['-c', file],
  },
  {
    program: 'haproxy',
    configure: (directory, port, behind) => {
      const { key, cert } = certificate;
      writeFileSync(join(directory, 'verbatim.pem'), Buffer.concat([cert, key]));
      const text = changed(blockIn('haproxy'), {
        'bind :443': `bind 127.0.0.1:${port}`,
        '127.0.0.1:8080': `127.0.0.1:${behind}`,
        '/etc/haproxy/verbatim.pem': join(directory, 'verbatim.pem'),
      });
      return written(directory, 'haproxy.cfg', `${text}\n`);
    },
    check: (file) => ['-c', '-f', file],
    run: (file) => ['-db', '-f', file],
  },
];

const certificate = selfSigned();

describe('The HTTPS of the documents', function () {
  this.timeout(60_000);
  let directory: string;
  let server: TestServer;
  let customer: Customer;
  let child: ChildProcess | undefined;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-https-'));
    writeFileSync(join(directory, 'key'), certificate.key);
    writeFileSync(join(directory, 'cert'), certificate.cert);
    mkdirSync(join(directory, 'home'));
    server = await TestServer.start({ settings: { trustProxy: ['loopback'] } });
    customer = await server.customer(10);
  });
  afterEach(async () => {
    child?.kill();
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    child = undefined;
    await server.dispose();
    rmSync(directory, { recursive: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    HOME: join(directory, 'home'),
    XDG_CONFIG_HOME: directory,
  });

  function checked(program: string, words: readonly string[]): string {
    const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8', env: environment() });
    if (error) throw new Error(`${program} does not start; "./setup tests" installs it.`, { cause: error });
    return status === 0 ? '' : stdout + stderr;
  }

  async function running(program: string, words: readonly string[], port: number): Promise<void> {
    const started = spawn(program, words, { stdio: 'ignore', env: environment() });
    child = started;
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`${program} ended with ${started.exitCode}.`);
      const socket = connect(port, '127.0.0.1');
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      return isOpen;
    });
  }

  for (const { program, configure, check, run } of FRONTS)
    it(`works in ${program}: a call of the API, the sign-in page and a live session`, async () => {
      const port = await freePort();
      const file = configure(directory, port, server.port);
      expect(checked(program, check(file))).to.equal('');
      writeFileSync(`${file}.broken`, 'no configuration {\n');
      expect(checked(program, check(`${file}.broken`))).to.not.equal('');
      await running(program, run(file), port);

      const url = `https://${NAME}:${port}`;
      const connectTo = { rejectUnauthorized: false, servername: NAME, lookup: toLoopback };
      const dispatcher = new Agent({ connect: connectTo });
      const me = await fetch(`${url}/api/v1/me`, {
        dispatcher,
        headers: { Authorization: `Bearer ${customer.key.rawKey}` },
      });
      expect(me.status).to.equal(200);
      expect((await fetch(`${url}/metrics`, { dispatcher })).status).to.equal(404);
      // The server knows by the headers that the browser came by https.
      const signIn = await fetch(`${url}/dashboard/sign-in`, { dispatcher });
      expect(await signIn.text()).to.contain('type="password"');

      const socket = new WebSocket(`wss://${NAME}:${port}/v1/listen?encoding=linear16&sample_rate=16000`, {
        headers: { Authorization: `Token ${customer.key.rawKey}` },
        ...connectTo,
      });
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'CloseStream' }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(message.toString())).to.include({ type: 'Metadata' });
      socket.terminate();
      await dispatcher.close();
    });

  it('has units that systemd knows, for a port of its own', async () => {
    const socketUnit = written(
      directory,
      'verbatim-port.socket',
      blockIn('ini', '/etc/systemd/system/verbatim-port.socket'),
    );
    const service = blockIn('ini', '/etc/systemd/system/verbatim-port.service');
    const serviceUnit = written(directory, 'verbatim-port.service', service);
    const verify = ['verify', '--man=no', socketUnit, serviceUnit];
    expect(checked('systemd-analyze', verify)).to.equal('');
    writeFileSync(serviceUnit, service.replace('ExecStart=/', 'ExecStart=/nowhere/'));
    expect(checked('systemd-analyze', verify)).to.contain('nowhere');

    const [, command = ''] = /^ExecStart=(\S+) /m.exec(service) ?? [];
    const port = await freePort();
    await running('systemd-socket-activate', ['-l', `127.0.0.1:${port}`, command, `127.0.0.1:${server.port}`], port);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(ready.status).to.equal(200);
    await ready.text();
  });
});
