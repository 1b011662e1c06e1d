import { expect } from 'chai';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFileLock } from '../../src/service/file-lock.js';

describe('A lock of a file', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-lock-'));
    path = join(directory, 'base.lock');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Work that has the lock until it is ended. */
  function hold(): { began: Promise<void>; end: (error?: Error) => void; done: Promise<void> } {
    let end!: (error?: Error) => void;
    const ended = new Promise<void>((resolve, reject) => {
      end = (error) => (error === undefined ? resolve() : reject(error));
    });
    let begin!: () => void;
    const began = new Promise<void>((resolve) => (begin = resolve));
    const done = withFileLock(path, () => {
      begin();
      return ended;
    });
    return { began, end, done };
  }

  it('lets one work at a time, in the order in which they look, and says once that it waits', async () => {
    const first = hold();
    await first.began;
    const events: string[] = [];
    const onWait = (): void => void events.push('waits');
    const second = withFileLock(path, () => Promise.resolve(events.push('works')), { onWait, pollMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events).to.deep.equal(['waits']);
    events.push('is released');
    first.end();
    await Promise.all([first.done, second]);
    expect(events).to.deep.equal(['waits', 'is released', 'works']);
    expect(existsSync(path)).to.equal(false);
  });

  it('is free again after work that failed', async () => {
    const first = hold();
    await first.began;
    first.end(new Error('the disk is full'));
    expect(await first.done.catch(messageOf)).to.equal('the disk is full');
    expect(await withFileLock(path, () => Promise.resolve('works'))).to.equal('works');
  });

  it('is waited for no longer than the signal permits', async () => {
    const first = hold();
    await first.began;
    const abort = new AbortController();
    const onWait = (): void => abort.abort();
    const waiting = withFileLock(path, () => Promise.reject(new Error('worked')), { signal: abort.signal, onWait });
    expect(await waiting.catch((error: unknown) => (error as Error).name)).to.equal('AbortError');
    first.end();
    await first.done;
  });

  it('names the file where none can be made', async () => {
    const nowhere = join(directory, 'missing', 'base.lock');
    const message = await withFileLock(nowhere, () => Promise.resolve('')).catch(messageOf);
    expect(message).to.contain(`"${nowhere}" cannot be created: `);
  });
});

function messageOf(error: unknown): string {
  return (error as Error).message;
}
