/** A speech model of random weights, as fast as the machine that tests may find themselves on is slow. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBinding } from '../../src/engine/binding.js';

/** The file of a Whisper model of one layer, which writes one word. */
export async function smallModel(): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-small-model-'));
  try {
    const path = join(directory, 'model.bin');
    await loadBinding().writeRandomModel(path, { shape: 'tiny', weights: 'q8_0', audioLayers: 1, textTokens: 1 });
    return readFileSync(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
