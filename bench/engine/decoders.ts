/** The speech decoders that a command is to measure. */
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import type { Config } from '../../src/service/config.js';
import { UsageError } from '../../src/service/variables.js';

/** What is not given is the configuration's. */
export interface DecoderOptions {
  decoder?: Config['speechDecoder'][];
  compute?: Config['compute'];
  batch?: number[];
}

/** What decodes a model with these settings. */
export type DecoderWith = (
  settings: Pick<Config, 'speechDecoder' | 'compute' | 'batch'>,
  devices: readonly string[],
) => SpeechDecoder;

/** Throws UsageError for options that none of them takes. */
export function decodersOn(
  devices: readonly string[],
  { decoder, compute, batch }: DecoderOptions,
  config: Config,
  decoderWith: DecoderWith,
): SpeechDecoder[] {
  const wanted = decoder ?? [config.speechDecoder];
  const decoders = wanted.flatMap((name) => {
    const plain = decoderWith({ speechDecoder: name, compute: 'auto', batch: null }, devices);
    if (plain.kind === 'whisper.cpp') return [plain];
    const types = { speechDecoder: name, compute: compute ?? config.compute };
    return (batch ?? [config.batch]).map((size) => decoderWith({ ...types, batch: size }, devices));
  });
  if (decoders.every(({ kind }) => kind === 'whisper.cpp')) refuseForBatched({ compute, batch });
  return decoders;
}

function refuseForBatched(given: Readonly<Record<'compute' | 'batch', unknown>>): void {
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (name !== undefined) throw new UsageError(`--${name} is for the batched decoder, and whisper.cpp decodes.`);
}
