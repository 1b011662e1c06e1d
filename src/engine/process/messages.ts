/** The messages on the channel between this process and a child, as JSON. */
import { isChannelError, type ChannelError } from './channel-errors.js';

/** The file descriptor of a child's end. */
export const CHANNEL_FD = 3;

/** The calls of a child, by name. */
export type CallTable = Record<string, { request: unknown; progress: unknown; answer: unknown }>;

/** What JSON would change or lose of a value of type T; never: nothing. */
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

/** T, or `never` where JSON would lose some of it: what uses it then does not compile. */
export type Plain<T> = [NotPlain<T>] extends [never] ? T : never;

export type ToChild =
  /** First, once. */
  | { kind: 'start'; settings: unknown }
  | { kind: 'call'; id: number; name: string; request: unknown }
  /** The call is still to be answered, by a failure or by its result. */
  | { kind: 'abort'; id: number }
  /** Of no call: how it is to work from now on. */
  | { kind: 'notice'; value: unknown }
  | { kind: 'ping' };

export type FromChild =
  /** With information about itself, if there is any. */
  | { kind: 'ready'; value?: unknown }
  /** In place of `ready`: no child will ever start with these settings. */
  | { kind: 'unfit'; error: ChannelError }
  | { kind: 'progress'; id: number; value: unknown }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'failure'; id: number; error: ChannelError }
  /** Of no call. */
  | { kind: 'report'; value: unknown }
  /** `overdue`: the native call that has been running for longer than it may. */
  | { kind: 'pong'; overdue?: string };

const OF_A_CALL = ['progress', 'answer', 'failure'];
const OTHERS = ['ready', 'unfit', 'report', 'pong'];

/** A child that has read a hostile file is not trusted. */
export function isFromChild(value: unknown): value is FromChild {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind, id, error } = value as { kind: unknown; id?: unknown; error?: unknown };
  if (typeof kind !== 'string' || !(OF_A_CALL.includes(kind) || OTHERS.includes(kind))) return false;
  if (OF_A_CALL.includes(kind) && typeof id !== 'number') return false;
  return kind === 'failure' || kind === 'unfit' ? isChannelError(error) : true;
}
