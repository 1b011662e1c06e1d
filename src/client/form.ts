/** A transcription's fields as the form that the service takes. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { FormData } from 'undici';
import type { StreamInput, TranscribeInput } from './requests.js';

export async function transcribeForm(input: TranscribeInput): Promise<FormData> {
  const form = new FormData();
  const fields = {
    model: input.model,
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
    keep: input.keep,
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(name, String(value));
  }
  await appendAudio(form, 'audio', input.audio);
  return form;
}

/** OpenAI's name that means the default model. */
const DEFAULT_MODEL = 'whisper-1';

/** As OpenAI's endpoints take it. */
export async function streamForm(input: StreamInput): Promise<FormData> {
  const { audio, model = DEFAULT_MODEL, language, prompt, diarize } = input;
  const form = new FormData();
  form.append('model', model);
  form.append('stream', 'true');
  if (language !== undefined) form.append('language', language);
  if (prompt !== undefined) form.append('prompt', prompt);
  if (diarize === true) form.append('response_format', 'diarized_json');
  await appendAudio(form, 'file', audio);
  return form;
}

async function appendAudio(form: FormData, name: string, audio: string | Blob): Promise<void> {
  if (typeof audio === 'string') form.append(name, await openAsBlob(audio), basename(audio));
  else form.append(name, audio, 'audio');
}
