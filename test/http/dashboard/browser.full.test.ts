/** The dashboard in Chromium: what people do, reach by the keyboard, and are protected from. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { DAY_MS } from '../../../src/ledger/time.js';
import { TestServer } from '../../support/server.js';
import { PAGES, useBrowserFixture } from './browser-fixture.js';

const PASSWORD = 'correct horse battery staple';

describe('dashboard: in Chromium', function () {
  this.timeout(120_000);
  const fixture = useBrowserFixture();

  it('signs in by link, sets a password, signs out, and in by the password', async () => {
    const page = await fixture.signedIn();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password, again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('The password is set.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You have signed out.').waitFor();
    await fixture.go(page, '/keys');
    await page.getByLabel('E-mail address').fill(fixture.ann.account.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
  });

  it('makes a management key by the keyboard alone; its curl line works, and Copy copies it', async () => {
    await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await fixture.signedIn();
    await fixture.go(page, '/keys');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('for curl');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    const raw = await page.locator('#raw-key').textContent();
    await page.getByRole('button', { name: 'Copy' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(raw);
    const line = (await page.locator('#try-command').textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent`]);
    expect(JSON.parse(stdout)).to.deep.include({ credits: { balance: 250, lifetime_purchased: 250 } });
    const identity = await fixture.server.ledger.keys.authenticate(raw ?? '');
    expect(identity?.key.scopes).to.deep.equal(['keys:write']);
  });

  it('moves nothing where the pointer is when the link that skips the navigation comes and goes', async () => {
    const page = await fixture.signedIn();
    await fixture.go(page, '/keys');
    const place = () => page.getByRole('button', { name: 'Create key' }).boundingBox();
    const before = await place();
    await page.keyboard.press('Tab');
    expect(await page.locator('.skip').boundingBox())
      .to.have.property('x')
      .that.is.at.least(0);
    expect(await place()).to.deep.equal(before);
  });

  it('revokes a key after a question', async () => {
    const page = await fixture.signedIn();
    await fixture.go(page, '/keys');
    await page.getByRole('link', { name: 'Revoke the key plain' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key is revoked.').waitFor();
    expect(await fixture.server.ledger.keys.authenticate(fixture.ann.key.rawKey)).to.equal(null);
  });

  it('draws usage as a chart', async () => {
    await fixture.speak();
    fixture.now += DAY_MS;
    await fixture.speak();
    const page = await fixture.signedIn();
    await fixture.go(page, '/usage?days=7');
    await page.locator('#chart canvas').waitFor();
    expect(await page.locator('#chart li').allTextContents()).to.deep.equal(['/api/v1/transcribe']);
    const inked = `(() => {
      const canvas = document.querySelector('#chart canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === 0x1f && data[i + 1] === 0x6f && data[i + 2] === 0xc4) count += 1;
      return count;
    })()`;
    expect(await page.evaluate<number>(inked), 'pixels of the bars').to.be.above(500);
  });

  it('works without scripts: signing in, usage as a table, making a key', async () => {
    await fixture.speak();
    const plain = await fixture.browser.newContext({ javaScriptEnabled: false });
    try {
      const page = await fixture.signedIn(fixture.ann, plain);
      await fixture.go(page, '/usage');
      expect(await page.locator('#by-day tbody tr').count()).to.equal(1);
      expect(await page.locator('#chart').isVisible()).to.equal(false);
      await fixture.go(page, '/keys');
      await page.getByLabel('What it is for').fill('no scripts');
      await page.getByRole('button', { name: 'Create key' }).click();
      expect(await page.locator('#raw-key').textContent()).to.match(/^vb_/);
      expect(await page.getByRole('button', { name: 'Copy' }).count()).to.equal(0);
    } finally {
      await plain.close();
    }
  });

  it('shows two users at once only their own', async () => {
    const bob = await fixture.server.customer(777);
    await fixture.speak(bob);
    const other = await fixture.browser.newContext();
    try {
      const [anns, bobs] = [await fixture.signedIn(), await fixture.signedIn(bob, other)];
      for (const path of PAGES) {
        await fixture.go(anns, path);
        await fixture.go(bobs, path);
        expect(await anns.content())
          .to.contain(fixture.ann.account.email)
          .and.not.to.contain(bob.account.email);
        expect(await bobs.content())
          .to.contain(bob.account.email)
          .and.not.to.contain(fixture.ann.account.email);
      }
      await fixture.go(anns, '/history');
      expect(await anns.locator('tbody tr').count()).to.equal(0);
      await fixture.go(bobs, '/history');
      expect(await bobs.locator('tbody tr').count()).to.equal(1);
    } finally {
      await other.close();
    }
  });

  it('runs nothing that an e-mail address, a name or a browser’s name says', async () => {
    const hostile = `<img src=x onerror="document.title='taken'">`;
    const account = await fixture.server.ledger.accounts.create({
      email: `"><img/src=x/onerror=alert(1)>@example.com`,
      name: hostile,
    });
    await fixture.server.ledger.keys.create({ accountId: account.id, name: hostile, scopes: [] });
    const odd = await fixture.browser.newContext({ userAgent: hostile });
    try {
      const page = await fixture.signedIn({ ...fixture.ann, account }, odd);
      let dialogs = 0;
      page.on('dialog', (dialog) => {
        dialogs += 1;
        void dialog.dismiss();
      });
      for (const path of PAGES) {
        await fixture.go(page, path);
        expect(await page.locator('img').count(), path).to.equal(0);
        expect(await page.title()).to.contain('Verbatim');
      }
      expect(dialogs).to.equal(0);
    } finally {
      await odd.close();
    }
  });

  it('is no frame of another page, and takes no form from one', async () => {
    await fixture.signedIn();
    const { token } = await fixture.server.ledger.access.createLink(fixture.ann.account.id);
    await fixture.server.ledger.access.useLink(token, { browser: 'another', address: '' });
    const page = await fixture.context.newPage();
    const evil = await TestServer.start();
    try {
      await page.route(`${evil.url}/evil`, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<iframe src="${fixture.server.url}/dashboard"></iframe>
            <form method="post" action="${fixture.server.url}/dashboard/account/sessions/end-others"><button>win</button></form>`,
        }),
      );
      await page.goto(`${evil.url}/evil`);
      const frame = page.frames().find((one) => one !== page.mainFrame());
      expect(frame?.url()).to.equal('chrome-error://chromewebdata/');
      await page.getByRole('button', { name: 'win' }).click();
      await page.getByText('not sent from a page of this server').waitFor();
      expect(await fixture.server.ledger.access.listSessions(fixture.ann.account.id)).to.have.length(2);
    } finally {
      await evil.dispose();
    }
  });
});
