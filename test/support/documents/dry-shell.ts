/**
 * What a block of shell would call, without calling it: bash reads the block, and each program in it is a function that
 * notes its words. A program that is not among these fails.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ShellCall {
  program: string;
  words: string[];
  /** Variables of the service that are set for it. */
  variables: Record<string, string>;
}

const PROGRAMS = ['npx', 'npm', 'curl', 'verbatim', 'node', 'cat', 'cp'];
/** What blocks read. */
const FILES = ['recording.mp3', 'talk.mp3', 'ada.key'];
const [RECORD, FIELD] = ['\u001e', '\u001f'];

const functions = PROGRAMS.map((program) => `function ${program} { note ${program} "$@"; }`).join('\n');
/** What `sudo` runs is noted as well; no directory is entered. */
const PRELUDE = `set -eu
exec 9>calls
PATH=/nonexistent
KEY=key ADA=key ADMIN=key MANAGEMENT_KEY=key ID=tr_1 ACCOUNT_ID=acc_1
note() {
  local name
  for name in $(compgen -v VERBATIM_); do printf '%s=%s\\037' "$name" "\${!name}" >&9; done
  printf '\\036' >&9
  printf '%s\\037' "$@" >&9
  printf '\\036' >&9
}
sudo() { "$@"; }
cd() { :; }
${functions}
`;

interface DryOptions {
  /** Whether it goes on after a program that is none of these. */
  skipsOthers?: boolean;
}

/** Throws an Error that says what bash says of a block that it cannot read. */
export function callsOf(code: string, { skipsOthers = false }: DryOptions = {}): ShellCall[] {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-block-'));
  const calls = join(directory, 'calls');
  try {
    for (const name of FILES) writeFileSync(join(directory, name), '');
    writeFileSync(join(directory, 'setup'), '#!/bin/sh\n', { mode: 0o755 });
    const { status, stderr } = spawnSync('bash', ['-c', `${PRELUDE}${skipsOthers ? 'set +eu' : ''}\n${code}\n`], {
      cwd: directory,
      encoding: 'utf8',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (status !== 0 && !skipsOthers) throw new Error(stderr.trim());
    return parsed(readFileSync(calls, 'utf8'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function parsed(text: string): ShellCall[] {
  const records = text
    .split(RECORD)
    .slice(0, -1)
    .map((record) => record.split(FIELD).slice(0, -1));
  const calls: ShellCall[] = [];
  for (let index = 0; index + 1 < records.length; index += 2) {
    const [set = [], [program = '', ...words] = []] = records.slice(index, index + 2);
    const variables = Object.fromEntries(
      set.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
    );
    calls.push({ program, words, variables });
  }
  return calls;
}
