import { expect } from 'chai';
import { CANDIDATES } from '../../../src/models/automatic-model.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { packageRoot } from '../../../src/package-root.js';
import { roomForModels } from '../../../src/service/automatic-model/room-for-models.js';

const GIB = 2 ** 30;

describe('Room for published models', () => {
  const manifest = readManifest(packageRoot, '/nonexistent');

  function fitting(free: () => number | null, logged: unknown[] = []): string[] {
    const fits = roomForModels(manifest, { info: (fields: unknown) => void logged.push(fields) }, free);
    // As of two attempts.
    CANDIDATES.filter(fits);
    return CANDIDATES.filter(fits).map(({ model }) => model);
  }

  it('is what their table says, and the log names once each that finds none', () => {
    const logged: { model: string; neededBytes: number; freeBytes: number }[] = [];
    expect(fitting(() => 0.6 * GIB, logged)).to.deep.equal(['base-q8_0', 'tiny-q8_0']);
    expect(logged.map(({ model }) => model)).to.deep.equal(['large-v3-turbo-q8_0', 'small-q8_0']);
    for (const { neededBytes, freeBytes } of logged) {
      expect(freeBytes).to.equal(0.6 * GIB);
      expect(neededBytes).to.be.above(freeBytes);
    }
    expect(fitting(() => 0.8 * GIB)).to.deep.equal(['small-q8_0', 'base-q8_0', 'tiny-q8_0']);
    expect(fitting(() => 0.4 * GIB)).to.have.length(1);
    expect(fitting(() => 0)).to.deep.equal([]);
  });

  it('is there where nobody knows', () => {
    expect(fitting(() => null)).to.have.length(CANDIDATES.length);
  });
});
