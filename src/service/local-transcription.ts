/** Transcriptions on this machine without a server, an account or a charge: what `verbatim transcribe` does. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TranslationEngine } from '../engine/translation/translation-engine.js';
import type { FileToTranscribe, SpeechEngine, Transcript } from '../engine/types.js';
import { heardIn, type HeardFile } from '../transcription/heard.js';
import { LanguageSupport } from '../transcription/language-support.js';
import type { TranscriptionOptions } from '../transcription/options.js';
import { withoutPunctuation } from '../transcription/punctuation.js';
import type { Translation } from '../transcription/result.js';
import { howToHear, spokenOf, type Spoken } from '../transcription/spoken.js';
import { translationOf } from '../transcription/translation.js';
import { warningsOf, type Warning } from '../transcription/warnings.js';
import type { Config } from './config.js';
import type { ServiceContext } from './context.js';
import { createDiarizer } from './diarizer.js';
import { DEFAULT_BATCH } from './speech-decoder.js';
import { loadEngine } from './speech-engine.js';
import { createSpeakerEngine, type Speakers } from './speaker-engine.js';
import { createTranslationEngine } from './translation-engine.js';

export interface LocalTranscription extends Spoken {
  durationSeconds: number;
  language: string;
  languageProbability: number | null;
  translation: Translation | null;
  warnings: Warning[];
  /** As the model decoded them, whether times were asked for or not. */
  decoded: Transcript['segments'];
  timings: Transcript['timings'];
}

export type LocalFile = Pick<FileToTranscribe, 'path' | 'measured' | 'transcribed'> & { signal: AbortSignal };

const ACCOUNT = 'local';

export class LocalTranscriber {
  private readonly languages: LanguageSupport;

  private constructor(
    private readonly engine: SpeechEngine,
    private readonly translator: TranslationEngine,
    private readonly speakers: Speakers,
    private readonly config: Config,
  ) {
    this.languages = new LanguageSupport(engine, translator, createDiarizer(speakers));
  }

  /** Loads the speech model that the configuration names. */
  static async load({ config, roots, manifest }: ServiceContext): Promise<LocalTranscriber> {
    const translator = createTranslationEngine(config, roots, manifest);
    const speakers = createSpeakerEngine(config, roots, manifest);
    // Whoever has the machine to himself waits for all that he asks for.
    const engine = await loadEngine({ ...config, maxBacklogSeconds: Infinity }, roots, manifest);
    return new LocalTranscriber(engine, translator, speakers, config);
  }

  /** As many as keep the decoder full while others are measured, cut and translated. */
  get filesAtOnce(): number {
    return 2 * Math.max(this.engine.stats().slots, this.config.batch ?? DEFAULT_BATCH);
  }

  /** Throws what LanguageSupport.check() throws. */
  check(options: TranscriptionOptions): void {
    this.languages.check(options);
  }

  /** Rejects as SpeechEngine.convertFile(), transcribeFile() and translationOf() do. */
  async transcribe(file: LocalFile, options: TranscriptionOptions): Promise<LocalTranscription> {
    const { path, signal } = file;
    const maxSeconds = this.config.maxAudioSeconds;
    const to = join(tmpdir(), `verbatim-${randomUUID()}.flac`);
    const converted = await this.engine.convertFile({ path, signal, maxSeconds, accountId: ACCOUNT, to });
    if (converted === null) return this.hear(file, options);
    try {
      const heard = await this.hear({ ...file, path: to }, options);
      heard.timings.readMs += converted.milliseconds;
      return heard;
    } finally {
      await rm(to, { force: true });
    }
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.translator.close();
    await this.speakers.engine?.close();
  }

  private async hear(file: LocalFile, options: TranscriptionOptions): Promise<LocalTranscription> {
    const { engine, config, languages } = this;
    const hearing = {
      ...howToHear(options, engine),
      accountId: ACCOUNT,
      path: file.path,
      signal: file.signal,
    };
    const asked = {
      ...file,
      ...hearing,
      language: options.language ?? 'auto',
      maxSeconds: config.maxAudioSeconds,
    };
    const { transcript, timeline } = await heardIn(asked, options, { engine, languages });
    const { durationSeconds, language, languageProbability, timings } = transcript;
    return {
      ...{ durationSeconds, language, languageProbability, timings },
      ...(await spokenOf(transcript, options, { timeline })),
      translation: await this.translate({ transcript, timeline }, options, hearing),
      warnings: warningsOf(transcript, engine),
      decoded: options.punctuate ? transcript.segments : withoutMarks(transcript),
    };
  }

  private async translate(
    { transcript, timeline }: HeardFile,
    options: TranscriptionOptions,
    file: Parameters<typeof translationOf>[1]['file'],
  ): Promise<Translation | null> {
    const { engine, languages } = this;
    const { translateTo: to } = options;
    if (to === null) return null;
    const { translation } = await translationOf(transcript, { to, file }, { engine, languages });
    const { text, segments, described } = await spokenOf(translation, options, { timeline });
    return { language: to, text, segments, described };
  }
}

function withoutMarks({ segments, language }: Transcript): Transcript['segments'] {
  return segments.map((segment) => ({ ...segment, text: withoutPunctuation(segment.text, language) }));
}
