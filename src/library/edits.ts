/** Changes of a kept transcript, each with what takes it back. */
import type { JsonValue } from '../ledger/json.js';
import type { KeptSegment, Note, TranscriptDocument } from './document.js';
import {
  noteOf,
  segmentFrom,
  storedNote,
  storedSegment,
  type StoredNote,
  type StoredSegment,
} from './stored-document.js';

/** What a transcript is after a change; absent: as before. */
export interface Edit {
  title?: string;
  /** All of them. */
  names?: Readonly<Record<string, string>>;
  /** Those that changed, by their indexes. */
  segments?: ReadonlyMap<number, KeptSegment>;
  /** All of them. */
  notes?: readonly Note[];
}

export interface Editable {
  title: string;
  document: TranscriptDocument;
}

export function applied({ title, document }: Editable, edit: Edit): Editable {
  const { segments, names, notes } = edit;
  return {
    title: edit.title ?? title,
    document: {
      ...document,
      ...(names === undefined ? {} : { names }),
      ...(notes === undefined ? {} : { notes: [...notes] }),
      ...(segments === undefined
        ? {}
        : { segments: document.segments.map((segment, index) => segments.get(index) ?? segment) }),
    },
  };
}

/** What takes an edit of this transcript back. */
export function inverseOf({ title, document }: Editable, edit: Edit): Edit {
  const { segments, names, notes } = edit;
  return {
    ...(edit.title === undefined ? {} : { title }),
    ...(names === undefined ? {} : { names: document.names }),
    ...(notes === undefined ? {} : { notes: document.notes }),
    ...(segments === undefined
      ? {}
      : { segments: new Map(document.segments.flatMap((segment, at) => (segments.has(at) ? [[at, segment]] : []))) }),
  };
}

/** Whether it changes nothing. */
export function isEmpty(edit: { [Part in keyof Edit]: Edit[Part] | undefined }): boolean {
  return Object.values(edit).every((part) => part === undefined);
}

/** Of several edits of the same transcript, none of which changes what another one does. */
export function merged(...edits: readonly Edit[]): Edit {
  return Object.assign({}, ...edits) as Edit;
}

type StoredEdit = {
  title?: string;
  names?: Readonly<Record<string, string>>;
  segments?: [index: number, segment: StoredSegment][];
  notes?: StoredNote[];
};

export function storedEdit({ title, names, segments, notes }: Edit): JsonValue {
  const stored: StoredEdit = {
    ...(title === undefined ? {} : { title }),
    ...(names === undefined ? {} : { names }),
    ...(segments === undefined ? {} : { segments: [...segments].map(([at, segment]) => [at, storedSegment(segment)]) }),
    ...(notes === undefined ? {} : { notes: notes.map(storedNote) }),
  };
  return stored;
}

export function editOf(stored: JsonValue): Edit {
  const { title, names, segments, notes } = stored as StoredEdit;
  return {
    ...(title === undefined ? {} : { title }),
    ...(names === undefined ? {} : { names }),
    ...(segments === undefined ? {} : { segments: new Map(segments.map(([at, one]) => [at, segmentFrom(one)])) }),
    ...(notes === undefined ? {} : { notes: notes.map(noteOf) }),
  };
}
