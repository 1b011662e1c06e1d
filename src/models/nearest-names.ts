import { distance } from 'fastest-levenshtein';

/** The number of names that are suggested for an unknown name. */
const SUGGESTIONS = 3;

/**
 * Names that contain the typed one, or are contained in it, come first. Then come the names with the smallest edit
 * distance.
 */
export function nearestNames(typed: string, names: readonly string[]): string[] {
  const wanted = typed.toLowerCase();
  return names
    .map((name) => ({
      name,
      isPart: isPart(wanted, name.toLowerCase()),
      distance: distance(wanted, name.toLowerCase()),
    }))
    .sort((one, other) => Number(other.isPart) - Number(one.isPart) || one.distance - other.distance)
    .slice(0, SUGGESTIONS)
    .map(({ name }) => name);
}

function isPart(one: string, other: string): boolean {
  return one !== '' && (one.includes(other) || other.includes(one));
}
