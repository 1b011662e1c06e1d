/** Server-sent events of an answer, one by one. */
import { createParser } from 'eventsource-parser';
import type { Response } from 'undici';
import { VerbatimApiError } from './errors.js';
import type { components } from './schema.js';

type Schemas = components['schemas'];

/** A piece of the text (`delta`), a segment with its speaker, or the end (`text` and the credits used). */
export type TranscriptionEvent = Exclude<Schemas['OpenAiEvent'], Schemas['OpenAiError']>;

/**
 * Ends with `transcript.text.done`; throws VerbatimApiError for an error in the middle, or where the answer ends
 * before.
 */
export async function* eventsOf(response: Response): AsyncGenerator<TranscriptionEvent, void, undefined> {
  const read: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void read.push(data) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    for (const data of read.splice(0)) {
      const event = JSON.parse(data) as Schemas['OpenAiEvent'];
      if ('error' in event) throw VerbatimApiError.inAnswer(response, data);
      yield event;
      if (event.type === 'transcript.text.done') return;
    }
  }
  throw VerbatimApiError.inAnswer(response, '');
}
