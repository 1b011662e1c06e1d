/** Transcripts that the account keeps. */
import type { CallOptions, SendRequest } from './requests.js';
import { searchOf } from './search.js';
import type {
  CreatedShare,
  DeletedTranscript,
  KeptTranscript,
  RevokedShare,
  ShareList,
  TranscriptList,
} from './types.js';

export interface TranscriptSearch {
  /** Words that must all be in it; the last one may be unfinished. */
  query?: string;
  /** 1 to 100; default 20. */
  limit?: number;
  /** The `next_cursor` of the page before. */
  cursor?: string;
}

export interface TranscriptCorrection {
  /** The one that the change is made to; another one is refused with `conflict`. */
  version: number;
  title?: string;
  /** New names by S1, S2, … Two speakers who get the same name become one. */
  speakers?: Record<string, string>;
  /** New texts, by the indexes of their segments. */
  segments?: { index: number; text: string }[];
}

export interface ShareInput {
  expiresAt: Date | string;
  /** Whether the link plays the recording, too; default: no. */
  audio?: boolean;
}

/** What export() makes a string of; docx comes as bytes. */
export type TextFileFormat = 'txt' | 'srt' | 'vtt' | 'json' | 'csv';

export class Transcripts {
  constructor(private readonly send: SendRequest) {}

  /** Newest first. */
  list(query: TranscriptSearch = {}, options: CallOptions = {}): Promise<TranscriptList> {
    return this.send('GET', `/api/v1/transcripts${searchOf({ ...query })}`, options);
  }

  get(id: string, options: CallOptions = {}): Promise<KeptTranscript> {
    return this.send('GET', pathOf(id), options);
  }

  /** Not repeated after a lost answer: the change may have been made, and the version is another one then. */
  update(id: string, change: TranscriptCorrection, { signal }: CallOptions = {}): Promise<KeptTranscript> {
    return this.send('PATCH', pathOf(id), { signal, ...json(change), repeatable: false });
  }

  delete(id: string, options: CallOptions = {}): Promise<DeletedTranscript> {
    return this.send('DELETE', pathOf(id), options);
  }

  /** The link is in this answer only. Not repeated after a lost answer: the link may have been made. */
  share(id: string, { expiresAt, audio }: ShareInput, { signal }: CallOptions = {}): Promise<CreatedShare> {
    const expires_at = typeof expiresAt === 'string' ? expiresAt : expiresAt.toISOString();
    const body = { expires_at, ...(audio === undefined ? {} : { audio }) };
    return this.send('POST', `${pathOf(id)}/shares`, { signal, ...json(body), repeatable: false });
  }

  shares(id: string, options: CallOptions = {}): Promise<ShareList> {
    return this.send('GET', `${pathOf(id)}/shares`, options);
  }

  revokeShare(id: string, share: string, options: CallOptions = {}): Promise<RevokedShare> {
    return this.send('DELETE', `${pathOf(id)}/shares/${encodeURIComponent(share)}`, options);
  }

  /** The file's text; `json` gives the transcript as get() does. */
  export(
    id: string,
    format: TextFileFormat,
    { text, ...options }: CallOptions & { text?: 'transcript' | 'translation' } = {},
  ): Promise<string | KeptTranscript> {
    return this.send('GET', `${pathOf(id)}/export${searchOf({ format, text })}`, options);
  }
}

function json(body: object): { headers: Record<string, string>; body: string } {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function pathOf(id: string): string {
  return `/api/v1/transcripts/${encodeURIComponent(id)}`;
}
