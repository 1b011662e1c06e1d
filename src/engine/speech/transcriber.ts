import { fromWhisperLanguage } from '../languages.js';
import { VerbatimError } from '../../errors.js';
import { convertFile, type Converter } from './audio-conversion.js';
import { AudioFile, measureFile, type AudioSource } from './audio-file.js';
import { AudioWorkers } from './audio-workers.js';
import { describeCard } from '../devices.js';
import type {
  AcceleratorMode,
  AttentionHead,
  NativeBinding,
  SpeechAbilities,
  SpeechModelInfo,
  VoiceActivityModel,
  WeightCacheOptions,
  WeightCacheReport,
  WindowPolicy,
} from '../binding.js';
import { systemClock, type Clock } from '../clock.js';
import { EngineError, failRequest } from '../native-errors.js';
import { initialPrompt } from './initial-prompt.js';
import { SAMPLE_RATE } from '../sample-rate.js';
import { MeasuringQueue, type MeasuringLimits } from './measuring-queue.js';
import { RealTimeFactor } from './real-time-factor.js';
import { loadTextLanguage, type TextLanguage } from './text-language.js';
import { loadSpeechModels, type SpeechDecoder, type SpeechModels } from './speech-models.js';
import { UtteranceRequest } from './utterance-request.js';
import { WindowedTranscription, type RequestContext, type RequestInput } from './windowed-transcription.js';
import type {
  EngineAbilities,
  EngineInfo,
  EngineLoad,
  EngineObserver,
  FileToConvert,
  FileToMeasure,
  FileToTranscribe,
  OnWindow,
  RecognisedUtterance,
  SpeechEngine,
  Transcript,
  UtteranceToRecognise,
} from '../types.js';

export interface SpeechEngineOptions {
  binding: NativeBinding;
  modelPath: string;
  modelName: string;
  /** How the model wants its audio cut. */
  policy: WindowPolicy;
  /**
   * The languages the model is good at, of those it has tokens for; default all of these. Required where its file names
   * none.
   */
  languages?: readonly string[];
  /** Whether the model was trained for Whisper's translate task. */
  translates?: boolean;
  /** Shows that the service works, and knows no real recordings. */
  isDemonstration?: boolean;
  /** Text of windows with a lower average log-probability is left out; default: none is. See confidentResults(). */
  minAverageLogProbability?: number;
  /** The path of the voice activity model; null: all sound above the background counts as speech. */
  voiceActivityModel?: string | null;
  /** By which words are aligned; see RecogniserOptions. */
  alignmentHeads?: readonly AttentionHead[];
  /** Of the batched decoder; see RecogniserOptions. */
  weightCache?: WeightCacheOptions;
  decoder: SpeechDecoder;
  /** Ids from resolveDevices(); each gets the model and its own slots. SpeechModelsOptions says who names several. */
  devices: readonly string[];
  /** On one device: windows, or units of work of the batched decoder, that are computed at once. */
  slots: number;
  /** CPU threads a slot; see SpeechModelsOptions. */
  threads: number;
  cores?: number;
  /** Of models on a CPU; see SpeechModelOptions. */
  accelerator: AcceleratorMode;
  /** Reads what browsers, phones and cameras record: a path, or a name in the directories where programs are. */
  ffmpeg: string;
  observer?: EngineObserver;
  clock?: Clock;
}

/** An engine in this process. */
export interface LocalSpeechEngine extends SpeechEngine {
  /** As WindowScheduler.limit(). */
  limitLanes(lanes: number): Promise<void>;
  /** null without a cache. */
  readonly weightCache: WeightCacheReport | null;
}

/** Native calls on audio files at once; the rest of the thread pool belongs to the slots, files and DNS. */
export const AUDIO_WORKERS = 3;

/** Of these, one at least is left to what is paid for. */
export const MEASURING: MeasuringLimits = {
  ...{ atOnce: 2, open: 4, openPerAccount: 1, inGrace: 4 },
  ...{ demotedAtOnce: 1, demotedOpen: 2, demotedPause: 4 },
};

/** Loads the model on every device. Rejects with the addon's error, and leaves nothing loaded. */
export async function createSpeechEngine(options: SpeechEngineOptions): Promise<LocalSpeechEngine> {
  const { clock = systemClock, observer, policy } = options;
  const windowSeconds = policy.maxSeconds;
  const voice = await loadVoice(options);
  let models: SpeechModels | null = null;
  try {
    models = await loadSpeechModels({ ...options, windowSeconds, clock, observer });
    const languages = languagesOf(models.infos, options.languages);
    const textLanguage = can(models.infos, 'detectsLanguage') ? null : await loadTextLanguage(languages);
    return new Transcriber(options, { models, voice, languages, textLanguage }, clock);
  } catch (error) {
    models?.close();
    voice?.close();
    throw error;
  }
}

async function loadVoice({
  binding,
  voiceActivityModel: path = null,
}: SpeechEngineOptions): Promise<VoiceActivityModel | null> {
  return path === null ? null : binding.loadVoiceActivityModel(path);
}

interface Loaded {
  models: SpeechModels;
  voice: VoiceActivityModel | null;
  languages: readonly string[];
  textLanguage: TextLanguage | null;
}

class Transcriber implements LocalSpeechEngine {
  readonly info: EngineInfo;
  readonly weightCache: WeightCacheReport | null;
  private readonly models: SpeechModels;
  private readonly binding: NativeBinding;
  private readonly source: AudioSource;
  private readonly converter: Converter;
  private readonly context: RequestContext;
  private closing: Promise<void> | null = null;

  constructor(options: SpeechEngineOptions, { models, voice, languages, textLanguage }: Loaded, clock: Clock) {
    const { binding, policy, observer } = options;
    this.models = models;
    this.binding = binding;
    const { infos, scheduler } = models;
    // The batched decoder works on one device.
    this.weightCache = infos[0]?.weightCache ?? null;
    const realTimeFactor = new RealTimeFactor(scheduler.load().slots);
    this.info = {
      languages,
      translatesToEnglish: options.translates === true && infos[0]?.abilities.translates === true,
      abilities: abilitiesOf(infos, languages.length === 1 || textLanguage !== null),
      alignsWords: true,
      commits: can(infos, 'takesPrefix') ? 'prefix' : can(infos, 'timesWords') ? 'words' : null,
      devices: { ids: options.devices, name: [...new Set(infos.map((info) => deviceName(info, options)))].join(', ') },
      modelName: options.modelName,
      voiceActivity: voice === null ? 'energy' : 'silero',
      windowSeconds: policy.maxSeconds,
      minAverageLogProbability: options.minAverageLogProbability ?? null,
      isDemonstration: options.isDemonstration === true,
    };
    const workers = new AudioWorkers(AUDIO_WORKERS);
    const measuring = new MeasuringQueue(MEASURING, workers, clock, () => scheduler.load().windowsInFlight > 0);
    this.source = { binding, policy, voice, workers, measuring, clock };
    this.converter = { ffmpeg: options.ffmpeg, measuring, clock };
    this.context = {
      ...{ policy, languages, textLanguage, clock, realTimeFactor, observer },
      minAverageLogProbability: options.minAverageLogProbability ?? null,
    };
  }

  async convert(file: FileToConvert): Promise<boolean> {
    this.refuseWhenClosing();
    try {
      return await convertFile(this.converter, file);
    } catch (error) {
      return failRequest(error, file.signal);
    }
  }

  async measure(file: FileToMeasure): Promise<number> {
    this.refuseWhenClosing();
    return measureFile(this.source, file);
  }

  async transcribe(file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> {
    this.refuseWhenClosing();
    const language = this.chooseLanguage(file.language);
    const audio = await AudioFile.open(this.source, file);
    try {
      this.refuseWhenClosing();
      const {
        accountId,
        background = false,
        task = 'transcribe',
        align = false,
        describe = false,
        temperature = 0,
      } = file;
      const prompt = initialPrompt(file.prompt ?? '');
      const how = { language, task, align, describe, temperature, prompt };
      const { resumeFrom } = file;
      return await this.run({ audio, accountId, background, ...how, onWindow, resumeFrom }, file.signal);
    } finally {
      audio.close();
    }
  }

  async recognise(utterance: UtteranceToRecognise): Promise<RecognisedUtterance> {
    this.refuseWhenClosing();
    const language = this.chooseLanguage(utterance.language);
    refuseLength(utterance.samples.length, this.info.windowSeconds);
    const request = new UtteranceRequest(utterance, language, this.context, this.binding);
    try {
      await this.models.scheduler.run(request, utterance.signal);
      return request.result();
    } catch (error) {
      return failRequest(error, utterance.signal);
    }
  }

  stats(): EngineLoad {
    return { ...this.models.scheduler.load(), realTimeFactor: this.context.realTimeFactor.value };
  }

  limitLanes(lanes: number): Promise<void> {
    return this.models.scheduler.limit(lanes);
  }

  /** Requests that run finish first; new ones are refused with `shutting_down`. */
  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async run(input: RequestInput, signal: AbortSignal | undefined): Promise<Transcript> {
    const request = new WindowedTranscription(input, this.context);
    try {
      await this.models.scheduler.run(request, signal);
      return request.transcript();
    } catch (error) {
      return failRequest(error, signal);
    } finally {
      request.close();
    }
  }

  private async drain(): Promise<void> {
    await this.models.scheduler.whenDrained();
    this.models.close();
    this.source.voice?.close();
  }

  private refuseWhenClosing(): void {
    if (this.closing !== null) throw new VerbatimError('shutting_down', 'The server is shutting down.');
  }

  /** There is nothing to detect for a model of one language. */
  private chooseLanguage(language: string): string {
    const { languages, abilities } = this.info;
    const [first, ...others] = languages;
    if (language === 'auto' && first !== undefined && others.length === 0) return first;
    if (language === 'auto' && abilities.detectsLanguage) return 'auto';
    if (languages.includes(language)) return language;
    throw new VerbatimError(
      'unsupported_language',
      `The language "${language}" is not one of the model's: ${languages.join(', ')}.`,
      { param: 'language' },
    );
  }
}

function refuseLength(samples: number, windowSeconds: number): void {
  const most = Math.round(windowSeconds * SAMPLE_RATE);
  if (samples > 0 && samples <= most) return;
  throw new EngineError('invalid_argument', `The utterance has ${samples} samples; allowed: 1 to ${most}.`);
}

/** `isKnown`: which language is spoken is known without the model. */
function abilitiesOf(models: readonly SpeechModelInfo[], isKnown: boolean): EngineAbilities {
  return {
    detectsLanguage: isKnown || can(models, 'detectsLanguage'),
    takesPrompt: can(models, 'takesPrompt'),
    takesTemperature: can(models, 'takesTemperature'),
  };
}

function can(models: readonly SpeechModelInfo[], ability: keyof SpeechAbilities): boolean {
  return models.every(({ abilities }) => abilities[ability]);
}

/** The languages of the model in the codes of the service, of these the wanted ones. */
function languagesOf(models: readonly SpeechModelInfo[], wanted: readonly string[] | undefined): readonly string[] {
  const known = (models[0]?.languages ?? []).map(fromWhisperLanguage);
  if (known.length > 0) return wanted === undefined ? known : known.filter((code) => wanted.includes(code));
  if (wanted !== undefined && wanted.length > 0) return wanted;
  throw new RangeError('The file of the model does not say what languages it knows, and nobody else does.');
}

/**
 * What does the work: "AMD EPYC + int8 kernels (avx512)", "AMD Radeon RX 7900 XTX (24.0 GiB, radv Mesa 25.0.7)", or why
 * it is slower than it could be.
 */
function deviceName(info: SpeechModelInfo, { accelerator: mode, binding }: SpeechEngineOptions): string {
  const { device, deviceName: name, accelerator } = info;
  const card = binding.devices().find(({ id, type }) => id === device && type !== 'processor');
  if (card !== undefined) return describeCard(card);
  const { withoutAccelerator } = binding.build;
  if (accelerator !== '') return `${name} + ${accelerator}`;
  if (device !== 'cpu' || mode === 'off' || withoutAccelerator === undefined) return name;
  return `${name}, about four times slower than it could be: ${withoutAccelerator}`;
}
