/** What is said of any bytes as an ONNX file: its facts, or that it is none. */
import { expect } from 'chai';
import { EngineError } from '../../src/engine/native-errors.js';
import { integerFact, onnxFacts } from '../../src/engine/speakers/onnx-facts.js';
import { embeddingGraph, segmentationGraph } from '../engine/speakers/tones.js';
import { mutateAudio } from './mutate-audio.js';
import { onnxFile } from './onnx.js';

/** Spoils small models so many times, each seed in its own way. Returns how many of them were still read. */
export function checkSpoiltModels(count: number, seed: number): number {
  const seeds = [embeddingGraph(), segmentationGraph()].map((graph, index) => ({
    name: `${index}.onnx`,
    bytes: onnxFile({ ...graph, weights: [] }),
  }));
  let reported = 0;
  for (const { bytes, recipe } of mutateAudio(seeds, { count, seed })) {
    const facts = refusedOr(() => onnxFacts(bytes), recipe);
    if (facts === null) continue;
    reported++;
    for (const [key, value] of facts) {
      // A byte that is no UTF-8 is counted as one character of three.
      if (Buffer.byteLength(key) + Buffer.byteLength(value) > 3 * bytes.length) throw new Error(recipe);
      const number = refusedOr(() => integerFact(facts, key, 1, 1_000_000), recipe);
      if (number !== null && !(Number.isInteger(number) && number >= 1)) throw new Error(recipe);
    }
  }
  return reported;
}

/** null: refused as it is to be. */
function refusedOr<T>(work: () => T, recipe: string): T | null {
  try {
    return work();
  } catch (error) {
    expect(error, recipe).to.be.instanceOf(EngineError).and.to.have.property('code', 'invalid_model');
    return null;
  }
}
