/** A transcription's fields as the form that the service takes. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { FormData } from 'undici';
import type { TranscribeInput } from './index.js';

export async function transcribeForm(input: TranscribeInput): Promise<FormData> {
  const form = new FormData();
  const fields = {
    language: input.language,
    translate_to: input.translateTo,
    punctuate: input.punctuate,
    diarize: input.diarize,
    num_speakers: input.numSpeakers,
    min_speakers: input.minSpeakers,
    max_speakers: input.maxSpeakers,
    timestamps: input.timestamps,
    format: input.format,
    prompt: input.prompt,
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(name, String(value));
  }
  if (typeof input.audio === 'string') {
    form.append('audio', await openAsBlob(input.audio), basename(input.audio));
  } else {
    form.append('audio', input.audio, 'audio');
  }
  return form;
}
