/** The service's description for Wyoming's clients. */
import type { SpeechModelDirectory } from '../../transcription/engine-lease.js';

export function infoOf(version: string, speechModels: SpeechModelDirectory): object {
  const attribution = { name: 'Verbatim', url: '' };
  const models = speechModels.list().map(({ info }) => ({
    ...{ name: info.modelName, languages: info.languages, attribution, installed: true },
    ...{ description: info.modelName, version: null },
  }));
  const program = {
    ...{ name: 'verbatim', attribution, installed: true, description: 'Verbatim', version },
    ...{ models, supports_transcript_streaming: true },
  };
  return { asr: [program], tts: [], handle: [], intent: [], wake: [], mic: [], snd: [] };
}
