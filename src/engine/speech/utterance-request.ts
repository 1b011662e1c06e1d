/** A live session's utterance as a request of one window. */
import type { AudioWindow, DecodeOptions, NativeBinding } from '../binding.js';
import { byServiceCode, fromWhisperLanguage, toWhisperLanguage } from '../languages.js';
import { SAMPLE_RATE } from '../sample-rate.js';
import type { RecognisedUtterance, UtteranceToRecognise } from '../types.js';
import { initialPrompt } from './initial-prompt.js';
import type { FinishedWindow, WindowedRequest, WindowRunner } from './request-queue.js';
import type { CutWindow } from './window-reader.js';
import { PADDED_WINDOW_SECONDS, type RequestContext } from './windowed-transcription.js';

const FULL_SCALE = 32_768;

export class UtteranceRequest implements WindowedRequest {
  readonly background = false;
  readonly deadline: number | null;
  readonly yields: boolean;
  private readonly arrivedAt: number;
  private cutWindow: AudioWindow | null = null;
  private hasBegun = false;
  private finished: FinishedWindow | null = null;

  /** `language`: of the utterance's, what the engine is to decode it in. */
  constructor(
    private readonly utterance: UtteranceToRecognise,
    private readonly language: string,
    private readonly context: RequestContext,
    private readonly binding: Pick<NativeBinding, 'createWindow'>,
  ) {
    const { dueInMs } = utterance;
    this.arrivedAt = context.clock.now();
    this.deadline = dueInMs === null ? null : this.arrivedAt + dueInMs;
    this.yields = dueInMs === null;
  }

  get accountId(): string {
    return this.utterance.accountId;
  }

  get seconds(): number {
    return this.utterance.samples.length / SAMPLE_RATE;
  }

  get audioLeftSeconds(): number {
    return this.hasBegun ? 0 : this.seconds;
  }

  get hasMore(): boolean {
    return this.cutWindow === null;
  }

  cut(): Promise<CutWindow> {
    const { samples, startSample } = this.utterance;
    const window = this.binding.createWindow(toFloats(samples), startSample);
    this.cutWindow = window;
    const { seconds } = this;
    return Promise.resolve({ window, index: 0, seconds, advanceSeconds: seconds, readyAt: this.context.clock.now() });
  }

  mayRun(): boolean {
    return true;
  }

  costSeconds({ seconds }: CutWindow): number {
    return this.context.policy.ownLength ? Math.max(1, seconds) : PADDED_WINDOW_SECONDS;
  }

  async run(cut: CutWindow, runner: WindowRunner, signal: AbortSignal): Promise<void> {
    const start = this.context.clock.now();
    this.hasBegun = true;
    const finished = await runner.transcribe(cut.window, this.decodeOptions(), signal);
    this.finished = finished;
    this.measure(finished, start);
  }

  /** Once it has run. */
  result(): RecognisedUtterance {
    if (this.finished === null) throw new Error('The utterance has not been transcribed.');
    const { language, languageProbabilities, averageLogProbability, scoredTokens } = this.finished.result;
    const segments = this.finished.result.segments.filter(({ text }) => text.trim() !== '');
    const byText = this.context.textLanguage?.(segments.map(({ text }) => text).join(' ')) ?? null;
    const probabilities = this.language === 'auto' ? (byText ?? languageProbabilities) : null;
    return {
      language: likeliest(byText) ?? fromWhisperLanguage(language),
      languageProbabilities: probabilities === null ? null : byServiceCode(probabilities),
      ...{ segments, averageLogProbability, scoredTokens, workMs: this.finished.workMs },
    };
  }

  private decodeOptions(): DecodeOptions {
    const { policy, textLanguage, languages } = this.context;
    const { languageGuess: guess, prompt: given = '', align = false, describe = false, prefix } = this.utterance;
    const detects = this.language === 'auto' && textLanguage === null;
    const prompt = initialPrompt(given);
    const known = this.language === 'auto' ? (languages[0] ?? 'en') : this.language;
    return {
      language: detects ? 'auto' : toWhisperLanguage(known),
      ...(detects && guess !== undefined ? { languageGuess: toWhisperLanguage(guess) } : {}),
      task: 'transcribe',
      ...(prompt === '' ? {} : { initialPrompt: prompt }),
      ownLength: policy.ownLength,
      ...(align ? { align } : {}),
      ...(describe ? { describe } : {}),
      ...(prefix === undefined ? {} : { prefix }),
    };
  }

  private measure({ result, workMs }: FinishedWindow, start: number): void {
    const { clock, realTimeFactor, observer } = this.context;
    // A result that may change is no progress through audio.
    realTimeFactor.add(workMs / 1000, this.yields ? 0 : this.seconds);
    const { tokens, fallbacks, melMs, encodeMs, decodeMs } = result.timings;
    observer?.windowDone({
      queueMs: start - this.arrivedAt,
      inferenceMs: clock.now() - start,
      audioSeconds: this.seconds,
      ...{ tokens, fallbacks, melMs, encodeMs, decodeMs },
    });
  }
}

function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let i = 0; i < samples.length; i++) floats[i] = (samples[i] ?? 0) / FULL_SCALE;
  return floats;
}

function likeliest(shares: Readonly<Record<string, number>> | null): string | null {
  const [best] = Object.entries(shares ?? {}).sort(([, one], [, other]) => other - one);
  return best?.[0] ?? null;
}
