/**
 * Every system call that the server and its children make, as strace sees them, is one that the unit lets them make.
 */
import { expect } from 'chai';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, openAsBlob, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { recordingOf } from '../support/recordings.js';
import { sample } from '../support/speech.js';
import { until } from '../support/until.js';
import { builtMain } from './built-main.js';

const UNIT = readFileSync(join(packageRoot, 'packaging', 'systemd', 'verbatim.service'), 'utf8');
const NOBODY = 65534;
const CLIP = sample('en-wav16.wav').path;

/** Of a group of systemd's, the groups in it included. */
function callsOf(group: string): string[] {
  const text = execFileSync('systemd-analyze', ['syscall-filter', group], { encoding: 'utf8' });
  const names = text.match(/^ {4}[@\w-]+$/gm) ?? [];
  return names.map((name) => name.trim()).flatMap((name) => (name.startsWith('@') ? callsOf(name) : [name]));
}

/** As systemd reads the lines: the first makes the list, those with ~ take from it. */
function allowedCalls(): Set<string> {
  const lists = [...UNIT.matchAll(/^SystemCallFilter=(~?)(\S+)$/gm)];
  const allowed = new Set<string>();
  for (const [, not, group = ''] of lists) {
    const calls = group.startsWith('@') ? callsOf(group) : [group];
    for (const call of calls) {
      if (not === '~') allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

/** Root is asked for more: SQLite, for one, gives its files away. */
function asNobody(directory: string): string[] {
  if (process.getuid?.() !== 0) return [];
  chownSync(directory, NOBODY, NOBODY);
  return ['-u', 'nobody'];
}

describe('the system calls of the service', function () {
  this.timeout(600_000);
  let directory: string;
  let server: ChildProcess;
  let printed = '';

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-calls-'));
    const trace = [...asNobody(directory), '-f', '-qq', '-o', join(directory, 'trace'), '-e', 'signal=none'];
    server = spawn('strace', [...trace, process.execPath, builtMain, 'serve'], {
      env: {
        PATH: process.env['PATH'],
        VERBATIM_PORT: '0',
        VERBATIM_AUTO_MODEL: 'off',
        VERBATIM_AGENT_PORT: '0',
        VERBATIM_DATA_DIR: directory,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    server.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until(() => printed.includes('API key') || server.exitCode !== null);
  });
  after(() => rmSync(directory, { recursive: true }));

  async function post(path: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const body = new FormData();
    body.append('audio', await openAsBlob(path), basename(path));
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const url = /^listening on (\S+)$/m.exec(printed)?.[1] ?? '';
    const headers = { authorization: `Bearer ${/API key +(\S+)/.exec(printed)?.[1]}` };
    return (await fetch(`${url}/api/v1/transcribe`, { method: 'POST', headers, body })).status;
  }

  it('are in the filter of the unit', async () => {
    const webm = recordingOf(CLIP, join(directory, 'clip.webm'), ['-c:a', 'libopus']);
    expect(await post(CLIP, { diarize: 'true', translate_to: 'de' })).to.equal(200);
    expect(await post(webm, {})).to.equal(200);
    process.kill(-server.pid!, 'SIGTERM');
    await once(server, 'exit');
    const lines = readFileSync(join(directory, 'trace'), 'utf8').split('\n');
    const made = new Set(lines.map((line) => /^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)/.exec(line)?.[1] ?? ''));
    made.delete('');
    expect([...made]).to.include.members(['execve', 'accept4', 'setpriority', 'prlimit64', 'kill']);
    const allowed = allowedCalls();
    expect([...made].filter((call) => !allowed.has(call))).to.deep.equal([]);
  });
});
