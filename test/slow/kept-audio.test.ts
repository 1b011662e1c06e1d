/**
 * What a job keeps of half an hour of Opus, which ffmpeg makes far larger: `verbatim serve` as its own process (so `npm
 * run build` first; ATTACKED_MAIN names the main.js of another build).
 */
import { mkdtempSync, openAsBlob, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { FormData, request } from 'undici';
import type { VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { startChecked } from '../support/recorded-answers.js';
import { attackedMain } from './built-main.js';

const JOBS = 2;

describe('Jobs of half an hour of Opus', function () {
  this.timeout(1800_000);
  let server: VerbatimProcess;
  let directory: string;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-kept-'));
    server = await startChecked({ main: attackedMain });
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it('keep what was sent', async () => {
    const path = join(directory, 'talk.webm');
    const noise = ['-f', 'lavfi', '-i', 'anoisesrc=color=pink:sample_rate=16000:duration=1800:seed=7'];
    const made = spawnSync('ffmpeg', [...noise, '-ac', '1', '-c:a', 'libopus', '-b:a', '6k', '-f', 'webm', path]);
    expect(made.status, made.stderr.toString()).to.equal(0);
    const sent = statSync(path).size;
    for (let n = 0; n < JOBS; n++) {
      const body = new FormData();
      body.append('audio', await openAsBlob(path), 'talk.webm');
      const headers = { authorization: `Bearer ${server.keys[0]}` };
      const answer = await request(`${server.url}/api/v1/jobs`, { method: 'POST', headers, body, headersTimeout: 0 });
      await answer.body.dump();
      expect(answer.statusCode).to.equal(202);
    }
    const jobs = join(server.directory, 'jobs');
    const kept = readdirSync(jobs).filter((name) => !name.endsWith('.flac'));
    const bytes = kept.reduce((sum, name) => sum + statSync(join(jobs, name)).size, 0);
    report(`${JOBS} jobs of ${mebibytes(sent)} MiB each keep ${mebibytes(bytes)} MiB`);
    // The first may be done already.
    expect(kept.length).to.be.within(1, JOBS);
    expect(bytes).to.equal(kept.length * sent);
  });
});

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

/** Measurements go to the terminal beside the test's name. */
function report(line: string): void {
  process.stdout.write(`      ${line}\n`);
}
