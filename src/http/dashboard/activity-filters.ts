/** Which part of an account's activity is shown: the query of the page's address, and its form. */
import { ACTIVITY_STATES, type ActivityPlace, type ActivityState } from '../../ledger/history.js';
import { linkButton, button } from './components/button.js';
import { select } from './components/field.js';
import { html, type Html } from './html.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';

const { history: texts } = TEXTS;
const DAYS = [7, 30, 90] as const;

export interface ActivityFilters {
  state: ActivityState | null;
  keyId: string | null;
  endpoint: string | null;
  days: number | null;
}

/** What may be chosen, beside the states and days. */
export interface FilterChoices {
  keys: readonly { id: string; name: string }[];
  endpoints: readonly string[];
}

type Query = Readonly<Record<string, unknown>>;

/** null: none, or an empty text, which a form sends for "any". Throws a Refusal for a value that is no choice. */
export function filtersIn(query: Query): ActivityFilters {
  const days = chosen(query, 'days', (given) => DAYS.find((one) => String(one) === given));
  return {
    state: chosen(query, 'state', (given) => ACTIVITY_STATES.find((one) => one === given)),
    keyId: chosen(query, 'key', (given) => (/^key_[\w-]{1,100}$/.test(given) ? given : undefined)),
    endpoint: chosen(query, 'endpoint', (given) => (/^\/[\w/.-]{1,100}$/.test(given) ? given : undefined)),
    days,
  };
}

function chosen<T>(query: Query, name: string, read: (given: string) => T | undefined): T | null {
  const given = query[name];
  if (given === undefined || given === '') return null;
  const value = typeof given === 'string' ? read(given) : undefined;
  if (value === undefined) throw new Refusal(400, TEXTS.errors.noFilter(name));
  return value;
}

/** Throws a Refusal. */
export function placeIn({ after }: Query): ActivityPlace | null {
  if (after === undefined) return null;
  const [, at, place] = (typeof after === 'string' && /^(\d{1,16})\.([jr][\w-]{1,100})?$/.exec(after)) || [];
  if (at === undefined || Number(at) > Number.MAX_SAFE_INTEGER) throw new Refusal(400, TEXTS.errors.noEntry);
  return { at: Number(at), place: place ?? '' };
}

/** The page with these filters, from this place on. */
export function activityPath(filters: ActivityFilters, after: ActivityPlace | null): string {
  const query = new URLSearchParams();
  const { state, keyId, endpoint, days } = filters;
  for (const [name, value] of Object.entries({ state, key: keyId, endpoint, days })) {
    if (value !== null) query.set(name, String(value));
  }
  if (after !== null) query.set('after', `${after.at}.${after.place}`);
  return query.size === 0 ? PATHS.history : `${PATHS.history}?${query.toString()}`;
}

export function isFiltered(filters: ActivityFilters): boolean {
  return Object.values(filters).some((value) => value !== null);
}

export function filterForm(filters: ActivityFilters, { keys, endpoints }: FilterChoices): Html {
  const { state, keyId, endpoint, days } = filters;
  const any = (label: string) => ({ value: '', label });
  return html`<form class="filters" method="get" action="${PATHS.history}" aria-label="${texts.filters}">
    ${select({
      ...{ label: texts.state, name: 'state', value: state ?? '' },
      choices: [any(texts.anyState), ...ACTIVITY_STATES.map((value) => ({ value, label: texts.states[value] }))],
    })}
    ${select({
      ...{ label: texts.key, name: 'key', value: keyId ?? '' },
      choices: [any(texts.anyKey), ...keys.map(({ id: value, name: label }) => ({ value, label }))],
    })}
    ${select({
      ...{ label: texts.endpoint, name: 'endpoint', value: endpoint ?? '' },
      choices: [any(texts.anyEndpoint), ...endpoints.map((value) => ({ value, label: value }))],
    })}
    ${select({
      ...{ label: texts.days, name: 'days', value: days === null ? '' : String(days) },
      choices: [any(texts.anyDays), ...DAYS.map((one) => ({ value: String(one), label: texts.lastDays(one) }))],
    })}
    <div class="row">
      ${button({ label: texts.apply, kind: 'secondary' })}
      ${isFiltered(filters) && linkButton({ href: PATHS.history, label: texts.clear, kind: 'quiet' })}
    </div>
  </form>`;
}
