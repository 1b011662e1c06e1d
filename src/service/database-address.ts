/** The address of the ledger: the path of a SQLite file, or a PostgreSQL address. The password in it is never shown. */
import { ConfigError, UsageError } from './variables.js';

const ALLOWED =
  'the path of a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE with sslmode, sslrootcert, sslcert, sslkey, ' +
  'host or application_name behind "?"';
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'host', 'application_name'];
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

export function isPostgres(database: string): boolean {
  return /^postgres(ql)?:/i.test(database);
}

/** Throws ConfigError. */
export function checkDatabase(value: string, variable: string): string {
  if (!isPostgres(value) || isAddress(value)) return value;
  throw new ConfigError(variable, withoutPassword(value), ALLOWED);
}

/** For an option that takes only a PostgreSQL address. Throws UsageError or ConfigError. */
export function checkPostgres(value: string, option: string): string {
  if (isPostgres(value)) return checkDatabase(value, option);
  throw new UsageError(`${option} is not an address of PostgreSQL: postgres://…`);
}

/** The address without its password, for messages. */
export function withoutPassword(database: string): string {
  if (!isPostgres(database)) return database;
  if (!URL.canParse(database)) return '(hidden)';
  const { protocol, username, host, pathname } = new URL(database);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { pathname, searchParams, hash } = new URL(value);
  const known = [...searchParams.keys()].every((name) => PARAMETERS.includes(name));
  const mode = searchParams.get('sslmode') ?? 'disable';
  return pathname.length > 1 && hash === '' && known && SSL_MODES.includes(mode);
}
