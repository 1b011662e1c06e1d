/** What a job keeps on the disk until it ends: the file or its conversion, and how many bytes of an account. */
import { expect } from 'chai';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobAudio, newJobId } from '../../../src/jobs/job-audio.js';
import { fakeAudio, fakeRecording } from '../../support/fake-engine.js';
import { endedJob, jobCall, postJob } from '../../support/jobs.js';
import type { Answer } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('The audio of jobs', () => {
  let server: TestServer;
  let ann: Customer;

  beforeEach(async () => {
    server = await TestServer.start({ settings: { maxOpenJobs: 3, maxFileBytes: 1000 } });
    ann = await server.customer(10);
    server.engine.holdAll();
  });
  afterEach(async () => {
    server.engine.release();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const post = (audio: Buffer, who = ann): Promise<Answer> => postJob(server, who.key, [['audio', audio]]);
  const created = async (audio: Buffer): Promise<string> => String((await post(audio)).body['id']);
  const kept = (id: string): Buffer => readFileSync(join(server.directory, 'jobs', id));
  /** Of so many bytes, which is read once it is converted. */
  const recording = (bytes: number): Buffer => {
    const line = fakeRecording(fakeAudio(90));
    return Buffer.concat([line, Buffer.alloc(bytes - line.length, ' ')]);
  };

  it('is the conversion where that is at most four times as large', async () => {
    server.engine.paddingBytes = 360;
    const id = await created(recording(100));
    await server.engine.untilRunning(1);
    expect(kept(id).toString()).to.match(/^audio 90 .*\n +$/);
    expect(server.jobFiles()).to.deep.equal([id]);
    server.engine.release();
    expect((await endedJob(server, ann.key, id))['status']).to.equal('succeeded');
    expect(server.engine.conversions).to.equal(1);
  });

  it('is the file where the conversion is larger, which is then made again, and removed behind the work', async () => {
    server.engine.paddingBytes = 380;
    const sent = recording(100);
    const id = await created(sent);
    expect(server.uploads()).to.deep.equal([]);
    await server.engine.untilRunning(1);
    expect(kept(id).equals(sent)).to.equal(true);
    expect(server.jobFiles().sort()).to.deep.equal([id, `${id}.flac`]);
    expect(server.engine.conversions).to.equal(2);
    server.engine.release();
    const done = await endedJob(server, ann.key, id);
    expect(done).to.include({ status: 'succeeded' });
    expect(done['result']).to.deep.include({ duration_sec: 90, credits_used: 2 });
    await until(() => server.jobFiles().length === 0);
  });

  it('fails a job, uncharged, that has another length when it is converted again', async () => {
    server.engine.paddingBytes = 10_000;
    for (let n = 0; n < 2; n++) await post(fakeAudio(3));
    await server.engine.untilRunning(2);
    const convert = server.engine.convert.bind(server.engine);
    server.engine.convert = async (file) => {
      if (file.path.includes('job_')) server.engine.convertedLine = 'audio 90.5 en Hello.';
      return convert(file);
    };
    const id = await created(recording(100));
    const failed = await endedJob(server, ann.key, id);
    expect(failed).to.include({ status: 'failed' });
    expect(failed['error']).to.deep.equal({
      code: 'invalid_audio',
      message:
        'The audio had 90.000 s when it was accepted, and has 90.500 s now that it was converted again. Send it again.',
      param: null,
    });
    expect(await server.balance(ann)).to.equal(8);
    await until(() => server.jobFiles().every((name) => !name.startsWith(id)));
  });

  it('is bounded by account, in the bytes that are kept', async () => {
    // Of 3 times 1000: two conversions of 1450.
    server.engine.paddingBytes = 1450 - fakeAudio(90).length;
    const [first] = [await created(recording(500)), await created(recording(500))];
    const refused = await post(recording(500));
    expect([refused.status, refused.error?.code]).to.deep.equal([429, 'rate_limited']);
    expect(refused.error?.message).to.equal(
      "The account's jobs would keep 4350 bytes of audio until they end; its limit is 3000.",
    );
    expect(server.jobFiles()).to.have.lengthOf(2);
    expect(await server.balance(ann)).to.equal(6);
    expect((await post(recording(500), await server.customer(10))).status).to.equal(202);
    expect((await post(fakeAudio(3))).status, 'a small one').to.equal(202);
    await jobCall(server, ann.key, `/${first}`, { method: 'DELETE' });
    expect((await post(recording(500))).status, 'once another has ended').to.equal(202);
  });

  it('goes with what a server that died left of a conversion', async () => {
    const audio = new JobAudio(join(server.directory, 'jobs'));
    const ids = [newJobId(), newJobId(), newJobId()] as const;
    const [ended, orphan, open] = ids;
    const paths = ids.flatMap((id) => [audio.path(id), `${audio.path(id)}.flac`]);
    await audio.sweep(() => Promise.resolve([]), 0);
    for (const path of paths) writeFileSync(path, 'audio');
    const later = Date.now() + 3_600_000;
    for (const path of paths.slice(4)) utimesSync(path, later / 1000, later / 1000);
    writeFileSync(`${audio.path(orphan)}.flac`, 'audio');
    await audio.sweep(
      () =>
        Promise.resolve([
          { id: ended, ended: true },
          { id: open, ended: false },
        ]),
      later,
    );
    expect(paths.map((path) => existsSync(path))).to.deep.equal([false, false, false, false, true, true]);
  });
});
