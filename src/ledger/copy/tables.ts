/** What is copied, in an order in which every row finds those that it refers to. */
export interface CopiedTable {
  name: string;
  /** The columns that SQLite selects; default: all. */
  select?: string;
  /** A column that the database goes on counting. */
  counted?: string;
}

export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'settings', select: `SELECT * FROM settings WHERE name = 'secret_check'` },
  { name: 'accounts' },
  { name: 'api_keys', select: 'SELECT *, rowid AS place FROM api_keys', counted: 'place' },
  { name: 'credit_packs', counted: 'id' },
  // None of these servers runs. Their holds are released when servers on the new ledger have seen no lease renewed.
  {
    name: 'instances',
    select: `SELECT id, 'SQLite' AS host, pid, started_at, started_at AS lease_expires_at FROM instances`,
  },
  { name: 'holds', counted: 'id' },
  { name: 'hold_parts' },
  { name: 'usage_events' },
  { name: 'usage_days' },
  { name: 'usage_keys' },
  { name: 'jobs' },
  { name: 'webhook_events' },
  { name: 'idempotency_records' },
  { name: 'libraries' },
  { name: 'transcripts' },
  { name: 'transcript_changes' },
  { name: 'transcript_shares' },
  // The words; the index of them is made by each database.
  {
    name: 'transcript_search',
    select: 'SELECT account_id, place, expires_at, tokens FROM transcript_search JOIN transcripts USING (place)',
  },
  { name: 'passwords' },
  { name: 'sign_in_links' },
  { name: 'sessions', select: 'SELECT *, rowid AS place FROM sessions', counted: 'place' },
  { name: 'dashboard_keys' },
  { name: 'account_terms' },
  { name: 'operator_actions', counted: 'id' },
];
