import { expect } from 'chai';
import { EngineError } from '../../../src/engine/native-errors.js';
import { browserOf, buildDashboard, rowsOf, type HttpBrowser } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, endsBehindTheNextLook, postJob } from '../../support/jobs.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('dashboard: jobs', () => {
  let server: TestServer;
  let ann: Customer;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    server = await TestServer.start();
    ann = await server.customer(100);
    browser = await browserOf(server, ann.account);
  });
  afterEach(() => server.dispose());

  const post = async (seconds = 61, text = 'SECRET.', customer = ann): Promise<string> => {
    const parts: Parameters<typeof postJob>[2] = [['audio', fakeAudio(seconds, { text })]];
    return String((await postJob(server, customer.key, parts)).body['id']);
  };
  const history = async (query = ''): Promise<string> => (await browser.get(`/dashboard/history${query}`)).text;
  /** Cells of a job's row, but for its times. */
  const cellsOf = async (id: string): Promise<string[]> => {
    const row = rowsOf(await history()).find((cells) => cells[1] === id) ?? [];
    return [row[2], row[4], row[5], row[6], row[7]].map((cell) => (cell ?? '').replace(/\s+/g, ' '));
  };

  it('are listed with state, progress, credits and error, without what was said, one’s own alone', async () => {
    const bobs = await post(3, 'SECRET.', await server.customer());
    const done = await post();
    await endedJob(server, ann.key, done);
    server.engine.failWith = new EngineError('invalid_audio', 'The audio is broken.');
    const failed = await post();
    await endedJob(server, ann.key, failed);
    server.engine.holdAll(1);
    const running = await post(180, 'SECRET.|SECRET.');
    await until(async () => (await cellsOf(running))[0]?.includes('50 %') === true);
    expect(await cellsOf(done)).to.deep.equal(['done', 'fake', '61.0', '2', 'Delete']);
    expect(await cellsOf(failed)).to.deep.equal([
      'failed invalid_audioThe audio is broken.',
      ...['default', '61.0', '0', 'Delete'],
    ]);
    const [state, ...cells] = await cellsOf(running);
    expect(state).to.match(/^running 50 % done in about \d+ s$/);
    expect(cells).to.deep.equal(['default', '180.0', '3 held', 'Cancel']);
    const page = await history();
    expect(page).not.to.contain('SECRET').and.not.to.contain(bobs);
    expect(page).not.to.contain('Running now');
    server.engine.release();
  });

  it('are cancelled after a question, uncharged, and deleted after another', async () => {
    server.engine.holdAll();
    const id = await post();
    await server.engine.untilRunning(1);
    const path = `/dashboard/jobs/${id}/end`;
    expect((await browser.get(path)).text).to.contain('Nothing is charged');
    expect((await browser.post(path, { end: 'cancel' })).location).to.contain('job-cancelled');
    expect((await cellsOf(id))[0]).to.equal('cancelled');
    expect(await server.balance(ann)).to.equal(100);
    expect((await browser.get(path)).text).to.contain('result');
    expect((await browser.post(path, { end: 'delete' })).location).to.contain('job-deleted');
    expect(await history()).not.to.contain(id);
    expect((await browser.get(path)).status).to.equal(404);
    server.engine.release();
  });

  it('that have ended meanwhile are not deleted by a cancellation, and open ones are not cancelled by a deletion', async () => {
    const id = await post();
    await endedJob(server, ann.key, id);
    const { status, text } = await browser.post(`/dashboard/jobs/${id}/end`, { end: 'cancel' });
    expect(status).to.equal(409);
    expect(text).to.contain('ended before it could be cancelled');
    expect((await endedJob(server, ann.key, id))['status']).to.equal('succeeded');
    server.engine.holdAll();
    const open = await post();
    expect((await browser.post(`/dashboard/jobs/${open}/end`, { end: 'delete' })).status).to.equal(409);
    expect((await cellsOf(open))[0]).to.match(/queued|running/);
    server.engine.release();
  });

  it('that end while they are being cancelled keep their result', async () => {
    server.engine.holdAll();
    const id = await post();
    await endsBehindTheNextLook(server, id);
    expect((await browser.post(`/dashboard/jobs/${id}/end`, { end: 'cancel' })).status).to.equal(409);
    expect((await cellsOf(id))[0]).to.equal('done');
  });

  it('of another account, and ids that are none, are not found; a form from elsewhere is refused', async () => {
    const bob = await server.customer();
    const id = await post(3, 'x', bob);
    await endedJob(server, bob.key, id);
    for (const one of [id, 'job_x', '%2e%2e']) {
      const path = `/dashboard/jobs/${one}/end`;
      expect((await browser.get(path)).status, one).to.equal(404);
      expect((await browser.post(path, { end: 'delete' })).status, one).to.equal(404);
    }
    const own = await post();
    await endedJob(server, ann.key, own);
    const cross = { 'sec-fetch-site': 'same-site' };
    expect((await browser.post(`/dashboard/jobs/${own}/end`, { end: 'delete' }, cross)).status).to.equal(403);
    expect((await cellsOf(own))[0]).to.equal('done');
  });

  it('go back page by page, beside the history', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 21; n += 1) ids.push(await post(3));
    for (const id of ids) await endedJob(server, ann.key, id);
    const first = await history();
    expect(first).not.to.contain(ids[0]);
    const older = /href="\/dashboard\/history(\?jobs=[^"]+)"/.exec(first)?.[1] ?? '';
    const second = await history(older);
    expect(second).to.contain(ids[0]).and.not.to.contain(ids[1]);
    for (const jobs of ['x', '', 'a&jobs=b', '!']) {
      expect((await browser.get(`/dashboard/history?jobs=${jobs}`)).status, jobs).to.equal(400);
    }
  });
});
