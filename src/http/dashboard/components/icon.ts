/** Lucide's icons, drawn in the text's colour. The build takes those of icon-names.json from the package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../package-root.js';
import { html, Html } from '../html.js';
import type names from './icon-names.json';

export type IconName = keyof typeof names;

const BUILT = join(packageRoot, 'dist', 'dashboard', 'icons.json');
let shapes: Readonly<Record<string, string>> | null = null;

/** Says nothing to those who are read to: the text beside it does. Throws an Error when it was not built. */
export function icon(name: IconName): Html {
  shapes ??= JSON.parse(readFileSync(BUILT, 'utf8')) as Record<string, string>;
  const shape = shapes[name];
  if (shape === undefined) throw new Error(`${BUILT} has no icon ${name}; run: npm run build:ts`);
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${new Html(shape)}</svg>`;
}
