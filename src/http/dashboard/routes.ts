/** /dashboard: pages for people. Cookies open these and nothing else; API keys open none of them. */
import type { ErrorForm } from '../error-handler.js';
import { ERROR_TABLE } from '../error-table.js';
import type { HttpDeps } from '../deps.js';
import type { Route } from '../route.js';
import { accountPageRoutes } from './account.js';
import { historyRoutes } from './history.js';
import { jobPageRoutes } from './jobs.js';
import { keyPageRoutes } from './keys.js';
import { tryRoutes } from './try.js';
import { usageRoutes } from './usage.js';
import { DashboardAssets } from './assets.js';
import { operatedAccountRoutes } from './accounts.js';
import { loadRoutes } from './load.js';
import { auditRoutes } from './audit.js';
import { operatedServerRoutes } from './operated-server.js';
import { overviewRoutes } from './overview.js';
import { documentOf, PAGE_HEADERS } from './page.js';
import { PATHS } from './paths.js';
import { PasswordChecks } from './password-checks.js';
import { signInRoutes } from './sign-in.js';
import { refusalView, Visits } from './visits.js';

const assets = new DashboardAssets();

export function dashboardRoutes(deps: HttpDeps): Route[] {
  if (!deps.settings.dashboard) return [];
  const visits = new Visits(deps, assets);
  const checks = new PasswordChecks(deps.clock);
  return [
    ...signInRoutes(deps, visits, checks),
    ...overviewRoutes(deps, visits),
    ...tryRoutes(deps, visits),
    ...usageRoutes(deps, visits),
    ...keyPageRoutes(deps, visits),
    ...historyRoutes(deps, visits),
    ...jobPageRoutes(deps, visits),
    ...operatedAccountRoutes(deps, visits),
    ...loadRoutes(deps, visits),
    ...operatedServerRoutes(deps, visits),
    ...auditRoutes(deps, visits),
    ...accountPageRoutes(deps, visits, checks),
    // What people type, and browsers complete.
    { path: `${PATHS.overview}/`, methods: { GET: visits.page(() => ({ to: PATHS.overview })) } },
    { path: DashboardAssets.path, methods: { GET: assets.serve } },
    {
      path: `${PATHS.overview}/*rest`,
      methods: { GET: visits.lost, POST: visits.lost, DELETE: visits.lost },
    },
  ];
}

/** Errors of its paths, as a page. */
export const dashboardError: ErrorForm = ({ code, message }, { req }) => {
  const { status } = ERROR_TABLE[code];
  const view = refusalView({ status, message, headers: {} });
  const body = documentOf(view, assets, { account: null, path: req.path });
  return { status, body, headers: PAGE_HEADERS };
};
