/** The heads of the manifest that words are aligned by. */
import { expect } from 'chai';
import { join } from 'node:path';
import { alignmentHeads, type SpeechModelEntry } from '../../src/models/manifest.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';

const manifest = readManifest(packageRoot, join(packageRoot, 'models'));
const speech = manifest.models.filter((entry): entry is SpeechModelEntry => entry.kind === 'speech');

/** Layers of the decoder and heads of a layer, as OpenAI published its models. */
const SHAPES: Readonly<Record<string, [number, number]>> = {
  tiny: [4, 6],
  base: [6, 8],
  small: [12, 12],
  medium: [24, 16],
  large: [32, 20],
  'large-v3-turbo': [4, 20],
};

function shapeOf(name: string): [number, number] {
  const size = name.startsWith('large-v3-turbo') ? name : name.replace(/(\.en|-v\d)$/, '');
  return SHAPES[size]!;
}

describe('alignment heads', () => {
  it('of every published model are those of its size, whatever its weights are quantized to', () => {
    // A Parakeet model says itself when words were said.
    const published = speech.filter(({ bundled, decoder }) => bundled !== true && decoder === undefined);
    expect(published).to.have.length.above(20);
    for (const entry of published)
      expect(entry.alignmentHeads, entry.name).to.equal(entry.name.replace(/-q\d_\d$/, ''));
  });

  it('are heads that the models have, each once', () => {
    for (const [name, pairs] of Object.entries(manifest.alignmentHeads)) {
      const [layers, heads] = shapeOf(name);
      expect(pairs, name).not.to.be.empty;
      expect(new Set(pairs.map((pair) => pair.join())).size, name).to.equal(pairs.length);
      for (const [layer, head] of pairs) {
        expect(layer, name).to.be.within(0, layers - 1);
        expect(head, name).to.be.within(0, heads - 1);
      }
    }
  });

  it('are looked up by name, taken as they are, or left to the engine', () => {
    const entry = speech.find(({ name }) => name === 'base-q5_1')!;
    expect(alignmentHeads(manifest, entry)?.[0]).to.deep.equal({ layer: 3, head: 1 });
    expect(alignmentHeads(manifest, { ...entry, alignmentHeads: [[1, 2]] })).to.deep.equal([{ layer: 1, head: 2 }]);
    const { alignmentHeads: named, ...without } = entry;
    expect(named).to.equal('base');
    expect(alignmentHeads(manifest, without)).to.equal(undefined);
    expect(() => alignmentHeads(manifest, { ...entry, alignmentHeads: 'huge' })).to.throw(/"base-q5_1".*"huge"/);
  });
});
