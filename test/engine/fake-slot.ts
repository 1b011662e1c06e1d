/** A slot that takes its time for a window, and says of it what the test wrote. */
import type {
  AudioWindow,
  DecodeOptions,
  Segment,
  SegmentDecoding,
  Slot,
  WindowResult,
  Word,
} from '../../src/engine/binding.js';
import { FakeAudioWindow, type FakeWindow } from './fake-audio.js';
import type { FakeRun, FakeTally } from './fake-tally.js';
import { nativeError, refuseCall } from './native-error.js';

export class FakeSlot implements Slot {
  busy = false;
  closed = false;

  constructor(
    private readonly engine: FakeTally,
    private readonly name: string,
  ) {
    engine.openSlots.add(name);
  }

  async transcribe(
    window: AudioWindow,
    options: DecodeOptions,
    call: { signal?: AbortSignal } = {},
  ): Promise<WindowResult> {
    if (!(window instanceof FakeAudioWindow)) throw nativeError('invalid_argument', 'Not a window.');
    refuseCall({ closed: window.released });
    if (call.signal?.aborted === true) throw nativeError('aborted');
    refuseCall(this);
    const { spec, path, index } = window;
    const run: FakeRun = {
      path,
      index,
      options,
      slot: this.name,
      startMs: this.engine.clock.now(),
      endMs: null,
      aborted: false,
    };
    this.engine.runs.push(run);
    this.busy = true;
    this.engine.busySlotsPeak = Math.max(this.engine.busySlotsPeak, ++this.engine.busySlots);
    try {
      if (!['auto', ...this.engine.settings.languages].includes(options.language)) {
        throw nativeError('unsupported_language');
      }
      await this.work(spec, run, call.signal);
      return fakeResultOf(window, options);
    } finally {
      run.endMs = this.engine.clock.now();
      this.busy = false;
      this.engine.busySlots--;
      if (this.closed) this.engine.openSlots.delete(this.name);
    }
  }

  /** Freed once no call runs. */
  close(): void {
    this.closed = true;
    if (!this.busy) this.engine.openSlots.delete(this.name);
  }

  private work(spec: FakeWindow, run: FakeRun, signal: AbortSignal | undefined): Promise<void> {
    const { clock, settings } = this.engine;
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        run.aborted = true;
        clock.after(settings.abortMs, () => reject(nativeError('aborted')));
      };
      signal?.addEventListener('abort', aborted, { once: true });
      clock.after((spec.endSeconds - spec.startSeconds) * settings.msPerSecond, () => {
        signal?.removeEventListener('abort', aborted);
        if (spec.error === undefined) resolve();
        else reject(nativeError(spec.error));
      });
    });
  }
}

export function fakeResultOf(window: FakeAudioWindow, options: DecodeOptions): WindowResult {
  const probabilities = window.spec.probabilities ?? { en: 0.97, es: 0.01, de: 0.01, fr: 0.01 };
  const detected = Object.entries(probabilities).sort((one, other) => other[1] - one[1])[0]![0];
  const language = options.language === 'auto' ? detected : options.language;
  const text = window.spec.text ?? `${language}${window.index}`;
  const { startSeconds, endSeconds } = window;
  const prefix = options.prefix?.text ?? '';
  const behind = ` ${text}`.startsWith(prefix) ? '' : prefix;
  const { averageLogProbability = -0.05, scoredTokens = 5 } = window.spec;
  return {
    segments: [
      withWords(
        {
          ...{ startSeconds, endSeconds, text: `${behind} ${text}`, noSpeechProbability: 0 },
          ...(options.describe === true ? { decoding: fakeDecoding(window, options) } : {}),
        },
        options.align === true,
      ),
    ],
    language,
    languageProbabilities: options.language === 'auto' ? probabilities : null,
    averageLogProbability: text === '' ? null : averageLogProbability,
    scoredTokens: text === '' ? 0 : scoredTokens,
    timings: {
      melMs: 1,
      encodeMs: 2,
      decodeMs: 3,
      totalMs: 6,
      tokens: 5,
      fallbacks: 0,
      encoderPasses: 1,
    },
  };
}

function fakeDecoding({ startSeconds, spec }: FakeAudioWindow, options: DecodeOptions): SegmentDecoding {
  return {
    windowStartSeconds: startSeconds,
    tokens: [50364, 11, 50414],
    averageLogProbability: spec.averageLogProbability ?? -0.05,
    temperature: options.temperature ?? 0,
  };
}

function withWords(segment: Segment, align: boolean): Segment {
  return align ? { ...segment, words: fakeWords(segment) } : segment;
}

/** As long as each other, one behind the other, each with the space before it. */
function fakeWords({ text, startSeconds, endSeconds }: Pick<Segment, 'text' | 'startSeconds' | 'endSeconds'>): Word[] {
  const texts = text.match(/ *[^ ]+(?: +$)?/g) ?? [text];
  const place = (i: number): number => startSeconds + ((endSeconds - startSeconds) * i) / texts.length;
  return texts.map((word, i) => ({
    text: word,
    startSeconds: place(i),
    endSeconds: place(i + 1),
    probability: 0.9,
  }));
}
