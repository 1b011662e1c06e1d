import { languageName } from '../../engine/languages.js';
import { MOST_SPEAKERS } from '../../engine/speakers/speaker-engine.js';
import type { LibrarySettings } from '../../ledger/transcripts.js';
import type { Balance } from '../../ledger/types.js';
import type { Offer } from '../../transcription/offer.js';
import { MOST_PROMPT_CHARACTERS } from '../../transcription/options.js';
import { button } from './components/button.js';
import { card } from './components/card.js';
import { field, select } from './components/field.js';
import { icon } from './components/icon.js';
import { number } from './format.js';
import { html, type Html } from './html.js';
import { AUDIO_HEADERS, type View } from './page.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';
import { keepFields } from './transcripts/list-view.js';
import { resultPane } from './try-result-view.js';

const { try: texts } = TEXTS;

interface Choices extends Balance {
  offer: Offer;
  /** Names of the installed speech models, the default first. */
  models: readonly string[];
  keeping: LibrarySettings;
}

export function tryView(note: Html | null, choices: Choices): View {
  const { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute } = choices.offer.prices;
  const surcharge = translationCreditsPerMinute + diarizationCreditsPerMinute > 0;
  const lead = html`${texts.price(creditsPerMinute)}
    ${surcharge && texts.surcharges(translationCreditsPerMinute, diarizationCreditsPerMinute)} ${texts.balance}
    <span id="balance">${number(choices.balance)}</span>.`;
  const main = html`${note} ${choices.keeping.decidedAt === null && keepQuestion(choices.keeping)}<noscript
      ><p role="alert">${texts.noScript}</p></noscript
    >
    <div class="workbench" id="workbench" hidden>${form(choices)} ${resultPane()}</div>`;
  return { title: TEXTS.pages.try, lead, main, modules: ['try.js', 'copy.js'], headers: AUDIO_HEADERS };
}

function form({ offer, models, balance, keeping }: Choices): Html {
  const { languages, targets, liveTargets, diarizes, prices } = offer;
  return html`<form
    id="try"
    class="card"
    action="${PATHS.tryTranscribe}"
    aria-label="${texts.settings}"
    data-live="${PATHS.tryLive}"
    data-live-targets="${JSON.stringify(liveTargets)}"
    data-prices="${JSON.stringify(prices)}"
    data-balance="${balance}"
    data-language="${TEXTS.language}"
    data-texts="${JSON.stringify(texts.script)}"
  >
    <label class="drop">
      <span>${icon('upload')} ${texts.choose}</span>
      <input type="file" name="audio" accept="audio/*,video/*" multiple aria-describedby="formats" />
      <span class="hint" id="formats">${texts.formats}</span>
    </label>
    ${microphone(offer)} ${models.length > 1 && modelChoice(models)}
    ${select({ name: 'language', label: texts.language, choices: named(texts.detect, languages) })}
    ${
      targets.length > 0 &&
      select({ name: 'translate_to', label: texts.translate, choices: named(texts.dont, targets) })
    }
    ${diarizes && speakers()} ${keepChoice(keeping)} ${more()}
    <p id="price" role="status"></p>
    <div class="row">
      ${button({ id: 'submit', label: texts.submit, icon: 'transcribe' })}
      <button type="button" id="cancel-all" class="secondary" hidden>${texts.cancelAll}</button>
    </div>
  </form>`;
}

function microphone({ prices, liveTargets }: Offer): Html {
  const withTranslation = liveTargets.length > 0 ? prices.translationCreditsPerMinute : 0;
  return html`<div class="microphone">
      <button type="button" id="record" class="secondary" data-stop="${texts.stop}">
        ${icon('microphone')}<span>${texts.record}</span>
      </button>
      <span class="row" id="recording-now" hidden>
        <meter id="level" min="0" max="1" aria-label="${texts.level}"></meter>
        <span id="timer"></span>
      </span>
    </div>
    <label class="choice">
      <input type="checkbox" id="wants-captions" />
      ${texts.captions(prices.creditsPerMinute, withTranslation)}
    </label>`;
}

function modelChoice(models: readonly string[]): Html {
  const [first = '', ...others] = models;
  return select({
    ...{ name: 'model', label: texts.model },
    choices: [{ value: '', label: texts.defaultModel(first) }, ...others.map((name) => ({ value: name, label: name }))],
  });
}

/** Asked once: what the account keeps from now on. */
function keepQuestion(keeping: LibrarySettings): Html {
  return card({
    title: texts.keepQuestion,
    note: texts.keepNote,
    content: html`<form class="keep-form" method="post" action="${PATHS.transcriptSettings}">
      <input type="hidden" name="from" value="try" />
      ${keepFields(keeping)} ${button({ label: TEXTS.transcripts.save, kind: 'secondary' })}
    </form>`,
  });
}

function keepChoice({ isOn }: LibrarySettings): Html {
  const choices = [
    { value: 'true', label: texts.keep.yes },
    { value: 'false', label: texts.keep.no },
  ];
  return select({ name: 'keep', id: 'keep-this', label: texts.keep.label, choices, value: String(isOn) });
}

function speakers(): Html {
  return html`<label class="choice"><input type="checkbox" name="diarize" value="true" /> ${texts.diarize}</label>
    <div id="speakers" hidden>
      ${field({
        ...{ name: 'num_speakers', label: texts.speakers },
        attributes: { type: 'number', min: 1, max: MOST_SPEAKERS, step: 1, inputmode: 'numeric' },
      })}
    </div>`;
}

/** What is chosen more rarely. */
function more(): Html {
  return html`<details class="more">
    <summary>${texts.more}</summary>
    <div class="stack">
      <div class="field">
        <label for="prompt">${texts.prompt}</label>
        <textarea
          id="prompt"
          name="prompt"
          rows="2"
          maxlength="${MOST_PROMPT_CHARACTERS}"
          dir="auto"
          aria-describedby="prompt-help"
        ></textarea>
        <p class="field-help" id="prompt-help">${texts.promptHelp}</p>
      </div>
      <label class="choice"><input type="checkbox" name="punctuate" value="false" /> ${texts.plain}</label>
    </div>
  </details>`;
}

function named(none: string, codes: readonly string[]): { value: string; label: string }[] {
  const languages = codes.map((code) => ({ value: code, label: languageName(code) }));
  languages.sort((one, other) => one.label.localeCompare(other.label));
  return [{ value: '', label: none }, ...languages];
}
