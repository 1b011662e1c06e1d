/** Writes what documents say of the code: `npm run generate:docs`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { apiParts } from './api-page.js';
import { withParts, type Parts } from './marked-parts.js';
import { settingsParts } from './settings-page.js';

/** The documents, and what makes their parts. */
export const GENERATED_DOCUMENTS: Readonly<Record<string, () => Parts>> = {
  'docs/settings.md': settingsParts,
  'docs/api.md': apiParts,
};

export async function generated(document: string): Promise<{ is: string; should: string }> {
  const is = readFileSync(join(packageRoot, document), 'utf8');
  return { is, should: await withParts(is, GENERATED_DOCUMENTS[document]?.() ?? {}) };
}

async function generate(): Promise<void> {
  for (const document of Object.keys(GENERATED_DOCUMENTS)) {
    const { should } = await generated(document);
    writeFileSync(join(packageRoot, document), should);
  }
}

if (require.main === module) void generate();
