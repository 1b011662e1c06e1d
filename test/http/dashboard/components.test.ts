import { expect } from 'chai';
import { button, buttonForm, linkButton } from '../../../src/http/dashboard/components/button.js';
import { field, select } from '../../../src/http/dashboard/components/field.js';
import { pager } from '../../../src/http/dashboard/components/pager.js';
import { progressBar } from '../../../src/http/dashboard/components/progress-bar.js';
import { questionView } from '../../../src/http/dashboard/components/question.js';
import { table } from '../../../src/http/dashboard/components/table.js';
import { noticeOf } from '../../../src/http/dashboard/notice.js';
import { buildDashboard } from '../../support/dashboard.js';

const HOSTILE = '"><img src=x>';
const lines = (text: string): string => text.replace(/\s+/g, ' ');

describe('dashboard: components', () => {
  before(buildDashboard);

  it('name an error and a help beside their field', () => {
    const { text } = field({ label: 'Credits', name: 'amount', help: 'A whole number.', error: 'This is none.' });
    expect(lines(text))
      .to.contain('<label for="amount">')
      .and.to.contain('aria-describedby="amount-error amount-help"');
    expect(text).to.contain('aria-invalid="true"').and.to.contain('id="amount-error" role="alert">This is none.');
    expect(field({ label: 'Name', name: 'name' }).text).not.to.contain('aria-');
  });

  it('give fields attributes, and refuse names that are none', () => {
    const { text } = field({ label: 'a', name: 'a', attributes: { type: 'email', required: true, disabled: false } });
    expect(text).to.contain('type="email"').and.to.contain(' required').and.not.to.contain('disabled');
    expect(() => field({ label: 'a', name: 'a', attributes: { 'onclick=x ': 'y' } })).to.throw('no attribute');
  });

  it('mark the choice that was made', () => {
    const choices = [
      { value: '', label: 'all' },
      { value: 'failed', label: 'failed' },
    ];
    expect(lines(select({ label: 'State', name: 'state', choices, value: 'failed' }).text)).to.contain(
      'value="failed" selected',
    );
  });

  it('name the values of a row where it is a card', () => {
    const { text } = table({ caption: 'Keys', columns: ['Name', HOSTILE], figures: [1], rows: [['a', 3]] });
    expect(text).to.contain('data-label="Name"').and.to.contain('data-label="&quot;&gt;&lt;img src=x&gt;"');
    expect(lines(text)).to.contain('class="figure">3</td>');
  });

  it('ask with the name of the object, and lead back', () => {
    const { main } = questionView({
      ...{ title: 'Revoke a key', about: HOSTILE, note: 'It ends.', action: '/revoke', submit: 'Revoke' },
      ...{ back: { href: '/keys', label: 'Keep it' }, value: { name: 'end', value: 'cancel' } },
    });
    expect(main.text)
      .to.contain('&lt;img src=x')
      .and.to.contain('class="button danger"')
      .and.to.contain('href="/keys"');
    expect(lines(main.text)).to.contain('name="end" value="cancel"');
  });

  it('escape what they are given', () => {
    const all = [
      button({ label: HOSTILE, fullLabel: HOSTILE, name: HOSTILE, value: HOSTILE }),
      buttonForm(HOSTILE, { label: HOSTILE }, { [HOSTILE]: HOSTILE }),
      linkButton({ href: HOSTILE, label: HOSTILE }),
      progressBar({ label: HOSTILE, percent: 3, text: HOSTILE }),
    ];
    for (const { text } of all) expect(text).not.to.contain('<img');
  });

  it('have no pages to lead to where there is one', () => {
    expect(pager({ label: 'Pages', first: null, next: null })).to.equal(null);
    expect(pager({ label: 'Pages', first: null, next: { href: '/x', label: 'Older' } })?.text).to.contain('rel="next"');
  });

  it('show the result of an action by its name, and nothing of what is no name', () => {
    expect(noticeOf('key-revoked')?.text).to.contain('role="status">The key is revoked.');
    for (const name of [HOSTILE, 'toString', undefined, ['key-revoked']]) expect(noticeOf(name)).to.equal(null);
    const undo = buttonForm('/undo', { label: 'Undo' });
    expect(noticeOf('suspended', undo)?.text).to.contain('action="/undo"');
  });
});
