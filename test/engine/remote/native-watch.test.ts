import { expect } from 'chai';
import { NativeWatch } from '../../../src/engine/remote/native-watch.js';

/** A binding whose calls end when the test says. */
function fakeBinding(): { openAudio: (path: string) => Promise<object>; end: (value: object) => void } {
  const open: { end: (value: object) => void } = { end: () => undefined };
  return {
    openAudio: () => new Promise((resolve) => (open.end = resolve)),
    end: (value) => open.end(value),
  };
}

function ticks(watch: NativeWatch, count: number): string | null {
  let overdue: string | null = null;
  for (let tick = 0; tick < count; tick++) overdue = watch.tick();
  return overdue;
}

describe('The watch over native calls', () => {
  it('finds one that does not come back, by pings', async () => {
    const watch = new NativeWatch();
    const binding = watch.watch(fakeBinding());
    expect(ticks(watch, 1000)).to.equal(null);
    const opening = binding.openAudio('a');
    expect(ticks(watch, 120)).to.equal(null);
    expect(ticks(watch, 1)).to.equal('openAudio');
    binding.end({});
    await opening;
    expect(ticks(watch, 1000)).to.equal(null);
  });

  it('follows the calls of handles that it gives, on the handle itself', async () => {
    const watch = new NativeWatch();
    const binding = watch.watch(fakeBinding());
    class Handle {
      measure(): Promise<Handle> {
        return new Promise<Handle>(() => this);
      }
    }
    const handle = new Handle();
    const opening = binding.openAudio('a');
    binding.end(handle);
    expect(await opening).to.equal(handle);
    void handle.measure();
    expect(ticks(watch, 121)).to.equal('measure');
  });

  it('removes calls that failed', async () => {
    const watch = new NativeWatch();
    const binding = watch.watch({ openAudio: () => Promise.reject(new Error('no')) });
    expect(await binding.openAudio().catch((error: unknown) => (error as Error).message)).to.equal('no');
    expect(ticks(watch, 1000)).to.equal(null);
  });

  it('gives all handles of a class one other, and leaves the class and plain values as they are', async () => {
    const watch = new NativeWatch();
    class Reader {
      measure(): Promise<object> {
        return Promise.resolve({ measure: 'a value' });
      }
    }
    // As the addon's classes are.
    Object.freeze(Reader.prototype);
    class Other {
      close(): void {
        given.splice(0);
      }
    }
    const given = [new Reader(), new Reader(), new Other()];
    const binding = watch.watch({ openAudio: () => Promise.resolve(given.shift()) });
    const [first, second, other] = [
      ...[await binding.openAudio(), await binding.openAudio(), await binding.openAudio()],
    ] as [Reader, Reader, Other];
    const classOf = (handle: object): unknown => Object.getPrototypeOf(handle);
    expect(classOf(first)).to.equal(classOf(second)).and.not.to.equal(Reader.prototype);
    expect(classOf(other)).to.equal(Other.prototype);
    expect(first).to.be.an.instanceOf(Reader);
    expect([Object.keys(first), Object.keys(second)]).to.deep.equal([[], []]);
    expect(await second.measure()).to.deep.equal({ measure: 'a value' });
  });

  it('keeps the stack of nobody who calls, whose errors are reported without one', () => {
    const watch = new NativeWatch();
    const limits: number[] = [];
    const openAudio = (): Promise<never> => {
      limits.push(Error.stackTraceLimit);
      throw new Error('no');
    };
    const binding = watch.watch({ openAudio });
    const limit = Error.stackTraceLimit;
    expect(() => binding.openAudio()).to.throw('no');
    expect(limits).to.deep.equal([0]);
    expect(Error.stackTraceLimit).to.equal(limit);
  });
});
