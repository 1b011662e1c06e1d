/** The lint that follows the links of documents. */
import { expect } from 'chai';
import { brokenLinks } from '../../lint/documents/links.js';
import { parseDocument } from '../../lint/documents/markdown.js';

const document = (path: string, text: string) => parseDocument(path, text);

describe('Links of documents', () => {
  const target = document('docs/a.md', '# A title, with `code`\n\n## Twice\n\n## Twice\n\n<a id="mark"></a>\n');
  const brokenOf = (text: string): string[] =>
    brokenLinks([target, document('docs/b.md', text)], (path) => ['docs/a.md', 'docs/b.md', 'LICENSE'].includes(path));

  it('lead to files, headings and marks', () => {
    const links = [
      'a.md',
      'a.md#a-title-with-code',
      'a.md#twice-1',
      'a.md#mark',
      '../LICENSE',
      '#here',
      'https://x.test/y',
    ];
    const text = `## Here\n\n${links.map((link) => `[text](${link})`).join('\n')}\n\n| [cell](a.md) |\n|---|\n\n![](a.md)\n`;
    expect(brokenOf(text)).to.deep.equal([]);
  });

  it('are refused where they lead nowhere, with their line', () => {
    expect(brokenOf('One\n\n[text](c.md)\n')).to.deep.equal(['docs/b.md:3: c.md: there is no such file']);
    expect(brokenOf('[text](a.md#thrice)')).to.deep.equal([
      'docs/b.md:1: a.md#thrice: docs/a.md has no heading for this anchor',
    ]);
    expect(brokenOf('![picture](../../x.png)')[0]).to.contain('leads out of the repository');
    expect(brokenOf('[`code`](#there)')[0]).to.contain('no heading for this anchor');
  });

  it('are no links in code', () => {
    expect(brokenOf('`[text](c.md)`\n\n```md\n[text](c.md)\n```\n')).to.deep.equal([]);
  });
});
