import { html, type Html, type HtmlValue } from '../html.js';

interface Field {
  label: string;
  name: string;
  /** Attributes of its own, escaped: type, maxlength, autocomplete. A value of true is an attribute alone. */
  attributes?: Readonly<Record<string, string | number | boolean>>;
  value?: string;
  /** Under the field. */
  help?: string;
  /** Beside the field, and read with it. */
  error?: string | undefined;
  /** Default: the name. Two forms of a page may have a field of one name. */
  id?: string;
}

/** A field with its label, its help and what was wrong with what was sent. */
export function field({ label, name, attributes = {}, value, help, error, id = name }: Field): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      ${value !== undefined && html`value="${value}"`}
      ${attributesOf(attributes)}
      ${described(id, { help, error })}
    />
    ${explained(id, { help, error })}
  </div>`;
}

interface Choice {
  value: string;
  label: string;
}

interface Select extends Omit<Field, 'attributes'> {
  choices: readonly Choice[];
}

export function select({ label, name, choices, value = '', help, error, id = name }: Select): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}" ${described(id, { help, error })}>
      ${choices.map(
        (choice) =>
          html`<option value="${choice.value}" ${choice.value === value && html` selected`}>${choice.label}</option>`,
      )}
    </select>
    ${explained(id, { help, error })}
  </div>`;
}

interface Beside {
  help: string | undefined;
  error: string | undefined;
}

function described(id: string, { help, error }: Beside): HtmlValue {
  const ids = [...(error === undefined ? [] : [`${id}-error`]), ...(help === undefined ? [] : [`${id}-help`])];
  if (ids.length === 0) return false;
  return html`aria-describedby="${ids.join(' ')}" ${error !== undefined && html`aria-invalid="true"`}`;
}

function explained(id: string, { help, error }: Beside): HtmlValue {
  return [
    error !== undefined && html`<p class="field-error" id="${id}-error" role="alert">${error}</p>`,
    help !== undefined && html`<p class="field-help" id="${id}-help">${help}</p>`,
  ];
}

function attributesOf(given: NonNullable<Field['attributes']>): HtmlValue {
  return Object.entries(given).map(([name, value]) => {
    if (!/^[a-z-]+$/.test(name)) throw new Error(`This is no attribute: ${name}`);
    if (value === false) return null;
    return value === true ? html` ${name}` : html` ${name}="${value}"`;
  });
}
