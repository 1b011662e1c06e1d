/** The rule by which a machine gets its model. */
import { expect } from 'chai';
import { CANDIDATES, fastEnough, nextToMeasure, type ModelSpeeds } from '../../src/models/automatic-model.js';
import { findModel } from '../../src/models/manifest.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { modelFiles } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';

const [TURBO, SMALL, BASE, TINY] = CANDIDATES.map(({ model }) => model) as [string, string, string, string];

/** What is measured of a machine with these speeds, in that order. */
function measured(machine: ModelSpeeds, fits: (model: string) => boolean = () => true): string[] {
  const speeds: Record<string, number> = {};
  const isFit = ({ model }: { model: string }): boolean => fits(model);
  for (let next = nextToMeasure(speeds, isFit); next !== null; next = nextToMeasure(speeds, isFit)) {
    speeds[next.model] = machine[next.model] ?? 0;
  }
  return Object.keys(speeds);
}

describe('the automatic choice of a model', () => {
  it('is among published models whose size and checksum are known, multilingual and recommended ones, best first', () => {
    const manifest = readManifest(packageRoot, '/nonexistent');
    const sizes = CANDIDATES.map(({ model }) => {
      const entry = findModel(manifest, model);
      expect(entry, model).to.include({ kind: 'speech', languages: 'whisper', recommended: true });
      const [file] = modelFiles(entry);
      expect(file?.sha1 ?? file?.sha256, model).to.match(/^[0-9a-f]{40,64}$/);
      return file?.size ?? Number.NaN;
    });
    expect(sizes).to.deep.equal(sizes.toSorted((a, b) => b - a));
  });

  it('measures base first, and larger models only while the machine may carry them', () => {
    expect(measured({ [BASE]: 100, [SMALL]: 30, [TURBO]: 5 })).to.deep.equal([BASE, SMALL, TURBO]);
    expect(measured({ [BASE]: 20, [SMALL]: 5.9 })).to.deep.equal([BASE, SMALL]);
    expect(measured({ [BASE]: 5.9 })).to.deep.equal([BASE]);
    expect(measured({ [BASE]: 2.9, [TINY]: 4 })).to.deep.equal([BASE, TINY]);
  });

  it('measures nothing that finds no room', () => {
    const speeds = { [BASE]: 100, [SMALL]: 30, [TURBO]: 5, [TINY]: 200 };
    expect(measured(speeds, (model) => model !== TURBO)).to.deep.equal([BASE, SMALL]);
    expect(measured(speeds, (model) => model === TINY)).to.deep.equal([TINY]);
    expect(measured(speeds, () => false)).to.deep.equal([]);
  });

  it('never takes one that is slower than 3 times real time', () => {
    const chosen = (speeds: ModelSpeeds): string[] => fastEnough(speeds).map(({ model }) => model);
    expect(chosen({ [BASE]: 100, [SMALL]: 30, [TURBO]: 3 })).to.deep.equal([TURBO, SMALL, BASE]);
    expect(chosen({ [BASE]: 9, [SMALL]: 2.99 })).to.deep.equal([BASE]);
    expect(chosen({ [BASE]: 1, [TINY]: 2 })).to.deep.equal([]);
  });
});
