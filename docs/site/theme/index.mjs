/** VitePress's own theme, with the fonts of the reader's system, and a way to the service's API reference. */
import Theme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

// Outside of the site: VitePress would put the site's own path before it, and take it for a page of its own.
const reference = () => h('a', { class: 'api-reference', href: '/docs', target: '_self' }, 'API reference');

export default {
  extends: Theme,
  Layout: () => h(Theme.Layout, null, { 'nav-bar-content-after': reference, 'nav-screen-content-after': reference }),
};
