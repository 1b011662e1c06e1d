/** Whatever the registry of imported models holds, it is read or refused in a sentence that names it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedModels } from '../../src/models/entry-shape.js';
import type { ModelEntry, SpeechModelEntry } from '../../src/models/manifest.js';
import { IMPORTED_FILE, readImported, readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';

const SPEECH: SpeechModelEntry = {
  kind: 'speech',
  languages: 'whisper',
  ...{ name: 'mine', licence: 'unknown', source: 'imported from mine.bin', windows: 'full' },
  ...{ file: 'ggml-mine.bin', size: 3, sha256: 'a'.repeat(64) },
};

/** Of each kind one of the package's own, and an imported one. */
const entries: readonly ModelEntry[] = [
  SPEECH,
  ...new Map(
    readManifest(packageRoot, join(tmpdir(), 'no such directory')).models.map((model) => [model.kind, model]),
  ).values(),
];

/** A path into a value, and what is to stand there. */
function changedAt(value: unknown, path: readonly number[], change: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== 'object' || value === null) return change;
  const keys = Object.keys(value);
  const key = keys[first % Math.max(1, keys.length)] ?? 'added';
  const changed = changedAt((value as Record<string, unknown>)[key], rest, change);
  if (Array.isArray(value)) return value.map((item, index): unknown => (String(index) === key ? changed : item));
  return { ...value, [key]: changed };
}

describe('The registry of imported models', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-registry-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function refusal(text: string): string {
    writeFileSync(join(directory, IMPORTED_FILE), text);
    try {
      readImported(directory);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  it('may have each kind of model, and comes before the models of the package', () => {
    const own = entries.map((entry) => ({ ...entry, source: 'imported' }));
    expect(refusal(JSON.stringify({ models: own }))).to.equal('');
    expect(readImported(directory)).to.deep.equal(own);
    const { models } = readManifest(packageRoot, directory);
    expect(models.filter(({ source }) => source === 'imported')).to.deep.equal(own);
    expect(new Set(models.map(({ name }) => name)).size).to.equal(models.length);
    mkdirSync(join(directory, 'empty'));
    expect(readImported(join(directory, 'empty'))).to.deep.equal([]);
  });

  for (const [what, value, problem] of [
    ['nothing', null, 'has no list "models"'],
    ['a list', [], 'has no list "models"'],
    ['models that are none', { models: 'mine' }, 'has no list "models"'],
    ['an entry of nothing', { models: [SPEECH, null] }, 'models[1] has no kind that is known; allowed: speech, '],
    ['an unknown kind', { models: [{ ...SPEECH, kind: 'song' }] }, 'models[0] has no kind that is known'],
    ['no file', { models: [{ ...SPEECH, file: undefined }] }, 'models[0] (speech): '],
    ['a size below 0', { models: [{ ...SPEECH, size: -1 }] }, 'models[0] (speech): /size must be >= 0'],
    ['a short hash', { models: [{ ...SPEECH, sha256: 'abc' }] }, 'models[0] (speech): /sha256 must match'],
    ['a gain for a loss', { models: [{ ...SPEECH, minAverageLogProbability: 1 }] }, '/minAverageLogProbability'],
  ] as const) {
    it(`with ${what} is refused by name`, () => {
      const message = refusal(JSON.stringify(value));
      expect(message).to.include(join(directory, IMPORTED_FILE)).and.to.include(problem);
    });
  }

  it('of any text is read or refused, and never anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(refusal(text)).to.match(/^$|is not valid JSON|has no list "models"|models\[\d+\]/);
      }),
      { numRuns: 200 },
    );
  });

  it('with one thing changed is read or refused, and what is read has what its users take for granted', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...entries),
        fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
        fc.jsonValue({ maxDepth: 2 }),
        (entry, path, change) => {
          let models: ModelEntry[];
          try {
            models = checkedModels({ models: [changedAt(entry, path, change)] }, 'registry');
          } catch (error) {
            expect((error as Error).message).to.match(/^registry: models\[0\] /);
            return;
          }
          for (const model of models) {
            expect(model.name).to.be.a('string');
            const files = model.kind === 'translation' ? model.files : [model];
            for (const { file, size } of files)
              expect([typeof file, typeof (size ?? 0)]).to.deep.equal(['string', 'number']);
            if (model.kind === 'translation')
              expect([...model.from, ...model.to].every((code) => typeof code === 'string')).to.equal(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
