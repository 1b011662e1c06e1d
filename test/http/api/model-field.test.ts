/** The field `model` of /transcribe and /jobs, over real HTTP on engines that are loaded when they are asked for. */
import { expect } from 'chai';
import { browserOf, rowsOf } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, jobCall, postJob } from '../../support/jobs.js';
import { transcribe, type Answer, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { noMemory, SeveralModels } from '../../support/several-models.js';
import { until } from '../../support/until.js';

const AUDIO: Part = ['audio', fakeAudio(90)];

describe('the field model', () => {
  let models: SeveralModels;
  let server: TestServer;
  let ann: Customer;

  beforeEach(async () => {
    models = new SeveralModels('base', 'small.en', 'large-v3');
    models.engine('small.en').info.languages = ['en'];
    server = await TestServer.start(models.options);
    ann = await server.customer(10);
  });
  afterEach('nothing is held or left behind', async () => {
    models.release();
    await until(() => models.held === 0 && server.uploads().length === 0);
    expect(server.engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const send = (...parts: Part[]): Promise<Answer> => transcribe(server, { key: ann.key, parts: [AUDIO, ...parts] });
  const once = (key: string, ...parts: Part[]): Promise<Answer> =>
    transcribe(server, { key: ann.key, parts: [AUDIO, ...parts], headers: { 'idempotency-key': key } });
  const transcribed = (): number[] => ['base', 'small.en', 'large-v3'].map((name) => models.engine(name).transcribed);
  const logged = (status: number): Record<string, unknown> | undefined =>
    server.logs.find((line) => line['status'] === status);

  describe('of /transcribe', () => {
    it('has the file transcribed by that model, which is loaded once; the default where it is absent or empty', async () => {
      for (const [asked, made] of [
        ['large-v3', 'large-v3'],
        [' large-v3 ', 'large-v3'],
        ['base', 'base'],
        ['', 'base'],
      ] as const) {
        const { status, headers, text } = await send(['model', asked]);
        expect(status, text).to.equal(200);
        expect(headers.get('x-model'), asked).to.equal(made);
      }
      expect((await send()).headers.get('x-model')).to.equal('base');
      expect(transcribed()).to.deep.equal([3, 0, 2]);
      expect(models.loads.map(({ model, accountId }) => [model, accountId])).to.deep.equal([
        ['large-v3', ann.account.id],
      ]);
    });

    it('is named in answers of every format, in their repeats and in the log', async () => {
      for (const format of ['json', 'text', 'srt', 'vtt']) {
        const parts: Part[] = [
          ['model', 'large-v3'],
          ['format', format],
        ];
        const answers = [await once(format, ...parts), await once(format, ...parts)];
        expect(answers.map(({ headers }) => headers.get('x-model'))).to.deep.equal(['large-v3', 'large-v3']);
        expect(answers[1]!.headers.get('idempotency-replayed')).to.equal('true');
      }
      const lines = server.logs.filter((line) => line['status'] === 200);
      expect(lines.map((line) => [line['model'], line['replayed']])).to.deep.equal(
        Array.from({ length: 8 }, (_, n) => ['large-v3', n % 2 === 1 ? true : undefined]),
      );
      expect(transcribed()).to.deep.equal([0, 0, 4]);
    });

    it('is percent-encoded in the header where a list of models that was edited by hand has odd names', async () => {
      await server.dispose();
      models = new SeveralModels('base', 'größe 模型');
      server = await TestServer.start(models.options);
      ann = await server.customer(10);
      const { status, headers } = await send(['model', 'größe 模型']);
      expect([status, headers.get('x-model')]).to.deep.equal([200, encodeURI('größe 模型')]);
    });

    it('is in the history of the account, on its page, too', async () => {
      await send(['model', 'large-v3']);
      await send();
      const charged = await server.ledger.history.charged(ann.account.id, { limit: 9, before: null });
      expect(charged.map(({ model }) => model)).to.deep.equal(['base', 'large-v3']);
      const rows = rowsOf((await (await browserOf(server, ann.account)).get('/dashboard/history')).text);
      expect(rows.map((cells) => cells[4]?.split(' ')[0])).to.deep.equal(['base', 'large-v3']);
    });

    it('refuses a model that is not installed, before anything is looked at', async () => {
      server.engine.measure = () => expect.fail('measured');
      for (const name of ['tiny', 'bundled', 'BASE', 'whisper-1', '../base']) {
        const { status, error } = await send(['model', name]);
        expect(status).to.equal(422);
        expect(error).to.include({ code: 'unsupported_model', param: 'model' });
        expect(error!.message).to.equal(`There is no speech model "${name}"; installed: base, small.en, large-v3.`);
      }
      expect(await server.balance(ann)).to.equal(10);
      expect(models.loads).to.deep.equal([]);
      expect(logged(422)).not.to.have.property('model');
    });

    it('is held against what that model can do, not the default', async () => {
      const { status, error } = await send(['model', 'small.en'], ['language', 'de']);
      expect(status).to.equal(422);
      expect(error).to.include({ code: 'unsupported_language' });
      expect(error!.message).to.contain('small.en');
      expect((await send(['language', 'de'])).status).to.equal(200);
      models.engine('base').info.isDemonstration = true;
      expect((await send()).body).to.have.nested.property('warnings[0].code', 'demonstration_model');
      expect((await send(['model', 'large-v3'])).body).not.to.have.property('warnings');
    });

    it('makes another request of it: an Idempotency-Key is refused to another model', async () => {
      await once('k', ['model', 'large-v3']);
      for (const parts of [[], [['model', 'base']]] as Part[][]) {
        const { status, error } = await once('k', ...parts);
        expect([status, error?.code]).to.deep.equal([409, 'idempotency_conflict']);
      }
      expect(transcribed()).to.deep.equal([0, 0, 1]);
    });

    it('is not needed for a repeat: a stored answer is sent though the model is removed', async () => {
      const first = await once('k', ['model', 'large-v3']);
      models.uninstall('large-v3');
      const repeat = await once('k', ['model', 'large-v3']);
      expect([repeat.status, repeat.text]).to.deep.equal([200, first.text]);
      expect(repeat.headers.get('idempotency-replayed')).to.equal('true');
      expect(repeat.headers.get('x-model')).to.equal('large-v3');
      const other = await once('k', ['model', 'large-v3'], ['language', 'de']);
      expect([other.status, other.error?.code]).to.deep.equal([409, 'idempotency_conflict']);
      expect(await server.balance(ann)).to.equal(8);
    });

    it('is refused where it is removed before the first answer; the key is then free for another model', async () => {
      models.uninstall('large-v3');
      for (const parts of [
        [['model', 'large-v3']],
        [['model', 'large-v3']],
        [
          ['model', 'small.en'],
          ['language', 'de'],
        ],
      ] as Part[][]) {
        expect((await once('k', ...parts)).status).to.equal(422);
      }
      const answer = await once('k', ['model', 'base']);
      expect([answer.status, answer.headers.get('idempotency-replayed')]).to.deep.equal([200, null]);
    });
  });

  describe('of a model that is not loaded', () => {
    it('loads it for nobody who has not paid, and holds the credits meanwhile', async () => {
      const poor = await server.customer(1);
      const unpaid = await transcribe(server, { key: poor.key, parts: [AUDIO, ['model', 'large-v3']] });
      expect(unpaid.error?.code).to.equal('insufficient_credits');
      const noAudio: Part = ['audio', Buffer.from('no audio')];
      const broken = await transcribe(server, { key: ann.key, parts: [noAudio, ['model', 'large-v3']] });
      expect(broken.status).to.equal(415);
      expect(models.loads).to.deep.equal([]);
      models.holdLoads();
      const answer = send(['model', 'large-v3']);
      await until(() => models.loads.length === 1);
      expect([await server.balance(ann), server.engine.admitted]).to.deep.equal([8, 1]);
      models.release();
      expect((await answer).headers.get('x-model')).to.equal('large-v3');
      expect(await server.balance(ann)).to.equal(8);
    });

    it('answers 503 where there is no memory for it, uncharged, and the same request may come again', async () => {
      models.failWith = noMemory(7);
      const { status, headers, error } = await once('k', ['model', 'large-v3']);
      expect([status, error?.code, headers.get('retry-after')]).to.deep.equal([503, 'overloaded', '7']);
      expect(headers.get('x-model')).to.equal(null);
      expect(logged(503)).to.include({ model: 'large-v3', audioSeconds: 90 });
      expect(await server.balance(ann)).to.equal(10);
      models.failWith = null;
      const again = await once('k', ['model', 'large-v3']);
      expect(again.headers.get('idempotency-replayed')).to.equal(null);
      expect(again.headers.get('x-model')).to.equal('large-v3');
      expect(await server.balance(ann)).to.equal(8);
    });

    it('is not waited for by a client that has hung up, nor charged to it', async () => {
      models.holdLoads();
      const controller = new AbortController();
      const { signal } = controller;
      const parts: Part[] = [AUDIO, ['model', 'large-v3']];
      const gone = transcribe(server, { key: ann.key, parts, signal }).catch((error: unknown) => error);
      await until(() => models.loads.length === 1);
      controller.abort();
      await gone;
      await until(() => logged(499) !== undefined);
      expect(models.loads[0]!.signal.aborted).to.equal(true);
      expect(await server.balance(ann)).to.equal(10);
    });
  });

  describe('of /jobs', () => {
    const created = async (...parts: Part[]): Promise<string> => {
      const { status, body, text } = await postJob(server, ann.key, [AUDIO, ...parts]);
      expect(status, text).to.equal(202);
      return String(body['id']);
    };
    const job = async (id: string): Promise<Record<string, unknown>> => (await jobCall(server, ann.key, `/${id}`)).body;
    const jobRows = async (): Promise<string[][]> =>
      rowsOf((await (await browserOf(server, ann.account)).get('/dashboard/history')).text);

    it('has the job done by that model, named before and after; the default is named once it is done', async () => {
      models.engine('base').holdAll();
      models.holdLoads();
      const [plain, asked] = [await created(), await created(['model', 'large-v3'])];
      await until(() => models.loads.length === 1);
      expect([(await job(plain))['model'], (await job(asked))['model']]).to.deep.equal([null, 'large-v3']);
      const open = await jobRows();
      expect(open.filter((cells) => cells[0]?.includes('job_')).map((cells) => cells[4]?.trim())).to.deep.equal([
        ...['large-v3', 'default'],
      ]);
      models.engine('base').release();
      models.release();
      for (const [id, model] of [[plain, 'base'] as const, [asked, 'large-v3'] as const]) {
        expect(await endedJob(server, ann.key, id)).to.include({ status: 'succeeded', model });
      }
      const { jobs } = (await jobCall(server, ann.key)).body as { jobs: { id: string; model: string | null }[] };
      expect(jobs.map(({ id, model }) => [id, model])).to.deep.equal([
        [asked, 'large-v3'],
        [plain, 'base'],
      ]);
      const charged = await server.ledger.history.charged(ann.account.id, { limit: 9, before: null });
      expect(charged.map(({ model }) => model)).to.have.members(['base', 'large-v3']);
      expect(transcribed()).to.deep.equal([1, 0, 1]);
      const lines = server.logs.filter((line) => line['status'] === 202);
      expect(lines.map((line) => line['model'])).to.deep.equal([undefined, 'large-v3']);
    });

    it('refuses a model that is not installed, and one that cannot do it, and holds nothing', async () => {
      for (const [parts, code] of [
        [[['model', 'tiny']], 'unsupported_model'],
        [
          [
            ['model', 'small.en'],
            ['language', 'de'],
          ],
          'unsupported_language',
        ],
      ] as [Part[], string][]) {
        const { status, error } = await postJob(server, ann.key, [AUDIO, ...parts]);
        expect([status, error?.code]).to.deep.equal([422, code]);
      }
      expect(await server.balance(ann)).to.equal(10);
      expect(server.jobFiles()).to.deep.equal([]);
    });

    it('is not needed for a repeat, whose stored answer is sent though the model is removed', async () => {
      const parts: Part[] = [AUDIO, ['model', 'large-v3']];
      const repeated = (): Promise<Answer> => postJob(server, ann.key, parts, { 'idempotency-key': 'k' });
      const first = await repeated();
      expect(first.status).to.equal(202);
      models.uninstall('large-v3');
      const repeat = await repeated();
      expect([repeat.status, repeat.body]).to.deep.equal([202, first.body]);
      expect(repeat.headers.get('idempotency-replayed')).to.equal('true');
      await endedJob(server, ann.key, String(first.body['id']));
    });

    it('fails a job whose model is gone when it runs, uncharged', async () => {
      // So many of the account run at once that the last one waits.
      models.engine('base').holdAll();
      for (let n = 0; n < 8; n += 1) await postJob(server, ann.key, [['audio', fakeAudio(3)]]);
      const id = await created(['model', 'large-v3']);
      expect(await server.balance(ann)).to.equal(0);
      models.uninstall('large-v3');
      models.engine('base').release();
      const ended = await endedJob(server, ann.key, id);
      expect(ended).to.deep.include({ status: 'failed', model: 'large-v3' });
      expect(ended['error']).to.deep.equal({
        ...{ code: 'unsupported_model', param: 'model' },
        message: 'There is no speech model "large-v3"; installed: base, small.en.',
      });
      await until(async () => (await server.balance(ann)) === 2);
    });

    it('tries again later where there is no memory for the model', async () => {
      models.failWith = noMemory(1);
      const id = await created(['model', 'large-v3']);
      await until(async () => models.loads.length === 1 && (await job(id))['status'] === 'queued');
      expect(await server.balance(ann)).to.equal(8);
      models.failWith = null;
      expect(await endedJob(server, ann.key, id)).to.include({ status: 'succeeded', model: 'large-v3' });
      expect(models.loads).to.have.length(2);
    });

    it('makes another job of it: an Idempotency-Key is refused to another model', async () => {
      const headers = { 'idempotency-key': 'k' };
      const first = await postJob(server, ann.key, [AUDIO, ['model', 'large-v3']], headers);
      const again = await postJob(server, ann.key, [AUDIO, ['model', 'large-v3']], headers);
      expect(again.body).to.deep.equal(first.body);
      expect((await postJob(server, ann.key, [AUDIO], headers)).error?.code).to.equal('idempotency_conflict');
      await endedJob(server, ann.key, String(first.body['id']));
    });
  });
});
