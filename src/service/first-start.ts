/**
 * At the first start with an empty database, creates an account with credits, and shows its keys and a curl command
 * once.
 */
import { join } from 'node:path';
import type { Ledger } from '../ledger/ledger.js';
import { MANAGEMENT_SCOPE } from '../ledger/scopes.js';
import { INSTALL_ADVICE } from '../transcription/warnings.js';

const CREDITS = 1000;
const EMAIL = 'local@localhost';

export interface FirstKeys {
  accountId: string;
  email: string;
  credits: number;
  apiKey: string;
  managementKey: string;
}

/** null: the database already has accounts. */
export async function createFirstAccount(ledger: Ledger): Promise<FirstKeys | null> {
  const keys = await ledger.accounts.createFirst({
    email: EMAIL,
    name: 'Local account',
    role: 'operator',
    credits: CREDITS,
    keys: [
      { name: 'first key', scopes: [] },
      { name: 'management', scopes: [MANAGEMENT_SCOPE] },
    ],
  });
  const [plain, management] = keys ?? [];
  if (plain === undefined || management === undefined) return null;
  return {
    accountId: plain.accountId,
    email: EMAIL,
    credits: CREDITS,
    apiKey: plain.rawKey,
    managementKey: management.rawKey,
  };
}

interface FirstStart {
  packageRoot: string;
  /** A sign-in link for the dashboard. null: there is none. */
  link: string | null;
  /** A further note for the user. */
  note: string | null;
}

export function firstStartText(keys: FirstKeys, url: string, { packageRoot, link, note }: FirstStart): string {
  const sample = join(packageRoot, 'models', 'bundled', 'sample-es.flac');
  return [
    '',
    `This database was empty, so the account ${keys.email} was created with ${keys.credits} credits.`,
    'Its keys, which are shown only this once:',
    '',
    `  API key         ${keys.apiKey}`,
    `  management key  ${keys.managementKey}`,
    '',
    ...(link === null ? [] : ['Its dashboard; the link works once, within a day:', '', `  ${link}`, '']),
    'Try it with the sample, or with the path of your own recording:',
    '',
    `  curl -H 'Authorization: Bearer ${keys.apiKey}' -F 'audio=@${sample}' ${url}/api/v1/transcribe`,
    '',
    ...(note === null ? [] : [note, '']),
  ].join('\n');
}

/** Printed at every start with a demonstration model. */
export function demonstrationText(modelName: string, isSearching: boolean): string {
  const next = isSearching
    ? 'In the background, the server chooses and downloads the best published model for this machine ' +
      '(VERBATIM_AUTO_MODEL=off prevents that).'
    : INSTALL_ADVICE;
  return (
    `The speech model "${modelName}" is a demonstration: it knows synthetic voices and a phrase book, and leaves out ` +
    `other speech. ${next}`
  );
}
