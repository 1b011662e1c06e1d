/**
 * Transcripts that accounts chose to keep: found, read, corrected, shared, exported and deleted. Where a method gives
 * null, the account keeps no such transcript, or no longer.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AudioDirectory } from '../audio-directory.js';
import { VerbatimError } from '../errors.js';
import type {
  LibrarySettings,
  LibraryUsage,
  StoredTranscript,
  TranscriptChange,
  TranscriptHit,
  TranscriptLedger,
  TranscriptQuery,
  TranscriptShare,
} from '../ledger/transcripts.js';
import type { Timer, Timers } from '../timers.js';
import { audioType } from './audio-type.js';
import type { KeptTranscript, TranscriptDocument } from './document.js';
import { Editing } from './editing.js';
import { exported, EXPORT_TYPES, type ExportFormat } from './exports/export.js';
import { TranscriptKeeping } from './keeping.js';
import { searchTexts, type FoundText } from './search-texts.js';
import { documentFrom } from './stored-document.js';
import { transcriptBody, type TranscriptBody } from './transcript-body.js';

/** Deleted by one call of the ledger, so that none takes long. */
const EXPIRED_AT_ONCE = 100;
/** How often what has expired is deleted. It is not shown any more before. */
const SWEEP_MS = 60_000;

export const TRANSCRIPT_ID = /^tr_[A-Za-z0-9_-]{22}$/;

export interface LibraryDeps {
  ledger: { transcripts: TranscriptLedger };
  audio: AudioDirectory;
  timers: Timers;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Of an account, text and audio. */
  maxBytes: number;
  /** Called with what failed and is tried again, or was a paid transcript that could not be kept. */
  onError: (error: unknown) => void;
}

export interface FoundTranscript {
  stored: StoredTranscript;
  /** The first text that has the words; null: the title has them, or none were sought. */
  snippet: FoundText | null;
}

export interface RecordedAudio {
  path: string;
  /** Its media type. */
  type: string;
  stored: StoredTranscript;
}

export interface SharedTranscript extends KeptTranscript {
  share: TranscriptShare;
}

export interface ExportedFile {
  type: string;
  /** Without its extension. */
  title: string;
  body: string | Buffer;
}

export class Library {
  readonly keeping: TranscriptKeeping;
  readonly editing: Editing;
  readonly #timer: Timer;
  #sweeping: Promise<void> | null = null;
  #isClosed = false;

  constructor(private readonly deps: LibraryDeps) {
    this.keeping = new TranscriptKeeping(deps);
    this.editing = new Editing(deps, (accountId, id) => this.find(accountId, id));
    this.#timer = deps.timers.every(SWEEP_MS, () => void this.sweep());
    void this.sweep();
  }

  settings(accountId: string): Promise<LibrarySettings> {
    return this.#transcripts.settings(accountId);
  }

  /** Of transcripts to come. */
  setSettings(accountId: string, settings: Omit<LibrarySettings, 'decidedAt'>): Promise<LibrarySettings> {
    return this.#transcripts.decide(accountId, settings);
  }

  async usage(accountId: string): Promise<LibraryUsage & { maxBytes: number }> {
    return { ...(await this.#transcripts.usage(accountId)), maxBytes: this.deps.maxBytes };
  }

  /** Newest first. */
  async list(accountId: string, query: TranscriptQuery): Promise<FoundTranscript[]> {
    const hits = await this.#transcripts.list(accountId, query);
    const found: FoundTranscript[] = [];
    for (const hit of hits) found.push({ stored: hit.transcript, snippet: await this.#snippetOf(hit) });
    return found;
  }

  async find(accountId: string, id: string): Promise<KeptTranscript | null> {
    if (!TRANSCRIPT_ID.test(id)) return null;
    const stored = await this.#transcripts.find(accountId, id);
    const content = stored && (await this.#transcripts.content(accountId, id));
    if (!stored || content === null) return null;
    return { stored: { ...stored, version: content.version }, document: parsed(content.content.text) };
  }

  /** Those of the ids whose transcripts are kept. */
  async keptAmong(ids: readonly string[]): Promise<Set<string>> {
    return new Set(ids.length === 0 ? [] : await this.#transcripts.knownAmong(ids));
  }

  async body(kept: KeptTranscript): Promise<TranscriptBody> {
    return transcriptBody(kept.stored, kept.document);
  }

  /** As it was before any change. */
  async original(accountId: string, id: string): Promise<TranscriptDocument | null> {
    if (!TRANSCRIPT_ID.test(id)) return null;
    const content = await this.#transcripts.content(accountId, id, 'original');
    return content && parsed(content.content.text);
  }

  /** The newest first; `before`: a version. */
  async changes(
    accountId: string,
    id: string,
    page: { limit: number; before: number | null },
  ): Promise<TranscriptChange[]> {
    return TRANSCRIPT_ID.test(id) ? this.#transcripts.changes(accountId, id, page) : [];
  }

  /** Text, recording, search entries, links, the stored answer and the job: at once. */
  async delete(accountId: string, id: string): Promise<{ id: string; deletedAt: string } | null> {
    if (!TRANSCRIPT_ID.test(id)) return null;
    const deleted = await this.#transcripts.delete(accountId, id);
    if (deleted !== null) await this.deps.audio.remove(id);
    return deleted;
  }

  /** null: or it has no recording. */
  async audioOf(accountId: string, id: string): Promise<RecordedAudio | null> {
    const stored = TRANSCRIPT_ID.test(id) ? await this.#transcripts.find(accountId, id) : null;
    return stored && this.recording(stored);
  }

  /** null: the transcript has none. */
  async recording(stored: StoredTranscript): Promise<RecordedAudio | null> {
    if (stored.audioBytes === 0) return null;
    const path = this.deps.audio.path(stored.id);
    const type = await audioType(path);
    return type === null ? null : { path, type, stored };
  }

  /** Throws `transcript_not_found` where the translation is asked for, and there is none. */
  async export(
    kept: KeptTranscript,
    format: ExportFormat,
    { translated = false }: { translated?: boolean } = {},
  ): Promise<ExportedFile> {
    const { stored, document } = kept;
    if (translated && document.translation === null) {
      throw new VerbatimError('transcript_not_found', 'The transcript has no translation.');
    }
    const { title } = stored;
    const body = await exported({ title, document, body: () => this.body(kept) }, format, { translated });
    return { type: EXPORT_TYPES[format], title, body };
  }

  /** Throws `invalid_request`; see TranscriptLedger.createShare(). */
  async share(
    accountId: string,
    id: string,
    share: { expiresAt: string; includesAudio: boolean },
  ): Promise<{ share: TranscriptShare; token: string } | null> {
    return TRANSCRIPT_ID.test(id) ? this.#transcripts.createShare(accountId, id, share) : null;
  }

  /** Those that have not expired, the newest first. */
  async shares(accountId: string, id: string): Promise<TranscriptShare[]> {
    return TRANSCRIPT_ID.test(id) ? this.#transcripts.shares(accountId, id) : [];
  }

  /** False: the transcript has no such link. */
  async revokeShare(accountId: string, id: string, shareId: string): Promise<boolean> {
    return TRANSCRIPT_ID.test(id) && this.#transcripts.revokeShare(accountId, id, shareId);
  }

  /** What somebody with the link may read. null: it is unknown, revoked or expired. */
  async findShared(token: string): Promise<SharedTranscript | null> {
    if (!/^[A-Za-z0-9_-]{20,100}$/.test(token)) return null;
    const found = await this.#transcripts.findShared(token);
    if (found === null) return null;
    const { share, transcript } = found;
    const kept = await this.find(transcript.accountId, transcript.id);
    return kept && { ...kept, share };
  }

  /** Deletes what has expired, and audio that belongs to nothing. One at a time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.deps.onError(error))
      .finally(() => (this.#sweeping = null));
    return this.#sweeping;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.cancel();
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { audio, now } = this.deps;
    for (let more = true; more && !this.#isClosed;) {
      const expired = await this.#transcripts.deleteExpired(EXPIRED_AT_ONCE);
      for (const { id } of expired) await audio.remove(id);
      more = expired.length === EXPIRED_AT_ONCE;
    }
    await audio.sweep(async (ids) => {
      const known = await this.#transcripts.knownAmong(ids);
      return new Map(known.map((id) => [id, false]));
    }, now());
  }

  async #snippetOf({ transcript, matches: [first] }: TranscriptHit): Promise<FoundText | null> {
    if (first === undefined) return null;
    const content = await this.#transcripts.content(transcript.accountId, transcript.id);
    await nextTurn();
    return content && (searchTexts(parsed(content.content.text))[first] ?? null);
  }

  get #transcripts(): TranscriptLedger {
    return this.deps.ledger.transcripts;
  }
}

function parsed(text: string): TranscriptDocument {
  return documentFrom(JSON.parse(text) as Parameters<typeof documentFrom>[0]);
}
