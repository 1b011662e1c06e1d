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

  it('forgets calls that failed', async () => {
    const watch = new NativeWatch();
    const binding = watch.watch({ openAudio: () => Promise.reject(new Error('no')) });
    expect(await binding.openAudio().catch((error: unknown) => (error as Error).message)).to.equal('no');
    expect(ticks(watch, 1000)).to.equal(null);
  });
});
