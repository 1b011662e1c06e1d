/** From how the share of the work grows: seconds until it is done; null: nothing is done yet. */
export function eta(now: () => number = () => performance.now()): (share: number) => number | null {
  let begun: { at: number; share: number } | null = null;
  return (share) => {
    begun ??= { at: now(), share };
    const done = share - begun.share;
    if (done <= 0) return null;
    return ((now() - begun.at) / 1000 / done) * (1 - share);
  };
}
