/**
 * A conversion lives no longer than whoever asked for it, however that ends; and the command line leaves nothing
 * behind.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/engine/clock.js';
import { ffmpegVersion } from '../../src/engine/media/version.js';
import type { SpeechEngine } from '../../src/engine/types.js';
import { Scenario } from '../engine/speech/scenario.js';
import { samplePath } from '../native/support.js';
import { conversionsOf, isAlive } from '../support/child-processes.js';
import { verbatim } from '../support/built.js';
import { ManualTimers } from '../support/manual-timers.js';
import { recordingOf, runFfmpeg } from '../support/recordings.js';
import { call, transcribe, type Answer } from '../support/requests.js';
import { Served } from '../support/served.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

describe('a conversion', () => {
  let directory: string;
  let recording: Buffer;
  /** Never ends, and never stops working. */
  let endless: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-conversions-'));
    recording = readFileSync(recordingOf(samplePath('en-wav16.wav'), join(directory, 'a.m4a'), ['-c:a', 'aac']));
    endless = join(directory, 'endless');
    writeFileSync(endless, '#!/bin/sh\nwhile :; do echo out_time_us=1000000; sleep 0.01; done\n', {
      mode: 0o755,
    });
  });
  after(() => rmSync(directory, { recursive: true }));

  describe('without end', () => {
    const timers = new ManualTimers();
    let server: TestServer<SpeechEngine>;
    let customer: Customer;

    beforeEach(async () => {
      const { engine } = await Scenario.start({ clock: systemClock, ffmpeg: endless });
      server = await TestServer.start({ engine, timers });
      customer = await server.customer(100);
    });
    afterEach(async () => {
      expect(conversionsOf().map(({ pid }) => pid)).to.deep.equal([]);
      expect(server.uploads()).to.deep.equal([]);
      expect(await server.balance(customer)).to.equal(100);
      expect(await server.ledger.audit()).to.deep.equal([]);
      await server.dispose();
    });

    const send = (signal?: AbortSignal): Promise<Answer> =>
      transcribe(server, {
        key: customer.key,
        parts: [['audio', recording]],
        ...(signal === undefined ? {} : { signal }),
      });
    const running = (): Promise<void> => until(() => conversionsOf().length === 1);

    it('ends when its client hangs up', async () => {
      const left = new AbortController();
      const gone = send(left.signal).catch(() => null);
      await running();
      left.abort();
      await gone;
      await until(() => conversionsOf().length === 0 && server.uploads().length === 0);
    });

    it('ends when its key is revoked', async () => {
      const request = send();
      await running();
      const init = { method: 'DELETE', headers: bearer(customer.managementKey) };
      await call(server, `/api/v1/keys/${customer.key.id}`, init);
      expect(await request).to.deep.include({ status: 401 });
    });

    it('ends when its request has taken too long', async () => {
      const request = send();
      await running();
      timers.pass(4 * 3_600_000);
      expect((await request).error?.code).to.equal('overloaded');
    });

    it('ends with the drain', async () => {
      const request = send();
      await running();
      const closed = server.close(100);
      timers.pass(100);
      expect((await request).error?.code).to.equal('shutting_down');
      await closed;
    });
  });

  it('dies with a server that is killed', async () => {
    const served = await Served.start({ VERBATIM_FFMPEG: endless }).listening();
    const key = await served.key();
    const request = transcribe(served, { key, parts: [['audio', recording]] }).catch(() => null);
    let conversion: number | undefined;
    await until(() => {
      conversion = conversionsOf(served.child.pid)[0]?.pid;
      return conversion !== undefined;
    });
    served.child.kill('SIGKILL');
    await once(served.child, 'close');
    await until(() => !isAlive(conversion!));
    await request;
    await served.stop();
  });

  it('goes as far as the credits do: ten minutes are not done for one', async () => {
    const long = join(directory, 'long.webm');
    runFfmpeg(['-f', 'lavfi', '-i', 'sine=duration=600', '-ar', '48000', '-c:a', 'libopus', '-b:a', '16k', long]);
    const { engine } = await Scenario.start({ clock: systemClock, ffmpeg: 'ffmpeg' });
    const server = await TestServer.start({ engine });
    const customer = await server.customer(1);
    const { status, error } = await transcribe(server, {
      key: customer.key,
      parts: [['audio', readFileSync(long)]],
    });
    expect({ status, code: error?.code }).to.deep.equal({ status: 402, code: 'insufficient_credits' });
    expect(conversionsOf().map(({ pid }) => pid)).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
    expect(await server.balance(customer)).to.equal(1);
    await server.dispose();
  });

  it('on the command line: the words, and nothing left where temporary files lie', () => {
    const temporary = join(directory, 'temporary');
    mkdirSync(temporary);
    const words = ['transcribe', join(directory, 'a.m4a'), join(directory, 'broken.m4a'), '--format', 'text'];
    writeFileSync(join(directory, 'broken.m4a'), recording.subarray(0, 2000));
    const env = { ...process.env, VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off', TMPDIR: temporary };
    const { status, stderr } = spawnSync(process.execPath, verbatim(...words, '--output-dir', directory), {
      encoding: 'utf8',
      env,
    });
    expect(status).to.equal(1);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).to.equal('Hello Emma, this is Laura.\n');
    expect(stderr).to.contain(
      `"${join(directory, 'broken.m4a')}" is damaged or holds no audio: the MP4, MOV or 3GP file is cut off`,
    );
    expect(readdirSync(temporary)).to.deep.equal([]);
  });

  it('is refused where it could not be confined', async () => {
    expect(await ffmpegVersion('ffmpeg')).to.match(/^\d/);
    expect(await ffmpegVersion('/nowhere/ffmpeg')).to.equal(null);
    expect(await ffmpegVersion('true')).to.equal(null);
  });
});
