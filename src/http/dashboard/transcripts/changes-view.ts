/** Who changed a transcript, when, and what. */
import type { StoredTranscript, TranscriptChange } from '../../../ledger/transcripts.js';
import { changeOf, type ChangeSummary } from '../../../library/editing.js';
import { button } from '../components/button.js';
import { emptyState } from '../components/empty-state.js';
import { table } from '../components/table.js';
import { moment } from '../format.js';
import { html, type Html } from '../html.js';
import type { View } from '../page.js';
import { transcriptPath } from '../paths.js';
import { TEXTS } from '../texts.js';

const { transcripts: texts } = TEXTS;

export function changesView({ id, title, version }: StoredTranscript, changes: readonly TranscriptChange[]): View {
  const main = html`<nav class="crumbs" aria-label="${texts.title}"><a href="${transcriptPath(id)}">${title}</a></nav>
    ${
      changes.length === 0
        ? emptyState({ icon: 'activity', title: texts.noChanges })
        : html`${changesTable(changes)} ${undoForm(id, version)}`
    }`;
  return { title: texts.changesTitle, lead: texts.changesNote, main };
}

export function undoForm(id: string, version: number): Html {
  return html`<form method="post" action="${transcriptPath(id, 'undo')}">
    <input type="hidden" name="version" value="${version}" />
    ${button({ label: texts.undo, kind: 'secondary', icon: 'undo' })}
  </form>`;
}

function changesTable(changes: readonly TranscriptChange[]): Html {
  return table({
    caption: texts.changesTitle,
    columns: [texts.changeAt, texts.changeBy, texts.changeWhat],
    rows: changes.map(({ at, change }) => {
      const summary = changeOf(change);
      return [moment(at), texts.changedBy[summary.by.kind](summary.by.name ?? ''), whatOf(summary)];
    }),
  });
}

function whatOf({ isUndo, title, names, segments, notes }: ChangeSummary): string {
  if (isUndo) return texts.changes.undo;
  const parts = [
    title && texts.changes.title,
    names && texts.changes.names,
    segments > 0 && texts.changes.segments(segments),
    notes && texts.changes.notes,
  ];
  return parts.filter((part) => part !== false).join(', ');
}
