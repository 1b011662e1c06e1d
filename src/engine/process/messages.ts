/** The messages between this process and a child, sent as JSON. */
import { isChannelError, type ChannelError } from './channel-errors.js';

/** The file descriptor of the channel in the child. */
export const CHANNEL_FD = 3;

/** The calls of a child, by name. */
export type CallTable = Record<string, { request: unknown; progress: unknown; answer: unknown }>;

/** The parts of type T that JSON would change or lose. never: none. */
export type NotPlain<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? never
    : T extends readonly (infer Item)[]
      ? NotPlain<Item>
      : T extends ((...given: never[]) => unknown) | ArrayBufferView | ArrayBuffer | Date | Error | bigint | symbol
        ? T
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? T
          : { [Key in keyof T]-?: NotPlain<T[Key]> }[keyof T];

/** T, or `never` if JSON would lose a part of it. Code that uses `never` does not compile. */
export type Plain<T> = [NotPlain<T>] extends [never] ? T : never;

export type ToChild =
  /** The first message, sent once. */
  | { kind: 'start'; settings: unknown }
  | { kind: 'call'; id: number; name: string; request: unknown }
  /** The call must still be answered, with a failure or its result. */
  | { kind: 'abort'; id: number }
  /** Belongs to no call: changes how the child works from now on. */
  | { kind: 'notice'; value: unknown }
  | { kind: 'ping' };

export type FromChild =
  /** `value`: information about the child, if there is any. */
  | { kind: 'ready'; value?: unknown }
  /** Sent instead of `ready`: no child can start with these settings. */
  | { kind: 'unfit'; error: ChannelError }
  | { kind: 'progress'; id: number; value: unknown }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'failure'; id: number; error: ChannelError }
  /** Belongs to no call. */
  | { kind: 'report'; value: unknown }
  /** `overdue`: the native call that has run for longer than allowed. */
  | { kind: 'pong'; overdue?: string };

const OF_A_CALL = ['progress', 'answer', 'failure'];
const OTHERS = ['ready', 'unfit', 'report', 'pong'];

/** Checks messages of a child, because a child that has read a hostile file is not trusted. */
export function isFromChild(value: unknown): value is FromChild {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind, id, error } = value as { kind: unknown; id?: unknown; error?: unknown };
  if (typeof kind !== 'string' || !(OF_A_CALL.includes(kind) || OTHERS.includes(kind))) return false;
  if (OF_A_CALL.includes(kind) && typeof id !== 'number') return false;
  return kind === 'failure' || kind === 'unfit' ? isChannelError(error) : true;
}
