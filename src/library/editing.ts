/**
 * Changes of kept transcripts. Each makes a new version; the original and every change stay, with who made it and what
 * takes it back. All throw `conflict` where the transcript has another version by now, and `library_full`.
 */
import { randomBytes } from 'node:crypto';
import { VerbatimError } from '../errors.js';
import type { JsonValue } from '../ledger/json.js';
import type { TranscriptLedger } from '../ledger/transcripts.js';
import {
  corrected,
  mergedSpeakers,
  noted,
  renamed,
  replaced,
  titled,
  withoutNote,
  type Replacement,
  type SegmentText,
} from './corrections.js';
import { applied, editOf, inverseOf, isEmpty, merged, storedEdit, type Edit } from './edits.js';
import { contentOf } from './keeping.js';
import { namesOf, type KeptTranscript, type TranscriptDocument } from './document.js';
import { searchTexts } from './search-texts.js';

/** Who changes it: a key, or a person on a page. */
export interface Editor {
  kind: 'key' | 'page';
  name: string | null;
}

/** Of which transcript, and to which of its versions. */
export interface EditTarget {
  accountId: string;
  id: string;
  version: number;
  by: Editor;
}

/** As the ledger keeps it. */
type StoredChange = {
  by: { kind: Editor['kind']; name: string | null };
  edit: JsonValue;
  inverse: JsonValue;
  /** The version whose change this one takes back; null: it is a change of its own. */
  undoes: number | null;
};

/** A change for people: what of the transcript it changed. */
export interface ChangeSummary {
  by: Editor;
  title: boolean;
  names: boolean;
  /** How many. */
  segments: number;
  notes: boolean;
  /** Whether it took another change back. */
  isUndo: boolean;
}

/** `change`: as the ledger gives it. */
export function changeOf(change: JsonValue): ChangeSummary {
  const { by, edit, undoes } = change as StoredChange;
  const { title, names, segments, notes } = editOf(edit);
  return {
    ...{ by, title: title !== undefined, names: names !== undefined, notes: notes !== undefined },
    ...{ segments: segments?.size ?? 0, isUndo: undoes !== null },
  };
}

export interface EditingDeps {
  ledger: { transcripts: Pick<TranscriptLedger, 'update' | 'changes'> };
  maxBytes: number;
}

export interface TranscriptEdit {
  title?: string | undefined;
  /** Names by S1, S2, …; see renamed(). */
  speakers?: Readonly<Record<string, string>> | undefined;
  segments?: readonly SegmentText[] | undefined;
}

type Find = (accountId: string, id: string) => Promise<KeptTranscript | null>;

export class Editing {
  constructor(
    private readonly deps: EditingDeps,
    private readonly find: Find,
  ) {}

  /** Throws `invalid_request`. What is as before makes no new version. */
  edit(target: EditTarget, { title, speakers, segments }: TranscriptEdit): Promise<KeptTranscript | null> {
    return this.#change(target, ({ stored, document }) => {
      const texts = segments === undefined ? {} : corrected(document, segments);
      const after = applied({ title: stored.title, document }, texts).document;
      const named = speakers === undefined ? {} : renamed(after, speakers);
      return merged(title === undefined ? {} : titled(title), texts, named, bothSegments(texts, named));
    });
  }

  mergeSpeakers(target: EditTarget, speakers: { from: string; into: string }): Promise<KeptTranscript | null> {
    return this.#change(target, ({ document }) => mergedSpeakers(document, speakers));
  }

  /** `count`: how often it was found. */
  async replace(
    target: EditTarget,
    replacement: Replacement,
  ): Promise<{ transcript: KeptTranscript; count: number } | null> {
    let count = 0;
    const transcript = await this.#change(target, ({ document }) => {
      const found = replaced(document, replacement);
      ({ count } = found);
      return found.edit;
    });
    return transcript && { transcript, count };
  }

  /** `id`: of the note that it takes the place of; absent: it is a new one. */
  note(target: EditTarget, note: { id?: string; atSeconds: number; text: string }): Promise<KeptTranscript | null> {
    const id = note.id ?? `note_${randomBytes(9).toString('base64url')}`;
    return this.#change(target, ({ document }) => noted(document, { ...note, id }));
  }

  deleteNote(target: EditTarget, noteId: string): Promise<KeptTranscript | null> {
    return this.#change(target, ({ document }) => withoutNote(document, noteId) ?? {});
  }

  /** Takes back the newest change that still stands; the transcript as it is, where there is none. */
  async undo(target: EditTarget): Promise<KeptTranscript | null> {
    const last = await this.#changeToUndo(target);
    if (last === null) return this.#change(target, () => ({}));
    return this.#change(target, () => editOf(last.change.inverse), last.version);
  }

  async #change(
    { accountId, id, version, by }: EditTarget,
    make: (kept: KeptTranscript) => Edit,
    undoes: number | null = null,
  ): Promise<KeptTranscript | null> {
    const kept = await this.find(accountId, id);
    if (kept === null) return null;
    if (kept.stored.version !== version) throw conflict();
    const before = { title: kept.stored.title, document: kept.document };
    const edit = withoutSame(before, make(kept));
    if (isEmpty(edit)) return kept;
    const after = applied(before, edit);
    const change: StoredChange = {
      ...{ by: { ...by }, edit: storedEdit(edit), inverse: storedEdit(inverseOf(before, edit)), undoes },
    };
    const update = {
      ...{ version, change, title: after.title, speakers: namesOf(after.document) },
      ...(isEmpty({ ...edit, title: undefined }) ? {} : { text: await storedText(after.document) }),
    };
    const stored = await this.deps.ledger.transcripts.update(accountId, id, update, this.deps.maxBytes);
    if (stored === null) return null;
    if (stored === 'conflict') throw conflict();
    if (stored === 'full') throw full();
    return { stored, document: after.document };
  }

  /** The newest change that is none that takes another one back, nor one that was taken back. */
  async #changeToUndo({
    accountId,
    id,
    version,
  }: EditTarget): Promise<{ version: number; change: StoredChange } | null> {
    let at = version;
    while (at > 1) {
      const page = { limit: 1, before: at + 1 };
      const [found] = await this.deps.ledger.transcripts.changes(accountId, id, page);
      if (found?.version !== at) return null;
      const change = found.change as StoredChange;
      if (change.undoes === null) return { version: at, change };
      at = change.undoes - 1;
    }
    return null;
  }
}

/** Where an edit changes the texts of segments and another one their speakers. */
function bothSegments(texts: Edit, named: Edit): Edit {
  if (texts.segments === undefined || named.segments === undefined) return {};
  return { segments: new Map([...texts.segments, ...named.segments]) };
}

function withoutSame({ title, document }: { title: string; document: TranscriptDocument }, edit: Edit): Edit {
  const { title: newTitle, names, ...rest } = edit;
  return {
    ...rest,
    ...(newTitle === undefined || newTitle === title ? {} : { title: newTitle }),
    ...(names === undefined || sameNames(names, document.names) ? {} : { names }),
  };
}

function sameNames(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.entries(one);
  return names.length === Object.keys(other).length && names.every(([speaker, name]) => other[speaker] === name);
}

async function storedText(document: TranscriptDocument) {
  return {
    content: await contentOf(document),
    searchTexts: searchTexts(document).map(({ text }) => text),
    translationLanguage: document.translation?.language ?? null,
  };
}

function conflict(): VerbatimError {
  return new VerbatimError(
    'conflict',
    'The transcript was changed meanwhile. Read it again, and make the change to the version that it has now.',
    { param: 'version' },
  );
}

function full(): VerbatimError {
  return new VerbatimError(
    'library_full',
    'The account has no room left for kept transcripts. Delete some that you no longer need.',
  );
}
