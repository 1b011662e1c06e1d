/** A child that does what the test says, and nothing else. */
import { expect } from 'chai';
import type { ChildProcessHandle, ChildEvents, StartChild } from '../../../src/engine/process/child.js';
import type { FromChild, ToChild } from '../../../src/engine/process/messages.js';
import type { ManualTimers } from '../../support/manual-timers.js';

export class FakeChild implements ChildProcessHandle {
  readonly received: ToChild[] = [];
  killed = false;
  isReady = false;
  pid: number | undefined;

  readonly #ended = new Set<number>();

  constructor(
    private readonly events: ChildEvents,
    pid: number,
  ) {
    this.pid = pid;
  }

  send(message: ToChild): void {
    if (this.pid !== undefined) this.received.push(message);
  }

  /** Its end is reported later, as an operating system does: by exit(). */
  kill(): void {
    this.killed = true;
  }

  say(message: FromChild, bytes = 100): void {
    if (message.kind === 'ready') this.isReady = true;
    if ('id' in message && message.kind !== 'progress') this.#ended.add(message.id);
    this.events.message(message, bytes);
  }

  exit(how = 'SIGKILL'): void {
    this.pid = undefined;
    this.events.exit(how);
  }

  /** The calls that it was sent, by their request. */
  get calls(): unknown[] {
    return this.received.flatMap((message) => (message.kind === 'call' ? [message.request] : []));
  }

  /** Those of them that are neither answered nor aborted; none once it has exited. */
  get open(): unknown[] {
    if (this.pid === undefined) return [];
    const aborted = new Set(this.received.flatMap((message) => (message.kind === 'abort' ? [message.id] : [])));
    return this.received.flatMap((message) =>
      message.kind === 'call' && !aborted.has(message.id) && !this.#ended.has(message.id) ? [message.request] : [],
    );
  }

  answer(request: unknown, value: unknown = `${String(request)}!`): void {
    this.say({ kind: 'answer', id: this.idOf(request), value });
  }

  idOf(request: unknown): number {
    const call = this.received.findLast((message) => message.kind === 'call' && message.request === request);
    if (call?.kind !== 'call') throw new Error(`It was not asked for ${String(request)}.`);
    return call.id;
  }
}

export function fakeChildren(): { children: FakeChild[]; start: StartChild } {
  const children: FakeChild[] = [];
  const start: StartChild = (events) => {
    const child = new FakeChild(events, 1000 + children.length);
    children.push(child);
    return child;
  };
  return { children, start };
}

/** The next child starts after so many milliseconds, and not one earlier. */
export function startsAfter(children: readonly FakeChild[], timers: ManualTimers, milliseconds: number): void {
  const before = children.length;
  timers.pass(milliseconds - 1);
  expect(children, `before ${milliseconds} ms`).to.have.length(before);
  timers.pass(1);
  expect(children, `after ${milliseconds} ms`).to.have.length(before + 1);
}
