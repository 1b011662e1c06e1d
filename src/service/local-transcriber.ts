/** Transcribes on this machine without a server, an account or a charge, for `verbatim transcribe`. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TranslationEngine } from '../engine/translation/translation-engine.js';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { decodedSegmentsOf } from '../transcription/answer-parts.js';
import { LanguageSupport } from '../transcription/language-support.js';
import type { TranscriptionOptions } from '../transcription/options.js';
import { measureAudio, transcribeAudio, type FinishedWork } from '../transcription/work.js';
import type { Config } from './config.js';
import type { ServiceContext } from './context.js';
import { createDiarizer } from './diarizer.js';
import { DEFAULT_BATCH } from './speech-decoder.js';
import { loadEngine } from './speech-engine.js';
import { createSpeakerEngine, type Speakers } from './speaker-engine.js';
import { createTranslationEngine } from './translation-engine.js';

export interface LocalTranscription extends FinishedWork {
  /** The segments as the model decoded them, whether times were requested or not. */
  decoded: Transcript['segments'];
}

export interface LocalFile {
  path: string;
  signal: AbortSignal;
  /** Called with the file's duration. */
  onMeasured: (seconds: number) => void;
  onProgress: (seconds: number) => void;
}

const ACCOUNT = 'local';

export class LocalTranscriber {
  private readonly languages: LanguageSupport;

  private constructor(
    private readonly engine: SpeechEngine,
    private readonly translator: TranslationEngine,
    private readonly speakers: Speakers,
    private readonly config: Config,
  ) {
    this.languages = new LanguageSupport(engine.info, translator, createDiarizer(speakers));
  }

  /** Loads the configured speech model. */
  static async load({ config, roots, manifest }: ServiceContext): Promise<LocalTranscriber> {
    const translator = createTranslationEngine(config, roots, manifest);
    const speakers = createSpeakerEngine(config, roots, manifest);
    const engine = await loadEngine(config, roots, manifest);
    return new LocalTranscriber(engine, translator, speakers, config);
  }

  /** The number of files that keeps the decoder busy while others are measured, cut and translated. */
  get filesAtOnce(): number {
    return 2 * Math.max(this.engine.stats().slots, this.config.batch ?? DEFAULT_BATCH);
  }

  /** Throws as LanguageSupport.check() does. */
  check(options: TranscriptionOptions): void {
    this.languages.check(options);
  }

  /** Rejects as measureAudio() and transcribeAudio() do. */
  async transcribe(file: LocalFile, options: TranscriptionOptions): Promise<LocalTranscription> {
    const { path, signal, onMeasured, onProgress } = file;
    const { engine, languages } = this;
    const maxSeconds = this.config.maxAudioSeconds;
    const to = join(tmpdir(), `verbatim-${randomUUID()}.flac`);
    try {
      const audio = await measureAudio(engine, { path, signal, maxSeconds, accountId: ACCOUNT, to });
      onMeasured(audio.seconds);
      const order = { audio, accountId: ACCOUNT, options, signal, onProgress };
      const work = await transcribeAudio(order, { engine, languages });
      return { ...work, decoded: decodedSegmentsOf(work.transcript, options) };
    } finally {
      await rm(to, { force: true });
    }
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.translator.close();
    await this.speakers.engine?.close();
  }
}
