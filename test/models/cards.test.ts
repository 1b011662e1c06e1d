/** The cards in models/README.md, the manifest and the files on disk say the same. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { readManifest } from '../../src/models/read-manifest.js';
import { modelFiles } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';

const LANGUAGES: Record<string, string> = { English: 'en', Spanish: 'es', German: 'de', French: 'fr' };
const models = join(packageRoot, 'models');
const bundled = readManifest(packageRoot, models).models.filter((entry) => entry.bundled === true);
const text = readFileSync(join(models, 'README.md'), 'utf8');

/** The rows of a model's first table, by their first cell. */
function cardOf(name: string): Map<string, string> {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${name} (`)) ?? '';
  const rows = [...section.matchAll(/^\| ([a-z]+) +\| (.*?) *\|$/gm)];
  return new Map(rows.map(([, field, value]) => [field!, value!]));
}

describe('model cards', () => {
  it('are there for every bundled model, and for no other', () => {
    const named = [
      ...text.matchAll(/^## (\S+) \((speech|translation|speaker segmentation|speaker embedding)\)$/gm),
    ].map(([, name, kind]) => [name, kind!.replace(' ', '-')]);
    expect(named).to.deep.equal(bundled.map(({ name, kind }) => [name, kind]));
  });

  for (const entry of bundled) {
    it(`${entry.name}: place, size, checksum, licence and languages are the manifest's`, () => {
      const card = cardOf(entry.name);
      const files = modelFiles(entry);
      const where = card.get('file') ?? card.get('directory') ?? '';
      expect(where).to.contain(entry.kind === 'translation' ? `\`${entry.directory}/\`` : `\`${entry.file}\``);
      const bytes = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
      expect(where).to.contain(`, ${(bytes / 1e6).toFixed(1)} MB,`);
      const weights = files.find(({ file }) => /^((ggml-.*|model)\.bin|speaker-.*\.onnx)$/.test(basename(file)));
      expect(where).to.contain(`SHA-256 \`${weights!.sha256!.slice(0, 8)}…${weights!.sha256!.slice(-6)}\``);
      expect(card.get('licence')).to.equal(entry.licence);
      const languages = (card.get('languages') ?? '').split(', ').map((language) => LANGUAGES[language]);
      if (entry.kind === 'speech') expect(languages).to.deep.equal(entry.languages);
      if (entry.kind === 'speaker-embedding') {
        if (entry.languages === 'any') expect(card.get('languages')).to.equal('any');
        else expect(languages).to.deep.equal(entry.languages);
        expect(card.get('traits')).to.equal(`threshold ${entry.threshold}, at least ${entry.minSeconds} s of a voice`);
      }
      if (entry.kind === 'translation') {
        expect(languages).to.deep.equal(entry.from);
        expect(languages).to.deep.equal(entry.to);
      }
    });

    it(`${entry.name}: the files are those of the manifest`, () => {
      for (const { file, size, sha256 } of modelFiles(entry)) {
        const bytes = readFileSync(join(models, file));
        expect(bytes.length, file).to.equal(size);
        expect(createHash('sha256').update(bytes).digest('hex'), file).to.equal(sha256);
      }
    });
  }

  it('report the floor of the speech model', () => {
    for (const entry of bundled) {
      if (entry.kind !== 'speech') continue;
      expect(text).to.contain(`\`minAverageLogProbability\`, ${entry.minAverageLogProbability}.`);
    }
  });
});
