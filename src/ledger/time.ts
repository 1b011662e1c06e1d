/** Milliseconds since 1970, UTC, as stored times are: what people call the time. Tests inject their own. */
export type WallClock = () => number;

export const DAY_MS = 86_400_000;

const ISO_DATE =
  /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

export function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function toIsoOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : toIso(milliseconds);
}

/** Days since 1970-01-01, UTC. */
export function utcDay(milliseconds: number): number {
  return Math.floor(milliseconds / DAY_MS);
}

export function dateOfDay(day: number): string {
  return toIso(day * DAY_MS).slice(0, 10);
}

/** null unless it is an ISO 8601 date (its first moment, UTC) or a date and time with Z or an offset. */
export function parseIso(text: string): number | null {
  const date = ISO_DATE.exec(text)?.[1];
  if (date === undefined) return null;
  const midnight = Date.parse(date);
  if (Number.isNaN(midnight) || toIso(midnight).slice(0, 10) !== date) return null; // 30 February
  return Date.parse(text);
}
