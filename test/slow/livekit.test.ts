/**
 * LiveKit's plugin for Deepgram, unmodified, against the server as it is installed. Its packages take 290 MB, so they
 * are no dependency: npm installs them into a directory of the test. `npm run test:slow -- --grep LiveKit` (`npm run
 * build` first).
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { spokenPcm } from '../support/live-audio.js';
import { builtMain } from './built-main.js';

const run = promisify(execFile);
const DEPENDENCIES = {
  '@livekit/agents': '1.9.0',
  '@livekit/agents-plugin-deepgram': '1.9.0',
  '@livekit/rtc-node': '0.13.35',
};
const TEXT = 'Hello Emma, this is Laura.';

interface Printed {
  whole: string;
  events: { type: string; text: string | null }[];
}

describe("LiveKit's plugin for Deepgram", function () {
  this.timeout(600_000);
  let directory: string;
  let server: VerbatimProcess;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-livekit-'));
    const manifest = { private: true, type: 'module', dependencies: DEPENDENCIES };
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: directory });
    copyFileSync(join(__dirname, 'livekit', 'speak.mjs'), join(directory, 'speak.mjs'));
    server = await startVerbatim({ main: builtMain, env: { VERBATIM_AUTO_MODEL: 'off' } });
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('gets the text of a recording, and of speech while it is spoken', async () => {
    const samples = join(directory, 'samples');
    writeFileSync(samples, spokenPcm());
    const words = ['speak.mjs', server.url, server.keys[0] ?? '', samples];
    const { stdout } = await run(process.execPath, words, { cwd: directory });
    const { whole, events } = JSON.parse(stdout) as Printed;
    expect(whole).to.equal(TEXT);
    const types = events.map(({ type }) => type).filter((type) => type !== 'INTERIM_TRANSCRIPT');
    expect(types.slice(0, 3)).to.deep.equal(['START_OF_SPEECH', 'FINAL_TRANSCRIPT', 'END_OF_SPEECH']);
    expect(events.find(({ type }) => type === 'FINAL_TRANSCRIPT')?.text).to.equal(TEXT);
  });
});
