/** The site of the manual, as build.mjs copies it beside the documents. */
import { readFileSync } from 'node:fs';
import { URL } from 'node:url';
import { slug } from 'github-slugger';

const { version, sidebar } = JSON.parse(readFileSync(new URL('site.json', import.meta.url), 'utf8'));

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export default {
  lang: 'en',
  title: 'Verbatim',
  description: `The manual of Verbatim ${version}`,
  base: '/docs/guide/',
  cleanUrls: true,
  // To switch them off it would add a style sheet to the page, which the server's policy does not permit.
  appearance: { disableTransition: false },
  // The data of all pages lie in a file of their own, not in a script within each page.
  metaChunk: true,
  markdown: {
    // Colours would be attributes "style", which the server's policy does not permit.
    highlight: (code) => `<pre tabindex="0" v-pre><code>${escaped(code)}</code></pre>`,
    anchor: { slugify: slug },
    // Braces in headings are parts of paths, not attributes.
    attrs: { disable: true },
    config(md) {
      // The same for the alignment of tables' columns.
      md.core.ruler.push('cells', ({ tokens }) => {
        tokens.forEach((token, index) => {
          const [, side] = /^text-align:(\w+)$/.exec(token.attrGet('style') ?? '') ?? [];
          if (side !== undefined) token.attrs = [['class', `align-${side}`]];
          // A head without text is none, for those who hear the page.
          const [text, end] = tokens.slice(index + 1, index + 3);
          if (token.type === 'th_open' && text.content === '') token.tag = end.tag = 'td';
        });
      });
      // Braces in code are no expressions of Vue.
      const inCode = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (tokens, index, ...rest) => {
        tokens[index].attrSet('v-pre', '');
        return inCode(tokens, index, ...rest);
      };
    },
  },
  // The index of the search has all words of the manual.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    siteTitle: `Verbatim ${version}`,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
};
