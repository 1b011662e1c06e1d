/** What the dashboard has beside its modules: one style sheet, the icons that are used, uPlot. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../../../../dist/dashboard');
const styles = join(here, 'styles');
/** Those on which the others stand; the rest follows by name. */
const FIRST = ['tokens.css', 'base.css', 'controls.css', 'components.css', 'interactive.css', 'table.css', 'shell.css'];

const read = (path) => readFileSync(path, 'utf8');
/** Of a page that has a style sheet of its own, with the same tokens. */
const DOCS = 'docs.css';
const rest = readdirSync(styles).filter((name) => !FIRST.includes(name) && name !== DOCS);
const uplot = dirname(require.resolve('uplot/package.json'));
const sheets = [...FIRST, ...rest.sort()].map((name) => join(styles, name));
writeFileSync(join(out, 'dashboard.css'), [...sheets, join(uplot, 'dist/uPlot.min.css')].map(read).join('\n'));
const docs = [FIRST[0], DOCS].map((name) => read(join(styles, name)));
writeFileSync(join(out, DOCS), docs.join('\n'));
copyFileSync(join(uplot, 'dist/uPlot.iife.min.js'), join(out, 'uplot.js'));
copyFileSync(join(here, 'icon.svg'), join(out, 'icon.svg'));

/** Lucide's shapes under our names for them: what lies between <svg> and </svg>. */
const lucide = dirname(require.resolve('lucide-static/package.json'));
const names = JSON.parse(read(join(here, '../components/icon-names.json')));
const shapes = Object.entries(names).map(([name, theirs]) => {
  const svg = read(join(lucide, 'icons', `${theirs}.svg`));
  return [name, svg.replace(/^[^]*?<svg[^]*?>\s*|\s*<\/svg>\s*$/g, '').replace(/\s*\n\s*/g, '')];
});
writeFileSync(join(out, 'icons.json'), JSON.stringify(Object.fromEntries(shapes)));
copyFileSync(join(lucide, 'LICENSE'), join(out, 'icons-license.txt'));
