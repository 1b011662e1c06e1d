/** A child's end of a channel whose other end is the test. */
import type { ToChild } from '../../../src/engine/process/messages.js';
import type { Channel } from '../../../src/engine/process/serve-calls.js';

export interface FakeChannel {
  channel: Channel;
  /** What the other end says. */
  recognise: (message: ToChild) => void;
}

export function fakeChannel(send: Channel['send']): FakeChannel {
  let listener: (message: ToChild) => void = () => undefined;
  return {
    channel: {
      on: (event: string, listen: (message: ToChild) => void) =>
        event === 'message' ? (listener = listen) : undefined,
      send,
      exit: () => undefined,
    },
    recognise: (message) => listener(message),
  };
}
