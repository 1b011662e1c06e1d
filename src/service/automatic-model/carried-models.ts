/** The published models that a machine can run: it is fast enough and has enough memory. */
import { fastEnough, LEAST_SPEED, type Candidate, type ModelSpeeds } from '../../models/automatic-model.js';

/** No further attempt is made before the next start. */
export class GivenUp extends Error {}

type NonEmpty<T> = [T, ...T[]];

/** Best first. Throws GivenUp if the machine is too slow for all models, or an Error if memory is short now. */
export function carriedModels(speeds: ModelSpeeds, fits: (candidate: Candidate) => boolean): NonEmpty<Candidate> {
  const fast = fastEnough(speeds);
  const [first, ...others] = fast.filter(fits);
  if (first !== undefined) return [first, ...others];
  if (fast.length > 0) throw new Error('There is not enough free memory for a published model');
  const measured = Object.entries(speeds).map(([model, speed]) => `${model} would run at ${speed.toFixed(1)}`);
  throw new GivenUp(
    'No published model is fast enough on this machine: ' +
      `${measured.join(', ') || 'none could be measured'} times real time, and ${LEAST_SPEED} are required`,
  );
}
