/** Settings: where data and models are. */
import type { SettingTable } from './setting.js';

export const STORAGE_SETTINGS = {
  VERBATIM_DATA_DIR: {
    type: 'path',
    default: 'data',
    allowed: 'a directory; it is created if it is missing',
    since: '0.2.0',
    about:
      'The directory for the database, uploads, the audio of jobs and kept recordings. Commands such as ' +
      '`accounts` and `models use` find the server by it. Servers that share jobs in PostgreSQL must share this ' +
      'directory, too.',
  },
  VERBATIM_DATABASE: {
    type: 'path',
    default: '',
    defaultText: '`verbatim.db` in `VERBATIM_DATA_DIR`',
    allowed: 'the path of an SQLite file, or `postgres://…`',
    since: '0.1.0',
    about:
      'The database of accounts, keys, credits, jobs and transcripts. The key secret lies beside an SQLite file, ' +
      'as `FILE.secret`. An address of PostgreSQL, `postgres://USER:PASSWORD@HOST/NAME?sslmode=verify-full`, lets ' +
      'several servers share one database. It needs `VERBATIM_SECRET`. `sslmode`, `sslrootcert`, `sslcert`, ' +
      '`sslkey`, `host` and `application_name` may stand after the `?`. See [PostgreSQL](postgresql.md).',
  },
  VERBATIM_DATABASE_CONNECTIONS: {
    type: 'integer',
    default: null,
    defaultText: '`16` with PostgreSQL',
    minimum: 2,
    maximum: 1000,
    since: '0.2.0',
    about:
      'The most connections of this server to PostgreSQL, beside one that listens for notifications. ' +
      '`max_connections` of the database must leave room for all servers and the command line. The variable is ' +
      'refused with SQLite.',
  },
  VERBATIM_MODELS_DIR: {
    type: 'path',
    default: '',
    defaultText: "`models` in the service's own directory",
    allowed: 'a directory',
    since: '0.1.0',
    about: 'The directory of downloaded and imported models. Packed weights are kept there, too.',
  },
} as const satisfies SettingTable;
