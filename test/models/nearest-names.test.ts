import { expect } from 'chai';
import { findModel } from '../../src/models/manifest.js';
import { nearestNames } from '../../src/models/nearest-names.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';

describe('The nearest names of models', () => {
  const NAMES = ['base', 'base.en', 'large-v3', 'large-v3-turbo', 'large-v3-turbo-q8_0', 'small', 'tiny'];
  const near = (typed: string): string[] => nearestNames(typed, NAMES);

  it('are three: those that differ in the fewest letters', () => {
    expect(near('bsae')).to.deep.equal(['base', 'base.en', 'small']);
    expect(near('SMAL')[0]).to.equal('small');
    expect(near('large_v3')[0]).to.equal('large-v3');
    expect(nearestNames('bsae', ['base'])).to.deep.equal(['base']);
  });

  it('are above all those that share a whole name', () => {
    expect(near('turbo')).to.deep.equal(['large-v3-turbo', 'large-v3-turbo-q8_0', 'tiny']);
    expect(near('openai/whisper-large-v3-turbo').slice(0, 2)).to.deep.equal(['large-v3-turbo', 'large-v3']);
  });

  it('are named by the refusal of a model that is unknown, all of one manifest', () => {
    const manifest = readManifest(packageRoot, packageRoot);
    expect(() => findModel(manifest, 'large')).to.throw(
      'There is no model "large". The nearest names are large-v1, large-v2, large-v3; ' +
        '`npx verbatim models list --all` shows all.',
    );
  });
});
