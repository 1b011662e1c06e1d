/** Where the page's script shows what runs, what came of it, and the same call in code. */
import { card } from './components/card.js';
import { codeBlock } from './components/code-block.js';
import { emptyState } from './components/empty-state.js';
import { tabs } from './components/tabs.js';
import { html, type Html } from './html.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { try: texts } = TEXTS;

export function resultPane(): Html {
  return html`<div class="stack">
    <p id="failure" role="alert"></p>
    <p id="status" role="status"></p>
    ${captions()}
    <ul id="recordings" class="recordings" aria-label="${texts.recordings}"></ul>
    <div id="nothing">${emptyState({ icon: 'transcribe', ...texts.nothing })}</div>
    <section id="coming" hidden>
      <h2>${texts.soFar}</h2>
      <p id="so-far"></p>
    </section>
    <div id="player" class="player" role="region" aria-label="${texts.audio}" hidden>
      <audio id="audio" controls></audio>
    </div>
    ${transcript()} ${sameCall()}
  </div>`;
}

function captions(): Html {
  return html`<section id="captions" class="card" hidden>
    <div class="columns">
      <div>
        <h2>${texts.captionsTitle}</h2>
        <p id="caption-text" aria-live="polite"></p>
      </div>
      <div id="captions-translated" hidden>
        <h2>${texts.translation}</h2>
        <p id="caption-translation" aria-live="polite"></p>
      </div>
    </div>
  </section>`;
}

function transcript(): Html {
  return html`<section id="result" hidden>
    <p class="row">
      <span class="badge information" id="language-found"></span>
      <span class="hint" id="word-help">${texts.wordHelp}</span>
    </p>
    <div class="columns">
      <div>
        <h2 id="transcript-title">${texts.result}</h2>
        <div id="transcript" class="lines" role="region" aria-labelledby="transcript-title" tabindex="-1"></div>
      </div>
      <div id="translated" hidden>
        <h2 id="translation-title">${texts.translation}</h2>
        <div id="translation" class="lines" role="region" aria-labelledby="translation-title" tabindex="-1"></div>
      </div>
    </div>
    <p><a id="open-kept" class="button secondary" hidden>${texts.openKept}</a></p>
    <h2>${texts.files}</h2>
    <ul class="choices" id="files"></ul>
  </section>`;
}

function sameCall(): Html {
  const { title, note, languages, keys, ...names } = texts.call;
  const shown = (['curl', 'python', 'javascript', 'client'] as const).map((name) => ({
    ...{ id: `call-${name}`, label: names[name] },
    content: codeBlock({ id: `code-${name}`, label: names[name], text: '' }),
  }));
  return card({
    ...{ title, note, id: 'same-call' },
    action: html`<a href="${PATHS.keys}">${keys}</a>`,
    content: tabs(languages, shown),
  });
}
