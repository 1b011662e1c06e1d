/** The text of a live session, collected for its account to keep. */
import type { Segment } from '../engine/binding.js';
import { joinTexts } from '../engine/transcript-text.js';
import { newTranscriptionId } from '../transcription/billing.js';
import { captionsOf, type Caption } from '../transcription/captions.js';
import type { TranscriptToKeep } from '../transcription/keep.js';
import type { TimedText, TimedWord } from '../transcription/timed-text.js';
import type { FinalResult, SessionEvent, TranslatedResult } from './events.js';
import { speakerAt } from './session-speakers.js';

type FinalText = Pick<FinalResult, 'startSeconds' | 'endSeconds' | 'text' | 'segments' | 'language' | 'turns'>;

export class SessionTranscript {
  readonly #finals: FinalText[] = [];
  readonly #translated: Pick<TranslatedResult, 'startSeconds' | 'endSeconds' | 'text' | 'language'>[] = [];
  #seconds = 0;

  /** To be called with each event of the session. */
  happened(event: SessionEvent): void {
    if (event.type === 'progress') this.#seconds = event.seconds;
    else if (event.type === 'final' && event.text !== '') this.#finals.push(event);
    else if (event.type === 'translated') this.#translated.push(event);
  }

  /** null: nothing was recognised. `model`: the name of the one that did it. */
  async toKeep(model: string): Promise<TranscriptToKeep | null> {
    const [first] = this.#finals;
    if (first === undefined) return null;
    const { language } = first;
    const durationSeconds = Math.max(this.#seconds, ...this.#finals.map(({ endSeconds }) => endSeconds));
    const turns = this.#finals.flatMap((final) => final.turns ?? []);
    const speakerOf = speakerAt(turns);
    const spoken = turns.length === 0 ? undefined : (span: Span): string => `S${(speakerOf(span) ?? 0) + 1}`;
    const captions = await captionsOf(this.#finals.flatMap(segmentsOf), language, durationSeconds, spoken);
    const named = captions.map((caption) => withSpeaker(caption, spoken));
    return {
      ...{ id: newTranscriptionId(), durationSeconds, language, model },
      text: joinTexts(
        captions.map(({ text }) => text),
        language,
      ),
      segments: named,
      words: named.flatMap(({ words }) => words),
      translation: this.#translation(),
    };
  }

  #translation(): TranscriptToKeep['translation'] {
    const [first] = this.#translated;
    if (first === undefined) return null;
    const { language } = first;
    const segments = this.#translated.map(({ startSeconds, endSeconds, text }): TimedText => {
      return { startSeconds, endSeconds, text };
    });
    const text = joinTexts(
      segments.map((segment) => segment.text),
      language,
    );
    return { language, text, segments, described: null };
  }
}

type Span = Pick<TimedText, 'startSeconds' | 'endSeconds'>;

/** A stretch without segments is one. */
function segmentsOf({
  segments,
  text,
  startSeconds,
  endSeconds,
}: FinalText): Pick<Segment, keyof Span | 'text' | 'words'>[] {
  return segments.length > 0 ? segments : [{ startSeconds, endSeconds, text }];
}

function withSpeaker(
  caption: Caption,
  spoken: ((span: Span) => string) | undefined,
): TimedText & { words: TimedWord[] } {
  return spoken === undefined ? caption : { ...caption, speaker: spoken(caption) };
}
