/** /docs/guide over HTTP: the manual, as the build has made it. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { guideRoutes } from '../../../src/http/openapi/guide.js';
import { packageRoot } from '../../../src/package-root.js';
import { TestServer } from '../../support/server.js';

describe('/docs/guide', () => {
  let server: TestServer;

  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.dispose());

  const get = (path: string, method = 'GET'): Promise<Response> =>
    fetch(`${server.url}/docs/guide${path}`, { method, redirect: 'manual' });

  it('leads to its first page', async () => {
    const { status, headers } = await get('');
    expect([status, headers.get('location')]).to.deep.equal([303, '/docs/guide/']);
    const first = await get('/');
    expect(first.status).to.equal(200);
    expect(first.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(first.headers.get('cache-control')).to.equal('no-cache');
    expect(await first.text()).to.match(/<h1[^>]*>Verbatim/);
  });

  it('has a page for every document, none with an attribute of style', async () => {
    const files = readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' });
    for (const file of [
      ...files.filter((name) => name.endsWith('.md')),
      'project/CHANGELOG.md',
      'src/client/README.md',
    ]) {
      const answer = await get(`/${file.replace(/\.md$/, '')}`);
      expect(answer.status, file).to.equal(200);
      expect(await answer.text(), file)
        .to.contain('<h1')
        .and.not.match(/<[^>]+ style=/);
    }
  });

  it('permits no script but its own', async () => {
    const answer = await get('/settings');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy)
      .to.match(/^default-src 'none'; script-src 'self' 'sha256-/)
      .and.not.contain('unsafe');
    const inline = [...(await answer.text()).matchAll(/<script(?![^>]*\bsrc=)[^>]*>([^]*?)<\/script>/g)];
    expect(inline.length).to.be.above(0);
    for (const [, script = ''] of inline)
      expect(policy).to.contain(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(answer.headers.get('x-frame-options')).to.equal('DENY');
  });

  it('is kept by browsers where names change with the content', async () => {
    const page = await (await get('/settings')).text();
    const assets = new Set(page.match(/(?<=")\/docs\/guide\/assets\/[^"]+/g));
    expect([...assets].some((name) => name.endsWith('.css'))).to.equal(true);
    for (const asset of assets) {
      const { status, headers } = await fetch(`${server.url}${asset}`);
      expect([status, headers.get('cache-control')], asset).to.deep.equal([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-type'), asset).to.match(/^(text\/(css|javascript); charset=utf-8|image\/)/);
    }
  });

  for (const path of ['/nothing', '/..%2f..%2fpackage.json', '/%2e%2e/dashboard/icons.json', '/inline-scripts.json'])
    it(`has nothing at ${path}`, async () => {
      const answer = await get(path);
      expect(answer.status).to.equal(404);
      expect(((await answer.json()) as { error: { code: string } }).error.code).to.equal('not_found');
    });

  it('answers HEAD, and no POST', async () => {
    expect((await get('/settings', 'HEAD')).status).to.equal(200);
    expect((await get('/settings', 'POST')).status).to.equal(405);
  });

  it('has nothing where nothing was built', () => {
    const [, first] = guideRoutes(join(packageRoot, 'no', 'such', 'directory'));
    expect(() => first?.methods.GET?.({} as never)).to.throw('There is nothing at this path.');
  });

  it('has links to it on the API reference', async () => {
    expect(await (await fetch(`${server.url}/docs`)).text()).to.contain('href="/docs/guide/"');
  });
});
