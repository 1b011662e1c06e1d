/** Forms beside a transcript: title and speakers, find and replace, notes, files to download. */
import { EXPORT_FORMATS } from '../../../library/exports/export.js';
import {
  MOST_NAME_CHARACTERS,
  MOST_NOTE_CHARACTERS,
  MOST_SOUGHT_CHARACTERS,
  MOST_TITLE_CHARACTERS,
} from '../../../library/corrections.js';
import { nameOf, speakerIds, type Note } from '../../../library/document.js';
import { button } from '../components/button.js';
import { card } from '../components/card.js';
import { field, select } from '../components/field.js';
import { icon } from '../components/icon.js';
import { html, type Html } from '../html.js';
import { exportPath, transcriptPath } from '../paths.js';
import { TEXTS } from '../texts.js';
import { clockOf } from './clock.js';
import type { OpenedTranscript } from './opened-transcript.js';

const { transcripts: texts } = TEXTS;

/** Why a form was refused, where it was for this field. */
function errorOf({ error }: OpenedTranscript, name: string): { error?: string } {
  return error?.field === name ? { error: error.message } : {};
}

/** The version that the form was made for. */
function versionField({ stored }: OpenedTranscript): Html {
  return html`<input type="hidden" name="version" value="${stored.version}" />`;
}

export function speakersCard(opened: OpenedTranscript): Html {
  const { stored, document } = opened;
  const speakers = speakerIds(document);
  return card({
    title: texts.rename,
    id: 'speakers',
    content: html`<form method="post" action="${transcriptPath(stored.id, 'names')}">
        ${versionField(opened)}
        ${field({
          ...{ label: texts.titleField, name: 'title', value: stored.title },
          attributes: { maxlength: MOST_TITLE_CHARACTERS, required: true, dir: 'auto' },
          ...errorOf(opened, 'title'),
        })}
        ${speakers.map((speaker) =>
          field({
            ...{ label: texts.nameOf(speaker), name: `name-${speaker}`, value: nameOf(document, speaker) },
            attributes: { maxlength: MOST_NAME_CHARACTERS, dir: 'auto' },
            ...errorOf(opened, 'speakers'),
          }),
        )}
        ${button({ label: texts.save, kind: 'secondary' })}
      </form>
      ${speakers.length > 1 && mergeForm(opened, speakers)}`,
  });
}

function mergeForm(opened: OpenedTranscript, speakers: readonly string[]): Html {
  const { stored, document } = opened;
  const choices = speakers.map((speaker) => ({ value: speaker, label: nameOf(document, speaker) }));
  const [first = '', second = ''] = speakers;
  return html`<form method="post" action="${transcriptPath(stored.id, 'merge')}">
    <h3>${texts.merge}</h3>
    <p class="field-help">${texts.mergeNote}</p>
    ${versionField(opened)}
    ${select({ label: texts.mergeFrom, name: 'from', id: 'merge-from', choices, value: second })}
    ${select({ label: texts.mergeInto, name: 'into', id: 'merge-into', choices, value: first })}
    ${button({ label: texts.mergeSubmit, kind: 'secondary' })}
  </form>`;
}

export function replaceCard(opened: OpenedTranscript): Html {
  return card({
    title: texts.replace,
    id: 'replace',
    content: html`<form method="post" action="${transcriptPath(opened.stored.id, 'replace')}">
      ${versionField(opened)}
      ${field({
        ...{ label: texts.find, name: 'find' },
        attributes: { maxlength: MOST_SOUGHT_CHARACTERS, required: true, dir: 'auto', autocomplete: 'off' },
        ...errorOf(opened, 'find'),
      })}
      ${field({
        ...{ label: texts.replaceWith, name: 'replace' },
        attributes: { maxlength: MOST_SOUGHT_CHARACTERS, dir: 'auto', autocomplete: 'off' },
        ...errorOf(opened, 'replace'),
      })}
      <label class="choice"><input type="checkbox" name="match-case" value="true" /> ${texts.matchCase}</label>
      <label class="choice"><input type="checkbox" name="whole-words" value="true" /> ${texts.wholeWords}</label>
      ${button({ label: texts.replaceSubmit, kind: 'secondary' })}
    </form>`,
  });
}

export function notesCard(opened: OpenedTranscript): Html {
  const { stored, document } = opened;
  return card({
    title: texts.notes,
    id: 'notes',
    content: html`${
        document.notes.length === 0
          ? html`<p class="field-help">${texts.noNotes}</p>`
          : html`<ul class="notes">
              ${document.notes.map((note) => noteItem(opened, note))}
            </ul>`
      }
      <form method="post" action="${transcriptPath(stored.id, 'notes')}">
        ${versionField(opened)}
        ${field({
          ...{ label: texts.noteAt, name: 'at', value: '0:00', help: texts.noteAtHelp },
          attributes: { maxlength: 12, required: true },
          ...errorOf(opened, 'at'),
        })}
        ${field({
          ...{ label: texts.noteText, name: 'text' },
          attributes: { maxlength: MOST_NOTE_CHARACTERS, required: true, dir: 'auto' },
          ...errorOf(opened, 'notes'),
        })}
        ${button({ label: texts.addNote, kind: 'secondary' })}
      </form>`,
  });
}

function noteItem(opened: OpenedTranscript, { id, atSeconds, text }: Note): Html {
  const time = clockOf(atSeconds);
  return html`<li>
    <a class="time" href="#t=${atSeconds}">${time}</a>
    <span dir="auto">${text}</span>
    <form method="post" action="${transcriptPath(opened.stored.id, 'notes/delete')}">
      ${versionField(opened)}
      <button class="button quiet icon-only" name="note" value="${id}" aria-label="${texts.deleteNote(time)}">
        ${icon('close')}
      </button>
    </form>
  </li>`;
}

export function exportMenu(id: string, isTranslated: boolean): Html {
  const kinds = EXPORT_FORMATS.map((format) => ({ format, label: texts.exportOf[format] }));
  return html`<details class="menu">
    <summary class="button secondary">${icon('download')}<span>${texts.export}</span></summary>
    <ul>
      ${kinds.map(({ format, label }) => html`<li><a href="${exportPath(id, format)}" download>${label}</a></li>`)}
      ${
        isTranslated &&
        kinds
          .filter(({ format }) => format !== 'json')
          .map(
            ({ format, label }) =>
              html`<li><a href="${exportPath(id, format, true)}" download>${texts.exportAs(label)}</a></li>`,
          )
      }
    </ul>
  </details>`;
}
