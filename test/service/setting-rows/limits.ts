/** What a request may be, what it costs, and what becomes of jobs. */
import { expect } from 'chai';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../../src/ledger/sqlite/driver.js';
import { samplePath } from '../../native/support.js';
import { endedJob, jobCall, postJob } from '../../support/jobs.js';
import { type Answer } from '../../support/requests.js';
import { Served, workplace } from '../../support/served.js';
import { until } from '../../support/until.js';
import { answerTo, besideAnUpload, connectionsAnswered, settingRefusal } from './effects.js';
import { CONTAINER, lastLiveMessage, liveSessionsOpened } from './live.js';
import { FEW_CONNECTIONS } from './servers.js';
import type { SettingRows } from './servers.js';

export const limitRows = {
  VERBATIM_MAX_BACKLOG_SECONDS: async ({ plain, proxied }) => {
    const burst = (served: Served): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 6 }, () => answerTo(served, 'en-vorbis.ogg')));
    expect((await burst(plain)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
    await until(async () => (await burst(proxied)).some(({ error }) => error?.code === 'overloaded'));
  },
  VERBATIM_MAX_AUDIO_SECONDS: async ({ plain, set }) => {
    expect((await answerTo(plain, 'en-vorbis.ogg')).status).to.equal(200);
    const refused = await answerTo(set, 'en-vorbis.ogg');
    expect(refused.status).to.equal(413);
    expect(refused.error?.message).to.contain('8 s');
  },
  VERBATIM_MAX_IN_FLIGHT: async ({ plain, set }) => {
    await besideAnUpload(plain, 200);
    await besideAnUpload(set, 429);
  },
  VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: async ({ plain, set }) => {
    const count = 2 * FEW_CONNECTIONS;
    expect(await connectionsAnswered(plain, count, 200)).to.equal(count);
    expect(await connectionsAnswered(set, count, 429)).to.be.at.least(count - FEW_CONNECTIONS);
  },
  VERBATIM_MAX_LIVE_SESSIONS: async ({ plain, set }) => {
    // Sessions of other rows may still be ending.
    const opened = async (served: Served): Promise<string> => String(await liveSessionsOpened(served, 2));
    await until(async () => (await opened(plain)) === '101,101');
    await until(async () => (await opened(set)) === '101,429');
  },
  VERBATIM_MAX_LIVE_SECONDS: async ({ plain, set }) => {
    expect(await lastLiveMessage(plain, 3)).to.include({ type: 'Metadata', duration: 3 });
    await until(async () => (await lastLiveMessage(set, 3))['variant'] === 'audio_too_long');
  },
  VERBATIM_MAX_LIVE_DECODERS: async ({ plain, set }) => {
    const opened = async (served: Served): Promise<string> => String(await liveSessionsOpened(served, 1, CONTAINER));
    await until(async () => (await opened(plain)) === '101');
    await until(async () => (await opened(set)) === '503');
  },
  VERBATIM_MAX_OPEN_JOBS: async ({ plain, batched }) => {
    const refused = async (served: Served): Promise<boolean> => {
      const key = await served.key();
      const audio = readFileSync(samplePath('en-wav16.wav'));
      const answers = await Promise.all(Array.from({ length: 4 }, () => postJob(served, key, [['audio', audio]])));
      return answers.some(({ error }) => error?.message.includes('its limit is 1.'));
    };
    expect(await refused(plain)).to.equal(false);
    await until(() => refused(batched));
  },
  VERBATIM_LIBRARY_MAX_BYTES: async ({ plain, batched }) => {
    const warned = async (served: Served): Promise<string> => {
      const { status, text } = await answerTo(served, 'en-vorbis.ogg', [['keep', 'true']]);
      expect(status).to.equal(200);
      return text;
    };
    expect(await warned(plain)).not.to.contain('not_kept');
    expect(await warned(batched)).to.contain('not_kept');
  },
  VERBATIM_JOB_RETENTION_HOURS: async () => {
    const directory = workplace();
    const first = await Served.start({}, directory).listening();
    const key = await first.key();
    const { body } = await postJob(first, key, [['audio', readFileSync(samplePath('en-wav16.wav'))]]);
    const id = String(body['id']);
    await endedJob(first, key, id);
    const find = async (hours: string, work: (served: Served) => Promise<void>): Promise<void> => {
      const served = await Served.start({ VERBATIM_JOB_RETENTION_HOURS: hours }, directory).listening();
      await work(served);
      served.child.kill('SIGKILL');
      await served.ended();
    };
    first.child.kill('SIGKILL');
    await first.ended();
    const database = new Database(join(directory, 'data', 'verbatim.db'));
    database.exec('UPDATE jobs SET finished_at = finished_at - 2 * 3600000');
    database.close();
    await find('3', async (served) => {
      expect((await jobCall(served, key, `/${id}`)).status).to.equal(200);
    });
    await find('1', (served) => until(async () => (await jobCall(served, key, `/${id}`)).status === 404));
    rmSync(directory, { recursive: true });
  },
  VERBATIM_WEBHOOK_ALLOW: async ({ plain, batched }) => {
    const posted = async (served: Served): Promise<Answer> =>
      postJob(served, await served.key(), [
        ['audio', readFileSync(samplePath('en-wav16.wav'))],
        ['webhook_url', 'http://127.0.0.1:9/'],
      ]);
    expect((await posted(plain)).error).to.include({ param: 'webhook_url' });
    await until(async () => (await posted(batched)).status === 202);
    expect(await settingRefusal({ VERBATIM_WEBHOOK_ALLOW: 'http://n8n' })).to.contain(
      'VERBATIM_WEBHOOK_ALLOW is "http://n8n"; allowed: IP addresses, networks such as 10.0.0.0/8 and host names',
    );
  },
  VERBATIM_CREDITS_PER_MINUTE: async ({ plain, set }) => {
    expect((await answerTo(plain, 'en-wav16.wav')).body).to.include({ credits_used: 1 });
    expect((await answerTo(set, 'en-wav16.wav')).body).to.include({ credits_used: 7 });
  },
  VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: async ({ plain, set }) => {
    const translated = [['translate_to', 'de']] as const;
    expect((await answerTo(plain, 'en-wav16.wav', translated)).body).to.include({ credits_used: 1 });
    expect((await answerTo(set, 'en-wav16.wav', translated)).body).to.include({ credits_used: 15 });
  },
  VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: async ({ plain, set }) => {
    const diarize = [['diarize', '1']] as const;
    expect((await answerTo(plain, 'en-wav16.wav', diarize)).body).to.include({ credits_used: 1 });
    expect((await answerTo(set, 'en-wav16.wav', diarize)).body).to.include({ credits_used: 16 });
  },
} satisfies SettingRows;
