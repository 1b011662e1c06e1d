import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { EngineError } from '../../../src/engine/native-errors.js';
import type { FromChild, ToChild } from '../../../src/engine/process/messages.js';
import { serveCalls, type CallContext, type SelfReport } from '../../../src/engine/process/serve-calls.js';
import { fakeChannel } from './fake-channel.js';

type Calls = { work: { request: unknown; progress: string; answer: unknown } };

describe('The child’s end of the channel', () => {
  let sent: FromChild[];
  let recognise: (message: ToChild) => void;
  let before: string[];
  let ended: number;
  let work: (request: unknown, context: CallContext<string>) => Promise<unknown>;

  beforeEach(async () => {
    sent = [];
    before = [];
    const { channel, ...other } = fakeChannel((message, done) => {
      sent.push(structuredClone(message));
      done(null);
    });
    recognise = other.recognise;
    ended = 0;
    channel.exit = () => {
      ended++;
    };
    serveCalls<Calls>((_, self: SelfReport) => {
      Object.assign(self, {
        beforeCall: () => before.push('call'),
        beforeAnswer: () => before.push('answer'),
      } satisfies SelfReport);
      return Promise.resolve({ work: (request, context) => work(request, context) });
    }, channel);
    recognise({ kind: 'start', settings: null });
    await turn();
    sent.splice(0);
  });

  const call = async (): Promise<void> => {
    recognise({ kind: 'call', id: 7, name: 'work', request: null });
    await turn();
  };
  const kinds = (): string[] => sent.map(({ kind }) => kind);

  it('reports progress while a call runs, and nothing after its end', async () => {
    let late: () => Promise<void> = () => Promise.resolve();
    work = async (_, { progress }) => {
      late = () => progress('late');
      await progress('early');
      return 'done';
    };
    await call();
    await late();
    expect(kinds()).to.deep.equal(['progress', 'answer']);
    expect(before).to.deep.equal(['call', 'answer']);
  });

  it('reports a failure in place of an answer that cannot be sent, and ends the call once', async () => {
    work = () => Promise.resolve(() => 'no structured clone');
    await call();
    expect(kinds()).to.deep.equal(['failure']);
    expect(before).to.deep.equal(['call', 'answer']);
  });

  it('ends the process when a call lost the device, so that the call is repeated in another', async () => {
    work = () => Promise.reject(new EngineError('device_lost', 'the device was lost'));
    await call();
    expect(kinds()).to.deep.equal([]);
    expect(ended).to.equal(1);
  });

  it('fails a call that is aborted', async () => {
    work = (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    await call();
    expect(kinds()).to.deep.equal([]);
    recognise({ kind: 'abort', id: 7 });
    await turn();
    expect(sent).to.have.length(1);
    expect(sent[0]).to.deep.include({ kind: 'failure', id: 7 });
    expect(sent[0]).to.have.nested.property('error.code', 'aborted');
  });
});
