/** The query of an address, with its question mark; what is undefined is left out. */
export function searchOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  return asked.size === 0 ? '' : `?${asked.toString()}`;
}
