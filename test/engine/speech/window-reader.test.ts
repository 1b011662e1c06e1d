import { expect } from 'chai';
import { AudioWorkers } from '../../../src/engine/speech/audio-workers.js';
import { WindowReader } from '../../../src/engine/speech/window-reader.js';
import { FakeBinding } from '../fake-binding.js';
import { FAKE_POLICY, fileOfWindows, type FakeWindow } from '../fake-audio.js';
import { FakeClock } from '../fake-clock.js';

describe('WindowReader', () => {
  async function readerOf(
    seconds: number,
    window: Partial<FakeWindow> = {},
  ): Promise<{ reader: WindowReader; workers: AudioWorkers; clock: FakeClock }> {
    const clock = new FakeClock();
    const fake = new FakeBinding(clock);
    fake.addFile('file', fileOfWindows(seconds, [window]));
    const voice = await fake.loadVoiceActivityModel('voice.bin');
    const opening = fake.openAudio('file', FAKE_POLICY, { voice });
    await clock.run();
    const workers = new AudioWorkers(1);
    return { reader: new WindowReader(await opening, workers, clock), workers, clock };
  }

  it('lets others have the worker between the calls that one window takes', async () => {
    const { reader, workers, clock } = await readerOf(30);
    const order: string[] = [];
    const window = reader.next().then((cut) => {
      order.push('window');
      return cut;
    });
    const other = workers.run('cut', () => Promise.resolve(order.push('other')));
    await clock.run();
    await other;
    expect(await window).to.include({ index: 0, seconds: 30, advanceSeconds: 30 });
    expect(order).to.deep.equal(['other', 'window']);
    expect(await Promise.all([reader.next(), clock.run()])).to.deep.equal([null, undefined]);
  });

  it('reports how long a window is without the silence that was left out of it', async () => {
    const pieces = [
      { startSeconds: 1, endSeconds: 5 },
      { startSeconds: 25, endSeconds: 30 },
    ];
    const { reader, clock } = await readerOf(30, { pieces });
    const window = reader.next();
    await clock.run();
    expect(await window).to.include({ seconds: 9, advanceSeconds: 30 });
  });

  it('ends between two calls when it is closed', async () => {
    const { reader, clock } = await readerOf(8000);
    const window = reader.next();
    await clock.run(1);
    reader.close();
    const closedAt = clock.now();
    await clock.run();
    expect(await window).to.equal(null);
    expect(clock.now() - closedAt).to.be.below(1000);
  });
});
