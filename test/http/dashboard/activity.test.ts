import { expect } from 'chai';
import { DAY_MS } from '../../../src/ledger/time.js';
import { browserOf, buildDashboard, rowsOf, type HttpBrowser } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { call } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

const PAGE = '/dashboard/history';

describe('dashboard: activity', () => {
  let server: TestServer;
  let now: number;
  let ann: Customer;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    ann = await server.customer(1000);
    browser = await browserOf(server, ann.account);
  });
  afterEach(() => server.dispose());

  function send(name: string, seconds = 3, key: { rawKey: string } = ann.key, path = '/api/v1/transcribe') {
    const body = new FormData();
    const field = path.startsWith('/v1') ? 'file' : 'audio';
    body.append(field, new Blob([new Uint8Array(fakeAudio(seconds, { text: 'SECRET', language: 'es' }))]), name);
    if (field === 'file') body.append('model', 'whisper-1');
    return call(server, path, { method: 'POST', headers: bearer(key), body });
  }
  const rows = async (query = ''): Promise<string[][]> => {
    const { status, text } = await browser.get(PAGE + query);
    expect(status, query).to.equal(200);
    return rowsOf(text).map((cells) => cells.map((cell) => cell.replace(/\s+/g, ' ')));
  };
  const names = async (query = ''): Promise<string[]> => (await rows(query)).map(([file]) => file!.split(' ')[0]!);

  it('shows what each request was and cost, with the name of its file, never what was said', async () => {
    const { body } = await send('Büro <1>.wav', 61.5);
    const bob = await server.customer(9);
    await send('bob.wav', 3, bob.key);
    expect(await rows()).to.deep.equal([
      [
        ...[`Büro &lt;1&gt;.wav ${String(body['id'])}`, '2026-11-22 12:00 UTC', ann.key.name, '/api/v1/transcribe'],
        ...['fake es', '1:02', 'done', '2', ''],
      ],
    ]);
    expect((await browser.get(PAGE)).text).not.to.contain('SECRET');
  });

  it('leads to the transcripts that are kept, and to no other', async () => {
    await browser.post('/dashboard/transcripts/settings', { keep: 'always' });
    const { body } = await send('kept.wav');
    await send('another.wav');
    expect((await rows()).map((cells) => cells.at(-1))).to.deep.equal(['Transcript', 'Transcript']);
    const path = `/dashboard/transcripts/${String(body['id'])}`;
    const { text } = await browser.get(PAGE);
    expect(text).to.contain(`href="${path}"`).and.to.contain('Transcript of kept.wav');
    expect((await browser.get(path)).text).to.contain('SECRET');
    expect((await browser.post(`${path}/delete`, {})).status).to.equal(303);
    expect((await rows()).map((cells) => cells.at(-1))).to.deep.equal(['Transcript', '']);
  });

  it('shows what runs now, and what is held for it', async () => {
    server.engine.holdAll();
    const running = send('long.wav', 130);
    await server.engine.untilRunning(1);
    expect((await rows())[0]?.slice(6)).to.deep.equal(['running', '3 held', 'Cancel']);
    expect((await browser.get(PAGE)).text).to.contain('data-running');
    server.engine.release();
    await running;
    expect((await rows())[0]?.slice(6)).to.deep.equal(['done', '3', '']);
    expect((await browser.get(PAGE)).text).not.to.contain('data-running');
  });

  it('cancels a request that runs: it ends with an error, and costs nothing', async () => {
    server.engine.holdAll();
    const running = send('long.wav', 130);
    await server.engine.untilRunning(1);
    const { text } = await browser.get(PAGE);
    const [, path = ''] = /href="([^"]+\/cancel)"/.exec(text) ?? [];
    expect((await browser.get(path)).text)
      .to.contain('Cancel a request')
      .and.to.contain('Nothing is charged.');
    // Another account's request is none of its own.
    const bob = await browserOf(server, (await server.customer(9)).account);
    expect((await bob.post(path, {})).status).to.equal(409);
    const { status, location } = await browser.post(path, {});
    expect([status, location]).to.deep.equal([303, `${PAGE}?notice=request-cancelled`]);
    const { status: answered, body } = await running;
    expect([answered, (body['error'] as { code: string }).code]).to.deep.equal([409, 'conflict']);
    expect(await rows()).to.deep.equal([]);
    expect((await server.ledger.credits.balance(ann.account.id)).balance).to.equal(1000);
    const again = await browser.post(path, {});
    expect(again.status).to.equal(409);
    expect(again.text).to.contain('This request has ended meanwhile');
    expect((await browser.get('/dashboard/requests/x/cancel')).status).to.equal(409);
    server.engine.release();
  });

  it('is filtered by state, key, endpoint and days; a form keeps what was chosen', async () => {
    const other = await server.ledger.keys.create({ accountId: ann.account.id, name: 'Newsroom', scopes: [] });
    await send('old.wav');
    now += 10 * DAY_MS;
    browser = await browserOf(server, ann.account);
    await send('news.wav', 3, other);
    await send('openai.wav', 3, ann.key, '/v1/audio/transcriptions');
    now += 1000;
    const { body } = await postJob(server, ann.key);
    await endedJob(server, ann.key, String(body['id']));
    expect(await names()).to.deep.equal(['recording.wav', 'openai.wav', 'news.wav', 'old.wav']);
    expect(await names(`?key=${other.id}`)).to.deep.equal(['news.wav']);
    expect(await names('?days=7&state=done')).to.deep.equal(['recording.wav', 'openai.wav', 'news.wav']);
    expect(await names('?endpoint=%2Fapi%2Fv1%2Fjobs&state=&key=&days=')).to.deep.equal(['recording.wav']);
    expect(await names('?state=failed')).to.deep.equal([]);
    const { text } = await browser.get(`${PAGE}?state=failed&key=${other.id}`);
    expect(text).to.contain('Nothing matches these filters.').and.to.contain('>Clear</span>');
    expect(text)
      .to.match(/value="failed"\s+selected/)
      .and.to.match(new RegExp(`value="${other.id}"\\s+selected`));
    expect(text).to.contain('<option value="/v1/audio/transcriptions"');
  });

  it('refuses a filter that is no choice, by name', async () => {
    for (const query of ['state=over', 'key=%27', 'endpoint=x', 'days=5', 'state=done&state=failed', 'days=7x']) {
      const { status, text } = await browser.get(`${PAGE}?${query}`);
      expect(status, query).to.equal(400);
      expect(text).to.contain(`The filter &quot;${query.split('=')[0]}&quot; has a value`);
    }
  });

  it('goes back page by page, with its filters', async () => {
    for (let n = 0; n < 51; n += 1) {
      now += 1000;
      await send(`${n}.wav`);
    }
    const first = await browser.get(`${PAGE}?state=done`);
    expect(rowsOf(first.text)).to.have.length(50);
    const older = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(older).to.contain('state=done');
    const second = await browser.get(older);
    expect(rowsOf(second.text).map(([file]) => file!.split('.')[0])).to.deep.equal(['0']);
    expect(second.text).to.contain('Newest').and.not.to.contain('rel="next"');
    for (const after of ['x', '-1', '1e9', '9'.repeat(17), '1', '1.x', "1.j'", '1.r1&after=1.r1']) {
      expect((await browser.get(`${PAGE}?after=${after}`)).status, after).to.equal(400);
    }
  });

  it('says what to do where there is nothing yet', async () => {
    expect((await browser.get(PAGE)).text)
      .to.contain('Nothing was asked yet.')
      .and.to.contain('href="/dashboard/try"');
  });
});
