/** The switch between light and dark, as a form. */
import type { Route } from '../app/route.js';
import { THEMES } from '../app/theme.js';
import { DASHBOARD, PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { themeCookie } from './theme.js';
import { fieldOf, type PageHandlers, type PageReply, type PageRequest } from './page-handlers.js';

/** Of the dashboard's own pages, without a query. */
const OWN_PATH = new RegExp(`^${DASHBOARD}(/[\\w~.@:-]+)*$`);

export function themeRoutes(pages: PageHandlers): Route[] {
  function choose({ site }: PageRequest, form: URLSearchParams): PageReply {
    const theme = THEMES.find((known) => known === fieldOf(form, 'theme'));
    if (theme === undefined) throw new Refusal(400, TEXTS.errors.noTheme);
    const next = form.get('next') ?? '';
    return { to: OWN_PATH.test(next) ? next : PATHS.overview, cookie: themeCookie(site, theme) };
  }
  return [{ path: PATHS.theme, methods: { POST: pages.form(choose) } }];
}
