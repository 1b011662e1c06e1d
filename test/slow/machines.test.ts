/**
 * The machines that docs/install.md names: each release of Debian where nothing else is, with each Node.js and the npm that
 * comes with it. What held is written to test/fixtures/machines.json, which its table is made of.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { recordMachine, type MachineStep } from '../support/machines.js';
import { CleanRoot, COMPILER_CACHE, type RootEnvironment, type Service } from './clean-root.js';

const RELEASES = ['bookworm', 'trixie'];
/** `isWhole`: with the whole of `npm test`. */
const NODES = [
  { node: '20.19.0', npm: '10', isWhole: true },
  { node: '22', npm: '10', isWhole: true },
  { node: '24', npm: '11', isWhole: true },
  { node: '26', npm: '12', isWhole: false },
];

/** What a version can break: the drivers, the addon, the process that `npm start` is. */
const SHORT = 'test/ledger/driver.test.ts test/ledger/database.test.ts test/native/contract.test.ts';
const MOCHA = 'node_modules/.bin/mocha --no-config --require tsx/cjs --extension ts --timeout 90000 --exit';
const PORT = { VERBATIM_PORT: '0', VERBATIM_DATA_DIR: '/tmp/data' };

/** The line that the first start prints, as it stands. */
function askByCurl(root: CleanRoot, { output }: Service): string {
  const line = /^\s*(curl .*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`No curl line:\n${output}`);
  return (JSON.parse(root.runInSource(line)) as { text: string }).text;
}

async function stop({ process: child }: Service): Promise<void> {
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).to.deep.equal([0, null]);
}

for (const release of RELEASES) {
  describe(`a clean ${release}`, function () {
    this.timeout(6 * 3600_000);
    let root: CleanRoot;
    before(() => {
      root = CleanRoot.make(release, COMPILER_CACHE);
      root.checkOut();
    });
    after(() => root.dispose());

    const held = (node: string, step: MachineStep): void => recordMachine({ release, node, step });

    for (const { node, npm, isWhole } of NODES) {
      describe(`with Node.js ${node}`, () => {
        let environment: RootEnvironment;
        before(() => (environment = { PATH: root.installNode(node, npm) }));

        it('is set up, without a word of npm about versions and settings', () => {
          const output = root.runInSource('rm -rf node_modules dist && ./setup 2>&1', environment);
          expect(output).to.match(/\nReady\. Start the service with: npm start\n$/);
          expect(output).not.to.match(/EBADENGINE|Unknown (project|env|user) config/);
          expect(output).not.to.contain('slower here than it could be');
          held(node, 'setup');
        });

        it('starts, and answers the line that it prints', async () => {
          root.run(['rm', '-rf', '/tmp/data']);
          const service = await root.start(['sh', '-c', 'cd /src && exec npm start'], { ...environment, ...PORT });
          expect(askByCurl(root, service)).to.match(/\w+ \w+/);
          await stop(service);
          held(node, 'start');
        });

        it('passes the tests that hang on Node.js', () => {
          root.runInSource(`${MOCHA} ${SHORT}`, environment);
          held(node, 'tests');
        });

        if (!isWhole) return;
        it('passes npm test', () => {
          root.runInSource('npm test', environment);
          held(node, 'npm test');
        });
      });
    }

    // In a suite of its own: mocha runs a suite's tests before the suites in it.
    describe('once it is set up', () => {
      it('makes a package, which serves where nothing else is', async () => {
        const { node } = NODES[2]!;
        root.run(['apt-get', 'install', '-y', '--no-install-recommends', 'debhelper', 'git']);
        root.runInSource('packaging/deb/build', { PATH: `/opt/node-${node}/bin` });
        const name = readdirSync(join(root.path, 'src', 'build')).find((file) => file.endsWith('_amd64.deb'));
        const bare = CleanRoot.make(release);
        try {
          copyFileSync(join(root.path, 'src', 'build', name!), join(bare.path, 'tmp', 'verbatim.deb'));
          bare.run(['apt-get', 'install', '-y', '--no-install-recommends', '/tmp/verbatim.deb', 'curl']);
          const service = await bare.start(['verbatim', 'serve'], { VERBATIM_PORT: '0' });
          execFileSync('mkdir', ['-p', join(bare.path, 'src')]);
          expect(askByCurl(bare, service)).to.match(/\w+ \w+/);
          await stop(service);
          held(node, 'package');
        } finally {
          bare.dispose();
        }
      });
    });
  });
}
