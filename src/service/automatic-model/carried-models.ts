/** The published models that a machine carries: fast enough on it, and with memory for them. */
import { fastEnough, LEAST_SPEED, type Candidate, type ModelSpeeds } from '../../models/automatic-model.js';

/** No attempt will be made before the next start. */
export class GivenUp extends Error {}

type NonEmpty<T> = [T, ...T[]];

/** Best first. Throws GivenUp where the machine is too slow for all, an Error where memory is short now. */
export function carriedModels(speeds: ModelSpeeds, fits: (candidate: Candidate) => boolean): NonEmpty<Candidate> {
  const fast = fastEnough(speeds);
  const [first, ...others] = fast.filter(fits);
  if (first !== undefined) return [first, ...others];
  if (fast.length > 0) throw new Error('There is not enough free memory for a published model');
  const measured = Object.entries(speeds).map(([model, speed]) => `${model} would run at ${speed.toFixed(1)}`);
  throw new GivenUp(
    `This machine carries no published model: ${measured.join(', ') || 'none could be measured'} times real time, ` +
      `and ${LEAST_SPEED} are wanted`,
  );
}
