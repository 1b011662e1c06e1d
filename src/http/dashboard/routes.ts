/** /dashboard: pages for people. Cookies open these and nothing else; API keys open none of them. */
import type { ErrorForm } from '../app/error-handler.js';
import { ERROR_TABLE } from '../errors/error-table.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { themeOf } from '../app/theme.js';
import { accountPageRoutes } from './account.js';
import { historyRoutes } from './history.js';
import { jobPageRoutes } from './jobs.js';
import { keyPageRoutes } from './keys.js';
import { tryRoutes } from './try.js';
import { usageRoutes } from './usage.js';
import { transcriptListRoutes } from './transcripts/list.js';
import { openedTranscriptRoutes } from './transcripts/opened.js';
import { transcriptShareRoutes } from './transcripts/shares.js';
import { DashboardAssets } from './assets.js';
import { operatedAccountRoutes } from './accounts.js';
import { loadRoutes } from './load.js';
import { auditRoutes } from './audit.js';
import { operatedServerRoutes } from './operated-server.js';
import { homeRoutes } from './home.js';
import { documentOf, PAGE_HEADERS } from './page.js';
import { PATHS } from './paths.js';
import { PasswordChecks } from './password-checks.js';
import { helpRoutes } from './help.js';
import { signInRoutes } from './sign-in.js';
import { themeRoutes } from './theme-routes.js';
import { refusalView, PageHandlers } from './page-handlers.js';

const assets = new DashboardAssets();

/** What people and browsers ask of any site: where to begin, and an icon. */
function siteRoutes({ settings }: HttpDeps): Route[] {
  const start = settings.dashboard ? PATHS.overview : '/docs';
  return [
    { path: '/', methods: { GET: (exchange) => exchange.seeOther(start) } },
    { path: '/favicon.ico', methods: { GET: assets.icon } },
  ];
}

export function dashboardRoutes(deps: HttpDeps): Route[] {
  if (!deps.settings.dashboard) return siteRoutes(deps);
  const pages = new PageHandlers(deps, assets);
  const checks = new PasswordChecks(deps.clock);
  return [
    ...siteRoutes(deps),
    ...signInRoutes(deps, pages, checks),
    ...homeRoutes(deps, pages),
    ...tryRoutes(deps, pages),
    ...transcriptListRoutes(deps, pages),
    ...openedTranscriptRoutes(deps, pages),
    ...transcriptShareRoutes(deps, pages),
    ...usageRoutes(deps, pages),
    ...keyPageRoutes(deps, pages),
    ...historyRoutes(deps, pages),
    ...jobPageRoutes(deps, pages),
    ...operatedAccountRoutes(deps, pages),
    ...loadRoutes(deps, pages),
    ...operatedServerRoutes(deps, pages),
    ...auditRoutes(deps, pages),
    ...accountPageRoutes(deps, pages, checks),
    ...helpRoutes(pages),
    ...themeRoutes(pages),
    // What people type, and browsers complete.
    { path: `${PATHS.overview}/`, methods: { GET: pages.page(() => ({ to: PATHS.overview })) } },
    { path: DashboardAssets.path, methods: { GET: assets.serve } },
    {
      path: `${PATHS.overview}/*rest`,
      methods: { GET: pages.lost, POST: pages.lost, DELETE: pages.lost },
    },
  ];
}

/** Errors of its paths, as a page. */
export const dashboardError: ErrorForm = ({ code, message }, { req }) => {
  const { status } = ERROR_TABLE[code];
  const view = refusalView({ status, message, headers: {} });
  const body = documentOf(view, assets, { account: null, path: req.path, theme: themeOf({ req }) });
  return { status, body, headers: PAGE_HEADERS };
};
