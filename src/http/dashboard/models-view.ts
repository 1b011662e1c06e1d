/** Models on the disk and those that can be downloaded: the one for this machine first, then families of the rest. */
import type { MachineModel } from '../../models/automatic-model.js';
import type { ModelsInMemory, StoredModel } from '../../models/model-store.js';
import type { ModelState } from '../../models/model-switch.js';
import { card, facts } from './components/card.js';
import { table } from './components/table.js';
import { banner } from './components/toast.js';
import { number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { modelFamilies, type FoldedModels } from './model-families.js';
import { actionOf, mebibytes, modelSize, modelState, type ModelsInUse } from './model-row.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { models: texts } = TEXTS;

interface ModelsShown {
  models: readonly StoredModel[];
  turn: ModelState;
  memory: ModelsInMemory;
  /** null: this machine was not measured. */
  best: MachineModel | null;
}

export function modelsSection({ models, turn, memory, best }: ModelsShown): Html {
  const isLoading = models.some(({ state }) => state === 'downloading' || state === 'checking');
  const isRunning = isLoading || turn.change !== null;
  const inUse: ModelsInUse = { turn, loaded: memory.loaded };
  const recommended = models.find(({ name }) => name === best?.name);
  return html`<noscript>
      <p><a href="${PATHS.models}">${texts.reload}</a></p>
    </noscript>
    <div id="live" class="stack" ${isRunning && html`data-running`}>
      ${turnText(turn)}
      <div class="columns">${recommendedCard(recommended, best, inUse)} ${memoryCard(memory)}</div>
      ${card({ title: texts.title, id: 'models', note: texts.useNote, content: modelTable(models, best, inUse) })}
      <p class="soft">${texts.note}</p>
    </div>`;
}

/**
 * The change of models that runs, or the error of the last one; and the model of the next start, if that is another.
 */
function turnText({ change, last, serving, afterRestart }: ModelState): Html {
  return html`<div>
    ${change !== null && banner('information', html`<p role="status">${texts.changing(change)}</p>`)}
    ${change === null && last?.error && banner('bad', html`<p>${texts.refused(last.to, last.error)}</p>`)}
    ${afterRestart !== serving && html`<p>${texts.afterRestart(afterRestart)}</p>`}
  </div>`;
}

function recommendedCard(model: StoredModel | undefined, best: MachineModel | null, inUse: ModelsInUse): Html {
  if (model === undefined || best === null) {
    return card({ title: texts.recommended, content: html`<p class="soft">${texts.notMeasured}</p>` });
  }
  return card({
    title: texts.recommended,
    note: texts.recommendedNote,
    content: html`<p><code>${model.name}</code></p>
      ${facts([
        [texts.speed, texts.speedOf(best.speed.toFixed(best.speed < 10 ? 1 : 0))],
        [texts.sizeName, `${modelSize(model)} MiB`],
        [texts.licence, model.licence],
        [texts.state, modelState(model, inUse)],
      ])}
      <div class="row">${actionOf(model, inUse, 'primary')}</div>`,
  });
}

function memoryCard({ loaded, usedBytes, limitBytes }: ModelsInMemory): Html {
  const used = mebibytes(usedBytes);
  const isLimited = Number.isFinite(limitBytes) && limitBytes > 0;
  const percent = isLimited ? Math.min(100, Math.round((100 * usedBytes) / limitBytes)) : 0;
  return card({
    title: texts.memory,
    note: texts.memoryNote,
    content: html`${
      isLimited
        ? html`<p class="share">
            <meter min="0" max="100" value="${percent}" high="90" aria-label="${texts.memory}"></meter>
            <span>${texts.memoryOf(used, mebibytes(limitBytes))}</span>
          </p>`
        : html`<p>${texts.memoryUsed(used)}</p>`
    }
    ${facts([[texts.inMemory, loaded.map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`)]])}`,
  });
}

function modelTable(models: readonly StoredModel[], best: MachineModel | null, inUse: ModelsInUse): Html {
  const first = [...(best === null ? [] : [best.name]), inUse.turn.serving];
  return table({
    caption: texts.title,
    columns: [texts.name, texts.kind, texts.size, texts.licence, texts.state, texts.action],
    figures: [2],
    rows: [...unlisted(models, inUse), ...modelFamilies(models, first).map((family) => rowOf(family, inUse))],
  });
}

/** The one that serves may be a file that no list knows. */
function unlisted(models: readonly StoredModel[], { turn }: ModelsInUse): HtmlValue[][] {
  if (models.some(({ name }) => name === turn.serving)) return [];
  return [[html`<code>${turn.serving}</code>`, '', '', '', texts.serves, '']];
}

function rowOf({ name, main, others }: FoldedModels, inUse: ModelsInUse): HtmlValue[] {
  return [
    html`<code>${main.name}</code> ${others.length > 0 && folded(name, others, inUse)}`,
    main.kind,
    modelSize(main),
    main.licence,
    modelState(main, inUse),
    actionOf(main, inUse),
  ];
}

/** The other precisions of a model. */
function folded(name: string, others: readonly StoredModel[], inUse: ModelsInUse): Html {
  return html`<details class="variants" id="variants-${name}">
    <summary>${texts.variants(number(others.length))}</summary>
    <ul>
      ${others.map(
        (model) =>
          html`<li>
            <span>${model.name}</span> <span class="soft">${modelSize(model)} MiB</span> ${modelState(model, inUse)}
            ${actionOf(model, inUse)}
          </li>`,
      )}
    </ul>
  </details>`;
}
