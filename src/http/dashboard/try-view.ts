import { languageName } from '../../engine/languages.js';
import type { Balance } from '../../ledger/types.js';
import type { Offer } from '../../transcription/offer.js';
import { number } from './format.js';
import { html, type Html } from './html.js';
import { AUDIO_HEADERS, type View } from './page.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { try: texts } = TEXTS;

export function tryView(offer: Offer, { balance }: Balance): View {
  const { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute } = offer.prices;
  const surcharge = translationCreditsPerMinute + diarizationCreditsPerMinute > 0;
  const main = html`<noscript><p role="alert">${texts.noScript}</p></noscript>
    <p>
      ${texts.price(creditsPerMinute)}
      ${surcharge && texts.surcharges(translationCreditsPerMinute, diarizationCreditsPerMinute)}
      ${texts.balance(number(balance))}
    </p>
    ${form(offer)}
    <p id="status" role="status"></p>
    <p id="failure" role="alert"></p>
    <progress id="progress" aria-label="${texts.submit}" max="100" hidden></progress>
    ${result()}`;
  return { title: TEXTS.pages.try, main, modules: ['try.js'], headers: AUDIO_HEADERS };
}

function form({ languages, targets, diarizes, prices }: Offer): Html {
  return html`<form
    id="try"
    class="card"
    action="${PATHS.tryTranscribe}"
    data-prices="${JSON.stringify(prices)}"
    data-texts="${JSON.stringify(texts.script)}"
    hidden
  >
    <label class="drop">
      ${texts.choose}
      <input type="file" name="audio" accept="audio/*,video/*" aria-describedby="formats" />
    </label>
    <p id="formats">${texts.formats}</p>
    <button type="button" id="record" class="quiet" data-stop="${texts.stop}" aria-pressed="false">
      ${texts.record}
    </button>
    ${select('language', texts.language, texts.detect, languages)}
    ${targets.length > 0 && select('translate_to', texts.translate, texts.dont, targets)}
    ${
      diarizes &&
      html`<label class="choice"
        ><input type="checkbox" name="diarize" value="true" /> ${texts.diarize}</label
      >`
    }
    <button id="submit">${texts.submit}</button>
  </form>`;
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
  return html`<section id="result" hidden>
    <audio id="audio" controls></audio>
    <div class="columns">
      <div>
        <h2>${result}</h2>
        <div id="transcript"></div>
      </div>
      <div id="translated" hidden>
        <h2>${translation}</h2>
        <div id="translation"></div>
      </div>
    </div>
    <h2>${files}</h2>
    <ul class="choices" id="files"></ul>
  </section>`;
}
