import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { syncToDisk } from './database.js';
import { makePrivateFile } from './private-file.js';
import type { SettledHold } from './reversals.js';

/**
 * Charges that the disk did not take, written down beside the database, one file for each server. They are reversed at
 * once, but a power cut may leave a charge on the disk and lose its reversal. The next start reads here which charges
 * to reverse.
 */
export class UnsyncedCharges {
  constructor(private readonly database: string) {}

  /** The entry is on the disk when this returns. If the disk does not even take that, `onError` gets the error. */
  add(instance: string, charge: SettledHold, onError: (error: unknown) => void): void {
    const file = this.#file(instance);
    try {
      makePrivateFile(file);
      appendFileSync(file, `${JSON.stringify(charge)}\n`);
      syncToDisk(file);
      syncToDisk(dirname(file));
    } catch (error) {
      onError(error);
    }
  }

  of(instance: string): SettledHold[] {
    const file = this.#file(instance);
    return existsSync(file) ? chargesIn(file) : [];
  }

  /** Servers that have written some down. */
  instances(): string[] {
    const prefix = basename(this.#file(''));
    return readdirSync(dirname(this.database))
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  }

  /** Once their reversals are on the disk. */
  remove(instance: string): void {
    rmSync(this.#file(instance), { force: true });
  }

  #file(instance: string): string {
    return `${this.database}-unsynced-${instance}`;
  }
}

/** A line that a power cut cut short is left out. */
function chargesIn(file: string): SettledHold[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const found = /^\{"id":(\d+),"settledAt":(\d+)\}$/.exec(line);
      return found === null ? [] : [{ id: Number(found[1]), settledAt: Number(found[2]) }];
    });
}
