import type { EngineCell } from '../engine/engine-cells.js';
import type { EnginePass } from '../engine/engine-pass.js';
import type { Config } from '../../src/service/config.js';
import type { BenchParts } from './parts.js';
import { type BenchModel } from './bench-models.js';
import { clipsOf, type WorkOptions } from './setup.js';

/**
 * How a sweep and a search measure a cell of these models: in a process of its own, on the clips that the options name.
 */
export function cellMeasurer(
  models: readonly BenchModel[],
  { accelerator }: Pick<Config, 'accelerator'>,
  options: WorkOptions,
  { measureInProcess }: BenchParts,
): (cell: EngineCell) => Promise<EnginePass> {
  const { clients, repeat, language } = options;
  const clips = clipsOf(options.clips);
  return (cell) => {
    const model = models.find(({ path }) => path === cell.modelPath);
    if (model === undefined) throw new Error(`${cell.modelPath} is none of the models.`);
    const { policy, languages } = model;
    return measureInProcess({ cell, policy, languages, accelerator, clips, clients, repeat, language });
  };
}
