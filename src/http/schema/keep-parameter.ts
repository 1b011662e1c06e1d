/** `keep` in the address of a live session. */
import { invalid } from './shape.js';

/** null: the client leaves it to the account's setting. Throws `invalid_request`. */
export function keepIn(query: URLSearchParams): boolean | null {
  const given = query.getAll('keep');
  if (given.length === 0) return null;
  const value = given.length === 1 ? given[0]?.toLowerCase() : undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalid('keep', 'keep must be true or false.');
}
