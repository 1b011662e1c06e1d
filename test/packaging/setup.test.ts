/** What `./setup` does and refuses, on machines made of programs that only note how they were called. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';

/** Of the real machine; everything else that setup calls is made up. */
const REAL = ['cat', 'dirname', 'env', 'grep', 'mkdir', 'readlink', 'sed', 'sh', 'sort', 'tr'];

/** A machine that has everything, of root. */
const COMPLETE: Readonly<Record<string, string>> = {
  id: 'echo 0',
  'dpkg-query': 'echo installed',
  'apt-get': 'note "$@"',
  node: 'case $1 in --version) echo v24.21.0 ;; *) echo ;; esac',
  npm: 'case $1 in --version) echo 11.2.0 ;; *) note "$@" ;; esac',
  'c++': 'exit 0',
  cmake: 'echo cmake version 3.25.1',
};

interface Outcome {
  status: number | null;
  output: string;
  /** A call a line, as the programs noted them. */
  calls: string[];
}

describe('setup', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-setup-'));
    copyFileSync(join(packageRoot, 'setup'), join(directory, 'setup'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** On a complete machine but for these programs: what is null is not there. */
  function setup(
    programs: Readonly<Record<string, string | null>> = {},
    words: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Outcome {
    const bin = join(directory, 'bin');
    const log = join(directory, 'calls');
    writeFileSync(log, '');
    rmSync(bin, { recursive: true, force: true });
    mkdirSync(bin);
    for (const name of REAL) symlinkSync(join('/usr/bin', name), join(bin, name));
    for (const [name, script] of Object.entries({ ...COMPLETE, ...programs })) {
      const note = `note() { echo "${name} $*" >>"${log}"; }`;
      // Not through a link to the real program.
      rmSync(join(bin, name), { force: true });
      // Never through a link, to a program of the real machine.
      const options = { mode: 0o755, flag: 'wx' };
      if (script !== null) writeFileSync(join(bin, name), `#!/bin/sh\n${note}\n${script}\n`, options);
    }
    const { status, stdout, stderr } = spawnSync('/bin/bash', [join(directory, 'setup'), ...words], {
      ...{ encoding: 'utf8', env: { PATH: bin, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    return { status, output: stdout + stderr, calls: readFileSync(log, 'utf8').split('\n').filter(Boolean) };
  }

  function refusal(...machine: Parameters<typeof setup>): string {
    const { status, output } = setup(...machine);
    expect(status).to.equal(1);
    return output;
  }

  it('builds where everything is there, and installs nothing', () => {
    const { status, output, calls } = setup();
    expect(output).to.equal('\nReady. Start the service with: npm start\n');
    expect(status).to.equal(0);
    expect(calls).to.deep.equal(['npm ci']);
  });

  it('installs what is missing, and only that', () => {
    const query = 'case $3 in libsoxr-dev | cmake) exit 1 ;; *) echo installed ;; esac';
    expect(setup({ 'dpkg-query': query }).calls).to.deep.equal([
      'apt-get update',
      'apt-get install -y --no-install-recommends cmake libsoxr-dev',
      'npm ci',
    ]);
  });

  it('refuses words that it does not know, and more than one', () => {
    expect(refusal({}, ['test'])).to.equal(
      'setup: unknown word "test"; allowed: packages, tests, slow-tests, vulkan-tests, or nothing\n',
    );
    expect(refusal({}, ['tests', 'packages'])).to.equal(
      'setup: takes one word at most, not "tests packages"; allowed: packages, tests, slow-tests, vulkan-tests, or nothing\n',
    );
  });

  it('installs what tests need by one word, what slow tests need as well by another, and builds nothing', () => {
    // What it would do as root is noted, not done.
    const sudo = 'case $1 in -n) ;; *) note "$@" ;; esac';
    const packagesOf = (word: string): string[] => {
      const { status, calls } = setup({ id: 'echo 1000', sudo, 'dpkg-query': 'exit 1' }, [word]);
      expect(status).to.equal(0);
      expect(calls).not.to.include('npm ci');
      return calls.flatMap((call) => /apt-get install -y --no-install-recommends (.*)$/.exec(call)?.[1] ?? []);
    };
    const forTests = 'chromium strace systemd prometheus haproxy nginx caddy postgresql zsh fish groff-base';
    expect(packagesOf('tests')).to.deep.equal([forTests]);
    expect(packagesOf('slow-tests')).to.deep.equal([
      forTests,
      'mmdebstrap debhelper buildah qemu-user-static g++-aarch64-linux-gnu',
    ]);
    expect(packagesOf('packages').join()).to.match(/^build-essential .* libprotobuf-dev .* ffmpeg$/);
  });

  it('leaves oneDNN out on ARM, where it would not be used', () => {
    for (const [architecture, isInstalled] of [
      ['amd64', true],
      ['arm64', false],
    ] as const) {
      const { calls } = setup({ dpkg: `echo ${architecture}`, 'dpkg-query': 'exit 1' }, ['packages']);
      expect(calls.join().includes('libdnnl-dev'), architecture).to.equal(isInstalled);
    }
  });

  it('refuses a 32-bit system, also on a 64-bit processor', () => {
    expect(refusal({ dpkg: 'echo armhf' })).to.match(
      /^setup: these packages are 32-bit ones \(armhf\), .* 64-bit Raspberry Pi OS\n$/s,
    );
  });

  it('is called by each test command with the word of its tests', () => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['test']).to.match(/^\.\/setup tests && /);
    expect(scripts['test:slow']).to.match(/^\.\/setup slow-tests && /);
  });

  describe('refuses, and says what is wanted,', () => {
    const absent = { 'dpkg-query': 'case $3 in cmake) exit 1 ;; *) echo installed ;; esac' };
    const command = 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends cmake';

    it('without root and without sudo: the command for root', () => {
      expect(refusal({ ...absent, id: 'echo 1000' })).to.equal(
        `setup: this user is not root, and there is no sudo. As root, run this, then setup again:\n  ${command}\n`,
      );
    });

    it('where sudo asks for a password, and nobody is there to give it', () => {
      expect(refusal({ ...absent, id: 'echo 1000', sudo: 'exit 1' })).to.equal(
        'setup: this user is not root, and sudo asks for a password, and there is no terminal to ask on. ' +
          `As root, run this, then setup again:\n  ${command}\n`,
      );
    });

    it('without Node.js', () => {
      expect(refusal({ node: null })).to.equal('setup: Node.js 20.19 or newer is needed: https://nodejs.org\n');
    });

    it('with a Node.js that is too old', () => {
      expect(refusal({ node: 'echo v20.9.0' })).to.equal(
        'setup: Node.js v20.9.0 is too old; 20.19 or newer is needed: https://nodejs.org\n',
      );
    });

    it('without npm', () => {
      expect(refusal({ npm: null })).to.equal('setup: npm, which comes with Node.js, is missing: https://nodejs.org\n');
    });

    it('on another system than Debian and Ubuntu: what is to be there', () => {
      const output = refusal({ 'dpkg-query': null, 'apt-get': null });
      expect(output).to.match(/^setup: there is no apt-get: only Debian and Ubuntu are prepared by this\./);
      expect(output).to.match(/then run npm ci: build-essential cmake .* libdnnl-dev clang-format ffmpeg\n$/);
    });

    it('without a compiler', () => {
      expect(refusal({ 'c++': null })).to.equal(
        'setup: there is no C++ compiler "c++": install build-essential, or name one in CXX\n',
      );
    });

    it('with a compiler of another age', () => {
      expect(refusal({ 'g++-9': 'exit 1' }, [], { CXX: 'g++-9' })).to.equal(
        'setup: the C++ compiler "g++-9" does not compile C++20; gcc 12 or newer does\n',
      );
    });

    it('with a cmake that is too old, which lies before that of the package', () => {
      expect(refusal({ cmake: 'echo cmake version 3.16.3' })).to.equal(
        `setup: ${join(directory, 'bin', 'cmake')} is cmake 3.16.3, which is too old; 3.22 or newer is needed\n`,
      );
    });

    it('where apt-get reaches nothing', () => {
      const failing = { ...absent, 'apt-get': 'exit 100' };
      expect(refusal(failing)).to.equal(
        'setup: apt-get could not install cmake; where the network is behind a proxy, set http_proxy and https_proxy ' +
          'and run this again\n',
      );
    });

    it('where apt-get reaches nothing through the proxy', () => {
      const failing = { ...absent, 'apt-get': 'exit 100' };
      expect(refusal(failing, [], { http_proxy: 'http://proxy:3128' })).to.equal(
        'setup: apt-get could not install cmake; the proxy http://proxy:3128 (from http_proxy or https_proxy) was ' +
          'used: does it answer?\n',
      );
    });

    it('where npm ci fails', () => {
      const npm = 'case $1 in --version) echo 11.2.0 ;; *) exit 1 ;; esac';
      expect(refusal({ npm }, [], { HTTPS_PROXY: 'http://proxy:3128' })).to.equal(
        'setup: npm ci failed, see above; if something could not be fetched:\n' +
          'the proxy http://proxy:3128 (from http_proxy or https_proxy) was used: does it answer?\n',
      );
    });
  });

  it('has sudo take the proxies along', () => {
    const { calls, status } = setup(
      {
        ...{ id: 'echo 1000', 'dpkg-query': 'case $3 in cmake) exit 1 ;; *) echo installed ;; esac' },
        sudo: 'case $1 in -n) exit 0 ;; esac; unset http_proxy; exec "$@"',
        'apt-get': 'note "$1 through $http_proxy"',
      },
      [],
      { http_proxy: 'http://proxy:3128' },
    );
    expect(status).to.equal(0);
    expect(calls).to.include('apt-get update through http://proxy:3128');
  });

  it('keeps the installing of onnxruntime-node from fetching anything', () => {
    const npm = 'case $1 in --version) echo 10.9.4 ;; *) note "$ONNXRUNTIME_NODE_INSTALL" ;; esac';
    expect(setup({ npm }).calls).to.deep.equal(['npm skip']);
  });

  for (const [npmVersion, variable] of [
    ['10.9.4', 'npm_config_nodedir'],
    ['11.2.0', 'npm_package_config_node_gyp_nodedir'],
  ] as const) {
    it(`compiles against the headers beside Node.js, by the name that npm ${npmVersion} takes`, () => {
      const headers = join(directory, 'include', 'node');
      mkdirSync(headers, { recursive: true });
      const npm = `case $1 in --version) echo ${npmVersion} ;; *) note "$${variable}" ;; esac`;
      writeFileSync(join(headers, 'node_version.h'), '#define NODE_MAJOR_VERSION 24\n');
      expect(setup({ npm }).calls).to.deep.equal([`npm ${directory}`]);
    });
  }

  it('leaves headers of another Node.js alone', () => {
    const headers = join(directory, 'include', 'node');
    mkdirSync(headers, { recursive: true });
    writeFileSync(join(headers, 'node_version.h'), '#define NODE_MAJOR_VERSION 20\n');
    const npm = 'case $1 in --version) echo 11.2.0 ;; *) note "$npm_package_config_node_gyp_nodedir" ;; esac';
    expect(setup({ npm }).calls).to.deep.equal(['npm ']);
  });

  it('says that transcription is slow here, and why', () => {
    const node = 'case $1 in --version) echo v24.21.0 ;; *) echo "oneDNN 4.0 is not supported" ;; esac';
    expect(setup({ node }).output).to.equal(
      '\nTranscription is slower here than it could be: oneDNN 4.0 is not supported.\n' +
        'Ready. Start the service with: npm start\n',
    );
  });
});
