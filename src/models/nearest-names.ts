import { distance } from 'fastest-levenshtein';

/** As many are suggested for a name that is unknown. */
const SUGGESTIONS = 3;

/** Names that contain the typed one, or are contained in it, come first; then those with the fewest letters changed. */
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
