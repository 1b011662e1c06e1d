/** The engine in this very process, set up as `serve` does, and one clip through it. */
import type { Config } from '../../src/service/config.js';
import type { AttentionHead, NativeBinding, WindowPolicy } from '../../src/engine/binding.js';
import { createSpeechEngine } from '../../src/engine/speech/transcriber.js';
import type { EngineObserver, SpeechEngine, Transcript } from '../../src/engine/types.js';
import { languageFor, type Clip } from '../load/clips.js';
import type { EngineCell } from './engine-cells.js';
import { withBeam } from './windows.js';

export interface EngineSetting {
  cell: EngineCell;
  policy: WindowPolicy;
  /** null: every language the weights know. */
  languages: string[] | null;
  accelerator: Config['accelerator'];
  /** Path of a Silero model; default: none, speech is what stands out of the background. */
  voiceActivityModel?: string | null;
  /** Those that words are aligned by; absent: the addon chooses. */
  alignmentHeads?: readonly AttentionHead[];
}

export function createBenchEngine(
  binding: NativeBinding,
  { cell, policy, languages, accelerator, voiceActivityModel = null, alignmentHeads }: EngineSetting,
  observer?: EngineObserver,
): Promise<SpeechEngine> {
  return createSpeechEngine({
    binding: withBeam(binding, cell.beam),
    modelPath: cell.modelPath,
    modelName: 'bench',
    policy,
    voiceActivityModel,
    ...(languages === null ? {} : { languages }),
    ...(alignmentHeads === undefined ? {} : { alignmentHeads }),
    decoder: cell.decoder,
    devices: cell.devices,
    slots: cell.slots,
    threads: cell.threads,
    accelerator,
    ffmpeg: 'ffmpeg',
    ...(observer === undefined ? {} : { observer }),
  });
}

/** From the opening of the file to its text; `language` as of languageFor(). */
export async function transcribeClip(
  engine: SpeechEngine,
  clip: Clip,
  language: string,
  accountId: string,
): Promise<Transcript> {
  const spoken = languageFor(clip, language);
  const file = { path: clip.path, accountId };
  return engine.transcribe({ ...file, seconds: await engine.measure(file), language: spoken });
}
