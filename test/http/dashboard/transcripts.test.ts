import { expect } from 'chai';
import { browserOf, buildDashboard, type HttpBrowser } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { transcribe } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';

const DAY = 86_400_000;

describe('dashboard: kept transcripts', () => {
  let server: TestServer;
  let ann: Customer;
  let browser: HttpBrowser;
  let now: number;

  before(buildDashboard);
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    ann = await server.customer(100);
    browser = await browserOf(server, ann.account);
  });
  afterEach(() => server.dispose());

  /** The id of a transcript that is kept. */
  async function keep(text: string, customer = ann, fields: [string, string][] = []): Promise<string> {
    const parts: Parameters<typeof transcribe>[1]['parts'] = [
      ['audio', fakeAudio(3, { text })],
      ['keep', 'true'],
      ['timestamps', 'word'],
      ...fields,
    ];
    const { status, body } = await transcribe(server, { key: customer.key, parts });
    expect(status, JSON.stringify(body)).to.equal(200);
    return String(body['id']);
  }

  const page = async (path = ''): Promise<string> => (await browser.get(`/dashboard/transcripts${path}`)).text;
  const versionOf = (text: string): string => /data-version="(\d+)"/.exec(text)?.[1] ?? '';
  const change = async (id: string, action: string, fields: Record<string, string>) =>
    browser.post(`/dashboard/transcripts/${id}/${action}`, { version: versionOf(await page(`/${id}`)), ...fields });

  it('say what to do before there are any, and that nothing is kept', async () => {
    const text = await page();
    expect(text)
      .to.contain('No transcripts yet')
      .and.to.match(/value="off"\s+checked/);
  });

  it('are listed once an account keeps them, for as long as it says', async () => {
    const { location } = await browser.post('/dashboard/transcripts/settings', { keep: 'month' });
    expect(location).to.equal('/dashboard/transcripts?notice=keep-saved');
    const { body } = await transcribe(server, {
      key: ann.key,
      parts: [['audio', fakeAudio(3, { text: 'By itself.' })]],
    });
    const listed = await page();
    expect(listed)
      .to.contain(`/dashboard/transcripts/${String(body['id'])}"`)
      .and.to.contain('Kept until');
    expect(listed).to.match(/value="month"\s+checked/);
    const home = (await browser.get('/dashboard')).text;
    expect(home)
      .to.contain('Recent transcripts')
      .and.to.contain(`/dashboard/transcripts/${String(body['id'])}"`);
    now += 31 * DAY;
    browser = await browserOf(server, ann.account);
    expect(await page()).to.contain('No transcripts yet');
  });

  it('are found by their words, with the sentence and its time, and by filters', async () => {
    const cafe = await keep('We met at the café.');
    const other = await keep('Nothing of that kind.');
    const found = await page('?query=cafe');
    expect(found).to.contain(cafe).and.not.to.contain(other);
    expect(found).to.contain('<mark>café</mark>').and.to.contain(`/dashboard/transcripts/${cafe}#t=0`);
    expect(await page('?query=nowhere')).to.contain('Nothing found');
    expect(await page('?source=job')).to.contain('Nothing found');
    expect(await page('?source=api'))
      .to.contain(cafe)
      .and.to.contain(other);
    expect(await page('?to=2026-11-21')).to.contain('Nothing found');
    expect(await page('?from=2026-11-22&to=2026-11-22')).to.contain(cafe);
  });

  it('are shown with their words, and escape whatever was said', async () => {
    const id = await keep('<script>alert(1)</script> said she');
    const { text, headers } = await browser.get(`/dashboard/transcripts/${id}`);
    expect(text).to.contain('&lt;script&gt;alert(1)&lt;/script&gt;').and.not.to.contain('<script>alert');
    expect(headers.get('content-security-policy')).to.contain("script-src 'self'");
    const words = JSON.parse(await page(`/${id}/words`)) as [number, number, string][][];
    expect(words.flat().map(([, , word]) => word)).to.include('said');
  });

  it('are corrected line by line, with the version that the page has, and undone', async () => {
    const id = await keep('Helo world.');
    const save = async (version: number, text: string) => {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(`${server.url}/dashboard/transcripts/${id}/segments`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ version, segments: [{ index: 0, text }] }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const saved = await save(1, 'Hello world.');
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect(saved.body).to.include({ version: 2 });
    expect(await page(`/${id}`)).to.contain('Hello world.');
    const stale = await save(1, 'Other.');
    expect(stale.status).to.equal(409);
    expect((await save(2, 'x'.repeat(3000))).status).to.equal(400);
    expect(await page(`/${id}/changes`))
      .to.contain('text of 1 line')
      .and.to.contain(ann.account.email);
    await change(id, 'undo', {});
    expect(await page(`/${id}`)).to.contain('Helo world.');
    expect(await page(`/${id}/changes`)).to.contain('a change was undone');
  });

  it('get titles, notes and other words by forms; a form that was refused says why beside its field', async () => {
    const id = await keep('One fish, two fish.');
    await change(id, 'names', { title: 'Fish' });
    expect(await page(`/${id}`)).to.contain('<h1>Fish</h1>');
    const { location } = await change(id, 'replace', { find: 'FISH', replace: 'cats' });
    expect(location).to.contain('replaced=2');
    expect(await page(`/${id}?replaced=2`))
      .to.contain('One cats, two cats.')
      .and.to.contain('2 places replaced.');
    await change(id, 'notes', { at: '0:02', text: 'Listen.' });
    const noted = await page(`/${id}`);
    expect(noted).to.contain('Listen.').and.to.contain('#t=2"');
    const note = /name="note" value="([^"]+)"/.exec(noted)?.[1] ?? '';
    await change(id, 'notes/delete', { note });
    expect(await page(`/${id}`)).not.to.contain('Listen.');

    const refused = await change(id, 'names', { title: ' ' });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.match(/aria-describedby="title-error"/);
    const late = await change(id, 'notes', { at: '9:00', text: 'After the end.' });
    expect(late.status).to.equal(400);
    expect(late.text).to.match(/aria-describedby="at-error at-help"/);
    const nothing = await change(id, 'replace', { find: ' ', replace: 'x' });
    expect(nothing.status).to.equal(400);
    expect(nothing.text).to.match(/aria-describedby="find-error"/);
    const stale = await browser.post(`/dashboard/transcripts/${id}/names`, { version: '1', title: 'Old' });
    expect(stale.status).to.equal(409);
  });

  it('are downloaded in every format under the name of the transcript', async () => {
    const id = await keep('Some text.');
    await change(id, 'names', { title: 'Board meeting.m4a' });
    for (const format of ['txt', 'srt', 'vtt', 'json', 'csv', 'docx']) {
      const { status, headers } = await browser.get(`/dashboard/transcripts/${id}/export?format=${format}`);
      expect(status, format).to.equal(200);
      expect(headers.get('content-disposition')).to.equal(`attachment; filename="Board meeting.${format}"`);
    }
    expect((await browser.get(`/dashboard/transcripts/${id}/export?format=exe`)).status).to.equal(400);
  });

  it('are shared by a link that is shown once, expires, and is revoked after a question', async () => {
    const id = await keep('Read this.');
    const made = await browser.post(`/dashboard/transcripts/${id}/shares`, { days: '7' });
    const address = /id="share-link"[^>]*>([^<]+)</.exec(made.text)?.[1] ?? '';
    const shared = await fetch(address);
    expect(shared.status).to.equal(200);
    expect(await shared.text())
      .to.contain('Read this.')
      .and.not.to.contain(ann.account.email);
    const shares = await page(`/${id}/shares`);
    expect(shares).not.to.contain(new URL(address).pathname);
    const revoke = /href="(\/dashboard\/transcripts\/[^"]+\/revoke)"/.exec(shares)?.[1] ?? '';
    expect((await browser.get(revoke)).text).to.contain('stops working at once');
    expect((await browser.post(revoke)).status).to.equal(303);
    expect((await fetch(address)).status).to.equal(404);
    expect((await browser.post(`/dashboard/transcripts/${id}/shares`, { days: '400' })).status).to.equal(400);
  });

  it('are deleted after a question that names them', async () => {
    const id = await keep('Forget this.');
    await change(id, 'names', { title: 'Secret plan' });
    const path = `/dashboard/transcripts/${id}/delete`;
    expect((await browser.get(path)).text)
      .to.contain('Secret plan')
      .and.to.contain('cannot be undone');
    expect((await browser.post(path)).location).to.contain('transcript-deleted');
    expect((await browser.get(`/dashboard/transcripts/${id}`)).status).to.equal(404);
    expect(await page()).to.contain('No transcripts yet');
  });

  it('of another account are not there, whatever is asked of them', async () => {
    const bob = await server.customer(100);
    const id = await keep('Private.', bob);
    expect(await page()).not.to.contain(id);
    expect(await page('?query=private')).to.contain('Nothing found');
    for (const action of ['', '/words', '/changes', '/shares', '/delete', '/export?format=txt', '/audio']) {
      const { status, text } = await browser.get(`/dashboard/transcripts/${id}${action}`);
      expect(status, action).to.equal(404);
      expect(text, action).not.to.contain('Private.');
    }
    for (const action of ['names', 'replace', 'notes', 'undo', 'shares', 'delete']) {
      const fields = { version: '1', title: 'Mine', find: 'P', replace: 'Q', at: '0:00', text: 'x', days: '7' };
      const { status } = await browser.post(`/dashboard/transcripts/${id}/${action}`, fields);
      expect(status, action).to.equal(404);
    }
    const other = await browserOf(server, bob.account);
    expect((await other.get(`/dashboard/transcripts/${id}`)).text).to.contain('Private.');
  });

  it('are not changed by forms of other sites', async () => {
    const id = await keep('Stay.');
    const { status } = await browser.post(
      `/dashboard/transcripts/${id}/delete`,
      {},
      { 'sec-fetch-site': 'cross-site' },
    );
    expect(status).to.equal(403);
    expect(await page(`/${id}`)).to.contain('Stay.');
  });
});
