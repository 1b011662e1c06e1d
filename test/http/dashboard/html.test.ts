import { expect } from 'chai';
import { html } from '../../../src/http/dashboard/html.js';

const HOSTILE = `<&"'>`;
const ESCAPED = '&lt;&amp;&quot;&#39;&gt;';

describe('dashboard: templates', () => {
  it('escape what is put in, but for templates, in lists too', () => {
    const inner = html`<b>${HOSTILE}</b>`;
    const { text } = html`<p title="${HOSTILE}">${HOSTILE} ${inner} ${[HOSTILE, inner]} ${12}</p>`;
    const bold = `<b>${ESCAPED}</b>`;
    expect(text).to.equal(`<p title="${ESCAPED}">${ESCAPED} ${bold} ${ESCAPED}${bold} 12</p>`);
  });

  it('write nothing for what is not there', () => {
    expect(html`[${null}${undefined}${false}${[]}${''}]`.text).to.equal('[]');
  });

  it('escape objects that only look like templates', () => {
    const forged = { text: '<script>' } as unknown as string;
    expect(() => html`${forged}`.text).to.throw();
  });

  it('refuse a value where an attribute has no quotes', () => {
    expect(() => html`<p class=${'a onload=x'}></p>`).to.throw('Quotes are missing: <p class=');
    expect(html`<a href="/x?days=${7}" title="a = ${'b'}">a = ${'b'}</a>`.text).to.equal(
      '<a href="/x?days=7" title="a = b">a = b</a>',
    );
  });
});
