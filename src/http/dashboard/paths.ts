/** Where the pages are. */
import { SHARE } from '../app/share-path.js';

export const DASHBOARD = '/dashboard';
/** The API's reference. */
export const DOCS = '/docs';

export const PATHS = {
  overview: DASHBOARD,
  usage: `${DASHBOARD}/usage`,
  usageCsv: `${DASHBOARD}/usage.csv`,
  keys: `${DASHBOARD}/keys`,
  madeKey: `${DASHBOARD}/keys/made`,
  try: `${DASHBOARD}/try`,
  tryTranscribe: `${DASHBOARD}/try/transcribe`,
  tryLive: `${DASHBOARD}/try/live`,
  transcripts: `${DASHBOARD}/transcripts`,
  transcriptSettings: `${DASHBOARD}/transcripts/settings`,
  history: `${DASHBOARD}/history`,
  account: `${DASHBOARD}/account`,
  password: `${DASHBOARD}/account/password`,
  endOthers: `${DASHBOARD}/account/sessions/end-others`,
  accounts: `${DASHBOARD}/operator/accounts`,
  load: `${DASHBOARD}/operator/load`,
  loadEvents: `${DASHBOARD}/operator/load/events`,
  models: `${DASHBOARD}/operator/models`,
  server: `${DASHBOARD}/operator/server`,
  audit: `${DASHBOARD}/operator/audit`,
  signIn: `${DASHBOARD}/sign-in`,
  link: `${DASHBOARD}/link`,
  signOut: `${DASHBOARD}/sign-out`,
  theme: `${DASHBOARD}/theme`,
  help: `${DASHBOARD}/help`,
} as const;

export function signInUrl(base: string, token: string): string {
  return `${base}${PATHS.link}?token=${token}`;
}

export const endSessionPath = (id: string): string => `${DASHBOARD}/account/sessions/${id}/end`;

/** `action`: of a form on the account's page. */
export function operatedPath(
  id: string,
  action?: 'grant' | 'role' | 'link' | 'suspend' | 'resume' | 'export' | 'delete',
): string {
  return `${PATHS.accounts}/${id}${action === undefined ? '' : `/${action}`}`;
}

/** Of a form beside the model. */
export function modelActionPath(name: string, action: 'download' | 'cancel' | 'use'): string {
  return `${PATHS.models}/${name}/${action}`;
}

/** `action`: of a page or a form of the transcript. */
export function transcriptPath(
  id: string,
  action?:
    | 'audio'
    | 'export'
    | 'words'
    | 'segments'
    | 'names'
    | 'merge'
    | 'replace'
    | 'notes'
    | 'notes/delete'
    | 'undo'
    | 'shares'
    | 'changes'
    | 'delete',
): string {
  return `${PATHS.transcripts}/${id}${action === undefined ? '' : `/${action}`}`;
}

export function exportPath(id: string, format: string, isTranslated = false): string {
  return `${transcriptPath(id, 'export')}?format=${format}${isTranslated ? '&translation=true' : ''}`;
}

/** Of a link that somebody has. */
export const sharedPath = (token: string): string => `${SHARE}/${token}`;

/** Of a link that was given out. */
export const revokeSharePath = (id: string, share: string): string => `${transcriptPath(id, 'shares')}/${share}/revoke`;

export const revokePath = (id: string): string => `${DASHBOARD}/keys/${id}/revoke`;

export const jobPath = (id: string): string => `${DASHBOARD}/jobs/${id}`;

export const jobDownloadPath = (id: string, format: string): string => `${DASHBOARD}/jobs/${id}/result/${format}`;

/** Of a request that runs and is no job. */
export const cancelRequestPath = (id: string): string => `${DASHBOARD}/requests/${id}/cancel`;

export const endJobPath = (id: string): string => `${DASHBOARD}/jobs/${id}/end`;

const PAGES: readonly string[] = [
  PATHS.overview,
  PATHS.try,
  PATHS.usage,
  PATHS.keys,
  PATHS.transcripts,
  PATHS.history,
  PATHS.account,
  PATHS.accounts,
  PATHS.load,
  PATHS.models,
  PATHS.server,
  PATHS.audit,
  PATHS.help,
];

/** Where to go after signing in: a page of ours, whatever the form says. */
export function pageOrOverview(given: string | null): string {
  return PAGES.find((page) => page === given) ?? PATHS.overview;
}
