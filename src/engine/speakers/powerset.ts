/**
 * Who speaks in a frame, as one class of many: nobody, one of a few speakers, or several of them (Plaquet and Bredin
 * 2023, "Powerset multi-class cross entropy loss for neural speaker diarization"). The order of classes: nobody, each
 * speaker alone, then pairs.
 */

/** The speakers, from 0, of each class. */
export function powersetClasses(speakers: number, atOnce: number): number[][] {
  const classes: number[][] = [[]];
  let last: number[][] = [[]];
  for (let size = 1; size <= atOnce; size++) {
    last = last.flatMap((members) =>
      range(speakers)
        .filter((speaker) => speaker > (members.at(-1) ?? -1))
        .map((speaker) => [...members, speaker]),
    );
    classes.push(...last);
  }
  return classes;
}

/**
 * [frames, classes] of log-probabilities -> [speakers, frames] of the probability that each speaks, in 255ths. Values
 * that are not finite count as nobody.
 */
export function speakerActivity(
  logProbabilities: Float32Array,
  classes: readonly (readonly number[])[],
  speakers: number,
): Uint8Array {
  const frames = Math.floor(logProbabilities.length / classes.length);
  const activity = new Float32Array(speakers * frames);
  for (let frame = 0; frame < frames; frame++)
    for (const [index, members] of classes.entries()) {
      const probability = Math.exp(logProbabilities[frame * classes.length + index] ?? -Infinity);
      for (const speaker of members) {
        const place = speaker * frames + frame;
        activity[place] = (activity[place] ?? 0) + probability;
      }
    }
  return Uint8Array.from(activity, (probability) => (probability > 0 ? Math.round(255 * Math.min(1, probability)) : 0));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
