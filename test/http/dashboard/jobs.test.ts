import { expect } from 'chai';
import { EngineError } from '../../../src/engine/native-errors.js';
import { browserOf, buildDashboard, rowsOf, type HttpBrowser } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, endsBehindTheNextLook, postJob } from '../../support/jobs.js';
import type { Part } from '../../support/requests.js';
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

  const post = async (seconds = 61, text = 'SECRET.', customer = ann, more: readonly Part[] = []): Promise<string> => {
    const parts: readonly Part[] = [['audio', fakeAudio(seconds, { text })], ...more];
    return String((await postJob(server, customer.key, parts)).body['id']);
  };
  const history = async (query = ''): Promise<string> => (await browser.get(`/dashboard/history${query}`)).text;
  /** Cells of a job's row: state, model, length, credits, action. */
  const cellsOf = async (id: string): Promise<string[]> => {
    const row = rowsOf(await history()).find((cells) => cells[0]?.endsWith(id)) ?? [];
    return [row[6], row[4], row[5], row[7], row[8]].map((cell) => (cell ?? '').replace(/\s+/g, ' '));
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
    expect(await cellsOf(done)).to.deep.equal(['done', 'fake en', '1:01', '2', 'Open']);
    expect(await cellsOf(failed)).to.deep.equal(['failed The audio is broken.', ...['', '1:01', '0', 'Details']]);
    const [state, ...cells] = await cellsOf(running);
    expect(state).to.match(/^running 50 %, done in about \d+ s$/);
    expect(cells).to.deep.equal(['default', '3:00', '3 held', 'Cancel']);
    const page = await history();
    expect(page).not.to.contain('SECRET').and.not.to.contain(bobs);
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

  it('that are done have a page with their text, and files of it, one’s own alone', async () => {
    const id = await post(61, 'Hello <b>there</b>.|Bye.', ann, [['timestamps', 'segment']]);
    await endedJob(server, ann.key, id);
    const { text } = await browser.get(`/dashboard/jobs/${id}`);
    expect(text).to.contain('Hello &lt;b&gt;there&lt;/b&gt;. Bye.').and.to.contain('recording.wav').and.to.contain(id);
    expect(text)
      .to.match(/<title>recording.wav ·/)
      .and.to.contain(`href="/dashboard/jobs/${id}/end"`);
    const files = `/dashboard/jobs/${id}/result`;
    const txt = await browser.get(`${files}/text`);
    expect(txt.text).to.equal('Hello <b>there</b>. Bye.');
    expect(txt.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(txt.headers.get('content-disposition')).to.equal('attachment; filename=recording.txt');
    expect(txt.headers.get('x-content-type-options')).to.equal('nosniff');
    expect((await browser.get(`${files}/srt`)).text).to.match(/^1\n00:00:00,/);
    expect((await browser.get(`${files}/vtt`)).text).to.match(/^WEBVTT/);
    expect(JSON.parse((await browser.get(`${files}/json`)).text)).to.have.nested.property('result.credits_used', 2);
    const bobs = await browserOf(server, (await server.customer()).account);
    for (const path of [`/dashboard/jobs/${id}`, `${files}/text`]) expect((await bobs.get(path)).status).to.equal(404);
    for (const format of ['docx', 'toString', '..%2f']) {
      expect((await browser.get(`${files}/${format}`)).status, format).to.be.oneOf([404, 400]);
    }
  });

  it('that have no result have a page with what became of them, and no files', async () => {
    server.engine.failWith = new EngineError('invalid_audio', 'The audio is broken.');
    const failed = await post();
    await endedJob(server, ann.key, failed);
    const { text } = await browser.get(`/dashboard/jobs/${failed}`);
    expect(text).to.contain('The audio is broken.').and.not.to.contain('/result/');
    expect((await browser.get(`/dashboard/jobs/${failed}/result/text`)).status).to.equal(404);
    expect((await browser.get('/dashboard/jobs/job_x')).status).to.equal(404);
  });
});
