/** `verbatim bench` in a process of its own, as a user starts it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Report } from '../../bench/reports/report.js';
import { verbatim } from '../support/built.js';

const root = join(__dirname, '..', '..');

export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** `device` as VERBATIM_DEVICE takes it. */
export async function benchOn(device: string, ...words: string[]): Promise<Ended> {
  const child = spawn(process.execPath, verbatim('bench', ...words), {
    env: { ...process.env, VERBATIM_DEVICE: device },
    cwd: root,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  return { status, stdout, stderr };
}

export function bench(...words: string[]): Promise<Ended> {
  return benchOn('cpu', ...words);
}

/** Of a command that succeeds. */
export async function report(...words: string[]): Promise<Report> {
  const { status, stdout, stderr } = await bench(...words, '--json');
  expect(status, stderr).to.equal(0);
  return JSON.parse(stdout) as Report;
}
