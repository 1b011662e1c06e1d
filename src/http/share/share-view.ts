import { nameOf, namedSegments, type TranscriptDocument } from '../../library/document.js';
import type { SharedTranscript } from '../../library/library.js';
import { spokenParagraphs, type Paragraph } from '../../library/paragraphs.js';
import { html, Html } from '../dashboard/html.js';
import { SHARE_STYLE } from './share-style.js';

/** `audio`: the address of the recording; null: it is not shared. */
export function shareView({ stored, document, share }: SharedTranscript, audio: string | null): Html {
  const { title } = stored;
  const { translation } = document;
  const spoken = spokenParagraphs(namedSegments(document), document.language);
  return page(
    title,
    html`<h1>${title}</h1>
      <p>
        <small>This link works until <time datetime="${share.expiresAt}">${share.expiresAt.slice(0, 10)}</time>.</small>
      </p>
      ${audio !== null && html`<audio controls preload="metadata" src="${audio}"></audio>`}
      <section lang="${document.language}" dir="auto">${spoken.map(paragraph)}</section>
      ${
        translation !== null &&
        html`<h2>Translation</h2>
          <section lang="${translation.language}" dir="auto">${translated(document).map(paragraph)}</section>`
      }`,
  );
}

export function refusedShareView(message: string): Html {
  return page(
    'Not found',
    html`<h1>Not found</h1>
      <p>${message}</p>`,
  );
}

function page(title: string, main: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow, noarchive" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${new Html(`<style>${SHARE_STYLE}</style>`)}
      </head>
      <body>
        <main>
          ${main}
          <footer><small>Transcribed with Verbatim, and shared to be read.</small></footer>
        </main>
      </body>
    </html> `;
}

function translated(document: TranscriptDocument): Paragraph[] {
  const { translation, durationSeconds: endSeconds } = document;
  if (translation === null) return [];
  const { language, text } = translation;
  const lines = translation.segments ?? [{ startSeconds: 0, endSeconds, text }];
  const named = lines.map(({ speaker, ...line }) => ({
    ...line,
    ...(speaker === undefined ? {} : { speaker: nameOf(document, speaker) }),
  }));
  return spokenParagraphs(named, language);
}

function paragraph({ startSeconds, speaker, text }: Paragraph): Html {
  return html`<p>
    <small>${clockTime(startSeconds)}</small>
    ${speaker !== null && html`<strong>${speaker}</strong>`} ${text}
  </p>`;
}

function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return [...(hours > 0 ? [hours] : []), minutes, rest].map((part) => String(part).padStart(2, '0')).join(':');
}
