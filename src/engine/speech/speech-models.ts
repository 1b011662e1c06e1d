/** The weights on their devices, and the scheduler that has windows transcribed with them. */
import { availableParallelism } from 'node:os';
import type {
  AcceleratorMode,
  AttentionHead,
  ComputeType,
  NativeBinding,
  Recogniser,
  SpeechModel,
  SpeechModelInfo,
  WeightCacheOptions,
} from '../binding.js';
import type { Clock } from '../clock.js';
import type { EngineObserver } from '../types.js';
import { LanePool } from './lane-pool.js';
import { SlotPool } from './slot-pool.js';
import { SlotScheduler } from './slot-scheduler.js';
import { StepScheduler } from './step-scheduler.js';
import type { WindowScheduler } from './window-scheduler.js';

/**
 * What decodes: whisper.cpp or the model's own code, a window in each slot; or the engine's own decoder, all windows in
 * one batch, on one device.
 */
export type SpeechDecoder =
  | {
      kind: 'whisper.cpp';
      /** Of a model that this engine computes itself; absent: 'auto'. */
      compute?: ComputeType;
    }
  | {
      kind: 'batched';
      compute: ComputeType;
      /** Begun and not finished. An account that has none among them may begin one beyond it, up to twice as many. */
      windowsInFlight: number;
    };

export interface SpeechModelsOptions {
  binding: Pick<NativeBinding, 'loadSpeechModel' | 'loadRecogniser'>;
  modelPath: string;
  decoder: SpeechDecoder;
  /**
   * Ids from resolveDevices(). Only `verbatim transcribe` and `verbatim bench engine` load a model on several devices
   * in one process; each engine process of a server has one device.
   */
  devices: readonly string[];
  /** On one device: windows, or units of work of the batched decoder, that are computed at once. */
  slots: number;
  /** CPU threads a slot. On the CPU an encoder of the batched decoder also has those of idle slots, see LanePool. */
  threads: number;
  /** Default: those of the machine. */
  cores?: number;
  accelerator: AcceleratorMode;
  /** By which words are aligned; see RecogniserOptions. */
  alignmentHeads?: readonly AttentionHead[];
  /** Of the batched decoder; see RecogniserOptions. */
  weightCache?: WeightCacheOptions;
  /** Of the longest window. */
  windowSeconds: number;
  clock: Clock;
  observer: EngineObserver | undefined;
}

export interface SpeechModels {
  /** One a device. */
  infos: readonly SpeechModelInfo[];
  scheduler: WindowScheduler;
  /** Frees everything; once the scheduler is drained. */
  close(): void;
}

/** Rejects with the addon's error, and leaves nothing loaded. */
export function loadSpeechModels(options: SpeechModelsOptions): Promise<SpeechModels> {
  const { decoder } = options;
  return decoder.kind === 'batched' ? loadBatched(options, decoder) : loadSlots(options, decoder.compute);
}

async function loadSlots(options: SpeechModelsOptions, compute: ComputeType | undefined): Promise<SpeechModels> {
  const { binding, modelPath, accelerator, windowSeconds, clock, alignmentHeads } = options;
  const given = {
    ...(alignmentHeads === undefined ? {} : { alignmentHeads }),
    ...(compute === undefined ? {} : { compute }),
  };
  const models: SpeechModel[] = [];
  try {
    for (const device of options.devices)
      models.push(await binding.loadSpeechModel(modelPath, { device, accelerator, ...given }));
    const pool = await SlotPool.create(models, options);
    return loaded(models, new SlotScheduler(pool, windowSeconds, clock));
  } catch (error) {
    for (const model of models) model.close();
    throw error;
  }
}

async function loadBatched(
  options: SpeechModelsOptions,
  { compute, windowsInFlight }: SpeechDecoder & { kind: 'batched' },
): Promise<SpeechModels> {
  const { binding, modelPath, accelerator, threads, windowSeconds, clock, observer } = options;
  const { alignmentHeads, weightCache } = options;
  const [device, ...others] = options.devices;
  if (device === undefined || others.length > 0) throw new RangeError('The batched decoder works on one device.');
  const model = await binding.loadRecogniser(modelPath, {
    ...{ device, accelerator, compute },
    ...(alignmentHeads === undefined ? {} : { alignmentHeads }),
    ...(weightCache === undefined ? {} : { weightCache }),
  });
  try {
    refuseLongWindows(model, windowSeconds);
    const mostThreads = device === 'cpu' ? (options.cores ?? availableParallelism()) : threads;
    const lanes = await LanePool.create(model, { lanes: options.slots, threads, mostThreads, clock });
    return loaded([model], new StepScheduler(lanes, { windowSeconds, windowsInFlight, clock, observer }));
  } catch (error) {
    model.close();
    throw error;
  }
}

function refuseLongWindows({ longestWindowSeconds }: Recogniser, windowSeconds: number): void {
  if (windowSeconds <= longestWindowSeconds) return;
  throw new RangeError(
    `The model takes windows of ${longestWindowSeconds} s; its policy cuts windows of ${windowSeconds} s.`,
  );
}

function loaded(models: readonly (SpeechModel | Recogniser)[], scheduler: WindowScheduler): SpeechModels {
  return {
    infos: models.map(({ info }) => info),
    scheduler,
    close: () => {
      scheduler.close();
      for (const model of models) model.close();
    },
  };
}
