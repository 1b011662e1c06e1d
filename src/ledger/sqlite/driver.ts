/**
 * SQLite's driver: better-sqlite3. Node.js 20 gets version 12, the last that runs on it; newer ones get 13, which is on
 * Node-API. Version 12, compiled for Node.js 24.19 or newer, aborts the process when a statement is collected outside
 * Node's own context, or when a thread ends with an open database.
 */
import { createRequire } from 'node:module';
import type BetterSqlite from 'better-sqlite3';

const FIRST_OF_13 = 22;
const version = Number(process.versions.node.split('.')[0]);
const name = version < FIRST_OF_13 ? 'better-sqlite3' : 'better-sqlite3-13';

export const Database = createRequire(__filename)(name) as typeof BetterSqlite;
export type Database = BetterSqlite.Database;
