import { languageName } from '../../engine/languages.js';
import { MOST_SPEAKERS } from '../../engine/speakers/speaker-engine.js';
import type { Balance } from '../../ledger/types.js';
import type { Offer } from '../../transcription/offer.js';
import { number } from './format.js';
import { html, type Html } from './html.js';
import { AUDIO_HEADERS, type View } from './page.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { try: texts } = TEXTS;

export function tryView(note: Html | null, offer: Offer, { balance }: Balance): View {
  const { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute } = offer.prices;
  const surcharge = translationCreditsPerMinute + diarizationCreditsPerMinute > 0;
  const main = html`${note}<noscript><p role="alert">${texts.noScript}</p></noscript>
    <p>
      ${texts.price(creditsPerMinute)}
      ${surcharge && texts.surcharges(translationCreditsPerMinute, diarizationCreditsPerMinute)} ${texts.estimate}
      ${texts.balance} <span id="balance">${number(balance)}</span>.
    </p>
    ${form(offer, balance)} ${progress()} ${result()}`;
  return { title: TEXTS.pages.try, main, modules: ['try.js'], headers: AUDIO_HEADERS };
}

function form({ languages, targets, liveTargets, diarizes, prices }: Offer, balance: number): Html {
  return html`<form
    id="try"
    class="card"
    action="${PATHS.tryTranscribe}"
    data-live="${PATHS.tryLive}"
    data-live-targets="${JSON.stringify(liveTargets)}"
    data-prices="${JSON.stringify(prices)}"
    data-balance="${balance}"
    data-language="${TEXTS.language}"
    data-texts="${JSON.stringify(texts.script)}"
    hidden
  >
    <label class="drop">
      ${texts.choose}
      <input type="file" name="audio" accept="audio/*,video/*" aria-describedby="formats" />
    </label>
    <p id="formats">${texts.formats}</p>
    <button type="button" id="record" class="quiet" data-stop="${texts.stop}">${texts.record}</button>
    <label class="choice">
      <input type="checkbox" id="wants-captions" />
      ${texts.captions(prices.creditsPerMinute, liveTargets.length > 0 ? prices.translationCreditsPerMinute : 0)}
    </label>
    ${select('language', texts.language, texts.detect, languages)}
    ${targets.length > 0 && select('translate_to', texts.translate, texts.dont, targets)} ${diarizes && speakers()}
    <p id="price" role="status"></p>
    <button id="submit">${texts.submit}</button>
  </form>`;
}

function speakers(): Html {
  return html`<label class="choice"><input type="checkbox" name="diarize" value="true" /> ${texts.diarize}</label>
    <label id="speakers" hidden>
      ${texts.speakers}
      <input type="number" name="num_speakers" min="1" max="${MOST_SPEAKERS}" step="1" inputmode="numeric" />
    </label>`;
}

/** Of the upload, then of the work, with the text as far as it is final. */
function progress(): Html {
  return html`<p id="failure" role="alert"></p>
    <p class="row">
      <span id="status" role="status"></span>
      <span id="amount"></span>
      <button type="button" id="cancel" class="quiet" hidden>${texts.cancel}</button>
    </p>
    <progress id="progress" aria-label="${texts.progress}" max="1" hidden></progress>
    <section id="captions" hidden>
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
    </section>
    <section id="coming" hidden>
      <h2>${texts.soFar}</h2>
      <p id="so-far"></p>
    </section>`;
}

function select(name: string, label: string, none: string, codes: readonly string[]): Html {
  const named = codes.map((code) => ({ code, name: languageName(code) }));
  named.sort((one, other) => one.name.localeCompare(other.name));
  return html`<label>
    ${label}
    <select name="${name}">
      <option value="">${none}</option>
      ${named.map((language) => html`<option value="${language.code}">${language.name}</option>`)}
    </select>
  </label>`;
}

function result(): Html {
  const { result, translation, files } = texts;
  return html`<section id="player" aria-label="${texts.audio}" hidden>
      <audio id="audio" controls></audio>
    </section>
    <section id="result" hidden>
      <div class="columns">
        <div>
          <h2 id="transcript-title">${result}</h2>
          <p id="word-help">${texts.wordHelp}</p>
          <div id="transcript" class="lines" role="region" aria-labelledby="transcript-title"></div>
        </div>
        <div id="translated" hidden>
          <h2 id="translation-title">${translation}</h2>
          <div id="translation" class="lines" role="region" aria-labelledby="translation-title"></div>
        </div>
      </div>
      <h2>${files}</h2>
      <ul class="choices" id="files"></ul>
    </section>`;
}
