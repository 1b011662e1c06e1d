/**
 * The Debian package, built by its one command and installed where nothing else is: a chroot that mmdebstrap makes of
 * the mirror. The line of its unit that starts the service, run as the unit's user, answers; removed, it leaves nothing
 * but data. As root.
 */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { sample } from '../support/speech.js';
import { CleanRoot, type Service } from './clean-root.js';

const UNIT = 'usr/lib/systemd/system/verbatim.service';
const SETTINGS = 'etc/verbatim/verbatim.env';
const CLIP = 'en-wav16.wav';

interface Transcript {
  text: string;
  language: string;
  credits_used: number;
  words: { speaker: string }[];
}

describe('the Debian package', function () {
  this.timeout(3 * 3600_000);
  let root: CleanRoot;
  let archive: string;

  function build(): string {
    const output = execFileSync(join(packageRoot, 'packaging', 'deb', 'build'), { encoding: 'utf8' });
    return join(packageRoot, output.trimEnd().split('\n').at(-1)!);
  }

  before(() => {
    archive = build();
    root = CleanRoot.make(execFileSync('sh', ['-c', '. /etc/os-release; echo $VERSION_CODENAME']).toString().trim());
    copyFileSync(archive, join(root.path, 'tmp', 'verbatim.deb'));
  });
  after(() => root.dispose());

  /** What the command prints. */
  function inside(...words: string[]): string {
    return root.run(words);
  }

  function directive(name: string): string {
    const found = new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(join(root.path, UNIT), 'utf8'))?.[1];
    if (found === undefined) throw new Error(`The unit has no ${name}.`);
    return found;
  }

  /** As systemd would: the unit's command, its user, nothing of this environment. */
  function start(): Promise<Service> {
    return root.start(directive('ExecStart').split(' '), {}, `${directive('User')}:${directive('Group')}`);
  }

  /** Everything in it that has its name, packages' own records aside. */
  function traces(): string[] {
    const left = inside('find', '/', '-xdev', '-iname', '*verbatim*', '-not', '-path', '/tmp/*');
    return left
      .split('\n')
      .filter((path) => path !== '' && !/^\/var\/(lib\/dpkg\/info|cache|log)\//.test(path))
      .sort();
  }

  it('installs with what it says that it depends on, and nothing else', () => {
    inside('apt-get', 'install', '-y', '--no-install-recommends', '/tmp/verbatim.deb');
    expect(inside('stat', '-c', '%U %G %a', '/var/lib/verbatim')).to.equal('verbatim verbatim 750\n');
    expect(inside('stat', '-c', '%U %G %a', `/${SETTINGS}`)).to.equal('root verbatim 640\n');
    expect(
      inside('find', '/usr/lib/verbatim', '-not', '-user', 'root', '-o', '-perm', '/o+w', '-not', '-type', 'l'),
    ).to.equal('');
  });

  it('answers, started as its unit starts it, and its command opens the same ledger', async () => {
    appendFileSync(join(root.path, SETTINGS), 'VERBATIM_PORT="0"\n');
    const { process: service, output } = await start();
    const [, url] = /^listening on (\S+)$/m.exec(output) ?? [];
    const [, key] = /API key +(\S+)/.exec(output) ?? [];
    const form = ['-F', `audio=@${sample(CLIP).path}`, '-F', 'diarize=true'];
    const words = ['-sS', '--fail-with-body', '-H', `Authorization: Bearer ${key}`, ...form];
    const answer = JSON.parse(
      execFileSync('curl', [...words, `${url}/api/v1/transcribe`], { encoding: 'utf8' }),
    ) as Transcript;
    expect(answer).to.include({ language: 'en', credits_used: 1 });
    expect(answer.text).to.match(/\w+ \w+/);
    expect(answer.words.map(({ speaker }) => speaker)).to.include('S1');

    const [account] = JSON.parse(inside('verbatim', 'accounts', 'list', '--json')) as { email: string }[];
    expect(account).to.include({ email: 'local@localhost' });
    service.kill('SIGTERM');
    expect(await once(service, 'exit')).to.deep.equal([0, null]);
    expect(inside('find', '/var/lib/verbatim', '-not', '-user', 'verbatim')).to.equal('');
  });

  it('brings its manual page and completion for three shells', () => {
    expect(inside('zcat', '/usr/share/man/man1/verbatim.1.gz')).to.contain('.SS "verbatim keys create');
    const scripts = ['bash-completion/completions/verbatim', 'zsh/vendor-completions/_verbatim'];
    for (const path of [...scripts, 'fish/vendor_completions.d/verbatim.fish']) {
      expect(inside('cat', `/usr/share/${path}`)).to.contain('made by: verbatim completion');
    }
  });

  it('says how it is called here', () => {
    const words = ['env', 'VERBATIM_MODEL=base', 'verbatim', 'serve'];
    expect(() => inside(...words)).to.throw('Run: verbatim models pull base');
  });

  it('computes on processors other than that which built it', () => {
    // What AVX-512 brought is named in the kernels that are chosen at run time, and nowhere else.
    const addon = join(packageRoot, 'build', 'verbatim', 'Release', 'verbatim.node');
    const script = `objdump -d -C --no-show-raw-insn ${addon} | awk '/^[0-9a-f]+ </ {name = $0} /%(zmm|[xy]mm(1[6-9]|2[0-9]|3[01])|k[0-7])/ {print name}' | sort -u`;
    const wide = execFileSync('bash', ['-o', 'pipefail', '-c', script], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    const functions = wide.split('\n').filter(Boolean);
    expect(functions).not.to.have.length(0);
    expect(functions.filter((name) => !name.includes('avx512'))).to.deep.equal([]);
  });

  it('leaves data and settings when it is removed, and nothing when it is purged', () => {
    expect(statSync(join(root.path, 'usr/bin/verbatim')).isFile()).to.equal(true);
    inside('apt-get', 'remove', '-y', 'verbatim');
    const left = traces();
    expect(left.filter((path) => !/^\/(var\/lib|etc)\/verbatim(\/|$)/.test(path))).to.deep.equal([]);
    expect(left).to.include.members(['/var/lib/verbatim/verbatim.db', `/${SETTINGS}`]);
    inside('apt-get', 'purge', '-y', 'verbatim');
    expect(traces()).to.deep.equal([]);
    expect(inside('getent', 'passwd')).not.to.include('verbatim');
  });
});
