/** The first page: what can be spent and how long it lasts, what runs, what was done, and what to do first. */
import { DASHBOARD_KEY } from '../../ledger/rows/passwords.js';
import { DAY_MS, utcDay } from '../../ledger/time.js';
import type { StoredTranscript } from '../../ledger/transcripts.js';
import type { Account } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { EMPTY_PACKS } from './credit-packs.js';
import { daysLeft } from './credit-runway.js';
import { demonstrationNote } from './demonstration-note.js';
import type { StepStates } from './first-steps.js';
import { homeView, type HomeState } from './home-view.js';
import { PATHS } from './paths.js';
import { minutesByDay } from './seven-days.js';
import type { PageHandlers } from './page-handlers.js';

const DAYS = 7;
const RECENT = 5;
const MOST_RUNNING = 100;
const SHOWN_JOBS = 5;

export function homeRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const page = pages.memberPage(async ({ account }) =>
    homeView(await stateOf(deps, account), demonstrationNote(deps, account)),
  );
  return [{ path: PATHS.overview, methods: { GET: page } }];
}

async function stateOf(deps: HttpDeps, account: Account): Promise<HomeState> {
  const { clock, jobs, ledger } = deps;
  const { credits, history } = ledger;
  const [packs, usage] = [await credits.packs(account.id, EMPTY_PACKS), await history.usageByDay(account.id, DAYS)];
  const recent = await history.charged(account.id, { limit: RECENT, before: null });
  const sum = (of: 'credits' | 'requests'): number => usage.reduce((total, row) => total + row[of], 0);
  const list = (status: 'running' | 'queued', limit: number) => jobs.list(account.id, { status, after: null, limit });
  return {
    ...{ balance: await credits.balance(account.id), packs, recent },
    daysLeft: daysLeft(packs, { spent: sum('credits'), days: daysOf(account, clock()) }, clock()),
    days: minutesByDay(usage, utcDay(clock()), DAYS),
    requests: sum('requests'),
    running: await history.running(account.id, MOST_RUNNING),
    jobs: await list('running', SHOWN_JOBS),
    waitingJobs: (await list('queued', MOST_RUNNING)).length,
    transcripts: await recentlyKept(deps, account),
    steps: await stepsOf(deps, account, recent.length > 0),
  };
}

async function recentlyKept({ library }: HttpDeps, { id }: Account): Promise<StoredTranscript[]> {
  const found = await library.list(id, { words: null, limit: RECENT, after: null });
  return found.map(({ stored }) => stored);
}

/** Of the last seven, those in which the account was there. */
function daysOf({ createdAt }: Account, now: number): number {
  return Math.min(DAYS, Math.max(1, Math.ceil((now - Date.parse(createdAt)) / DAY_MS)));
}

async function stepsOf({ engine, ledger }: HttpDeps, { id, role }: Account, recording: boolean): Promise<StepStates> {
  const keys = (await ledger.keys.list(id)).filter(({ name }) => name !== DASHBOARD_KEY);
  return {
    model: role === 'operator' ? !engine.info.isDemonstration : null,
    ...{ key: keys.length > 0, recording, call: keys.some(({ lastUsedAt }) => lastUsedAt !== null) },
  };
}
