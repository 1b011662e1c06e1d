/** Two answers to who speaks when, side by side. */
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';

/** A stretch in which neither answer changes. */
export interface ScoredSpan {
  seconds: number;
  /** Who speaks by the reference. */
  reference: ReadonlySet<string>;
  /** Who speaks by the answer that is judged. */
  hypothesis: ReadonlySet<string>;
}

interface Change {
  at: number;
  /** Who begins (1) or ends (-1); null: a collar does. */
  of: { answer: 'reference' | 'hypothesis'; speaker: string } | null;
  by: 1 | -1;
}

/** How many turns of each speaker are open: turns of one speaker may overlap, and count once. */
class OpenTurns {
  readonly #counts = new Map<string, number>();

  add(speaker: string, by: 1 | -1): void {
    const count = (this.#counts.get(speaker) ?? 0) + by;
    if (count === 0) this.#counts.delete(speaker);
    else this.#counts.set(speaker, count);
  }

  speakers(): Set<string> {
    return new Set(this.#counts.keys());
  }
}

/**
 * The whole time line, without what lies less than `collarSeconds` before or behind a start or end of a reference turn
 * (md-eval's collar; pyannote.metrics calls the sum of both sides so). Spans in which nobody speaks are left out.
 */
export function scoredSpans(
  reference: readonly SpeakerTurn[],
  hypothesis: readonly SpeakerTurn[],
  collarSeconds = 0,
): ScoredSpan[] {
  const changes = [
    ...turnChanges('reference', reference),
    ...turnChanges('hypothesis', hypothesis),
    ...collarChanges(reference, collarSeconds),
  ].sort((one, other) => one.at - other.at);
  const open = { reference: new OpenTurns(), hypothesis: new OpenTurns() };
  let [collars, last] = [0, 0];
  const spans: ScoredSpan[] = [];
  for (const { at, of, by } of changes) {
    const span = {
      seconds: at - last,
      reference: open.reference.speakers(),
      hypothesis: open.hypothesis.speakers(),
    };
    const spoken = span.reference.size + span.hypothesis.size > 0;
    if (span.seconds > 0 && collars === 0 && spoken) spans.push(span);
    if (of === null) collars += by;
    else open[of.answer].add(of.speaker, by);
    last = at;
  }
  return spans;
}

function turnChanges(answer: 'reference' | 'hypothesis', turns: readonly SpeakerTurn[]): Change[] {
  return turns.flatMap(({ startSeconds, endSeconds, speaker }) => [
    { at: startSeconds, of: { answer, speaker }, by: 1 as const },
    { at: endSeconds, of: { answer, speaker }, by: -1 as const },
  ]);
}

function collarChanges(turns: readonly SpeakerTurn[], collarSeconds: number): Change[] {
  if (collarSeconds === 0) return [];
  return turns
    .flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])
    .flatMap((at) => [
      { at: at - collarSeconds, of: null, by: 1 as const },
      { at: at + collarSeconds, of: null, by: -1 as const },
    ]);
}

/** All who speak by the reference, and by the answer that is judged. */
export function speakersOf(turns: readonly SpeakerTurn[]): string[] {
  return [...new Set(turns.map(({ speaker }) => speaker))];
}
