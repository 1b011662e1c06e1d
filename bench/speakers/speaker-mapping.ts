import { munkres } from 'munkres';

/** Which speaker of an answer stands for which of the reference: one for one. */
export type SpeakerMapping = ReadonlyMap<string, string>;

/** The mapping of the greatest sum of `worth` (Kuhn and Munkres); pairs that are worth nothing are not in it. */
export function bestMapping(
  reference: readonly string[],
  hypothesis: readonly string[],
  worth: (reference: string, hypothesis: string) => number,
): SpeakerMapping {
  if (reference.length === 0 || hypothesis.length === 0) return new Map();
  const costs = reference.map((one) => hypothesis.map((other) => -worth(one, other)));
  const mapping = new Map<string, string>();
  for (const [row, column] of munkres(costs)) {
    const [one, other] = [reference[row], hypothesis[column]];
    if (one !== undefined && other !== undefined && worth(one, other) > 0) mapping.set(other, one);
  }
  return mapping;
}
