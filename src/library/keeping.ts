/** Keeps transcripts as their accounts have decided: text, and the recording where they want it. */
import { stat } from 'node:fs/promises';
import type { AudioDirectory } from '../audio-directory.js';
import { JsonText } from '../ledger/json.js';
import type { LibrarySettings, NewTranscript, TranscriptLedger } from '../ledger/transcripts.js';
import { jsonText } from '../transcription/json-pieces.js';
import type { KeepNow, KeepOrder, KeepRequest, TranscriptKeeper } from '../transcription/keep.js';
import { cleanText, MOST_TITLE_CHARACTERS } from './corrections.js';
import { namesOf, transcriptText, type TranscriptDocument } from './document.js';
import { newDocument } from './new-document.js';
import { searchTexts } from './search-texts.js';
import { storedDocument } from './stored-document.js';

/** What a request asks for that says `keep`, where the account has not turned keeping on. */
export const ASKED_KEEP_DAYS = 30;

/** Of a title that is made of the first words. */
const FIRST_CHARACTERS = 60;
const NO_WORDS_TITLE = 'Recording';

export interface KeepingDeps {
  ledger: { transcripts: Pick<TranscriptLedger, 'settings' | 'usage' | 'keep'> };
  audio: Pick<AudioDirectory, 'keep' | 'remove'>;
  /** Of an account, text and audio. */
  maxBytes: number;
  /** A transcript that is paid for could not be kept. */
  onError: (error: unknown) => void;
}

export class TranscriptKeeping implements TranscriptKeeper {
  constructor(private readonly deps: KeepingDeps) {}

  /** `keep`: what the request says; null: nothing, so that the account's setting counts. null: it is not kept. */
  async orderFor(
    accountId: string,
    { keep, title, source }: { keep: boolean | null } & Pick<KeepOrder, 'title' | 'source'>,
  ): Promise<KeepOrder | null> {
    if (keep === false) return null;
    const settings = await this.deps.ledger.transcripts.settings(accountId);
    if (keep === null && !settings.isOn) return null;
    return { ...termsOf(settings), title, source };
  }

  async prepare(request: KeepRequest): Promise<KeepNow | null> {
    try {
      return await this.#prepare(request);
    } catch (error) {
      this.deps.onError(error);
      return null;
    }
  }

  async #prepare(request: KeepRequest): Promise<KeepNow | null> {
    const { accountId, audio } = request;
    const audioBytes = audio === null ? 0 : (await stat(audio)).size;
    const transcript = await newTranscript(request, audioBytes);
    const { transcripts } = this.deps.ledger;
    const { bytes } = await transcripts.usage(accountId);
    const textBytes = Buffer.byteLength(transcript.content.text);
    if (bytes + textBytes + audioBytes > this.deps.maxBytes) return null;
    return () => this.#keep(transcript, audio);
  }

  async #keep(transcript: NewTranscript, recording: string | null): Promise<boolean> {
    const { audio, ledger, maxBytes, onError } = this.deps;
    try {
      // Audio without a transcript is swept; a transcript without its audio would stay so.
      if (recording !== null) await audio.keep(recording, transcript.id);
      const outcome = await ledger.transcripts.keep(transcript, maxBytes);
      if (outcome === 'kept') return true;
    } catch (error) {
      onError(error);
    }
    if (recording !== null) await audio.remove(transcript.id).catch(onError);
    return false;
  }
}

function termsOf({ isOn, keepDays, keepsAudio }: LibrarySettings): Pick<KeepOrder, 'keepDays' | 'keepsAudio'> {
  return { keepDays: isOn ? keepDays : ASKED_KEEP_DAYS, keepsAudio };
}

async function newTranscript(
  { accountId, order, transcript }: KeepRequest,
  audioBytes: number,
): Promise<NewTranscript & { content: JsonText }> {
  const document = newDocument(transcript);
  const { id, durationSeconds, language, model } = transcript;
  return {
    ...{ id, accountId, durationSeconds, language, model, audioBytes },
    ...{ title: titleOf(order, document), keepDays: order.keepDays, source: order.source },
    translationLanguage: document.translation?.language ?? null,
    speakers: namesOf(document),
    content: await contentOf(document),
    searchTexts: searchTexts(document).map(({ text }) => text),
  };
}

/** A long one is written piece by piece, so that others get their turns. */
export async function contentOf(document: TranscriptDocument): Promise<JsonText> {
  return new JsonText(await jsonText(storedDocument(document)));
}

function titleOf({ title }: Pick<KeepOrder, 'title'>, document: TranscriptDocument): string {
  return cut(cleanText(title ?? ''), MOST_TITLE_CHARACTERS) || firstWords(transcriptText(document)) || NO_WORDS_TITLE;
}

function firstWords(text: string): string {
  const beginning = cut(cleanText(text), FIRST_CHARACTERS);
  if (beginning.length === cleanText(text).length) return beginning;
  return `${beginning.replace(/\s\S*$/u, '')}…`;
}

function cut(text: string, most: number): string {
  return Array.from(text).slice(0, most).join('').trim();
}
