/** Opening a file for its transcription, for the first time and for a second pass, in virtual time. */
import { expect } from 'chai';
import { AudioFile, measureFile, type AudioSource } from '../../../src/engine/speech/audio-file.js';
import { AudioWorkers } from '../../../src/engine/speech/audio-workers.js';
import { MeasuringQueue } from '../../../src/engine/speech/measuring-queue.js';
import { AUDIO_WORKERS, MEASURING } from '../../../src/engine/speech/transcriber.js';
import { FAKE_POLICY } from '../fake-audio.js';
import { FakeBinding } from '../fake-binding.js';
import { FakeClock } from '../fake-clock.js';

const STEP_MS = 100;

describe('A file that is opened', () => {
  let clock: FakeClock;
  let fake: FakeBinding;
  let source: AudioSource;
  let others: Promise<number>[];

  beforeEach(() => {
    clock = new FakeClock();
    fake = new FakeBinding(clock, { measureMs: STEP_MS });
    const workers = new AudioWorkers(AUDIO_WORKERS);
    const measuring = new MeasuringQueue(MEASURING, workers, clock);
    source = { binding: fake, policy: FAKE_POLICY, voice: null, workers, measuring, clock };
    fake.addFile('file', { seconds: 8 });
    fake.addFile('long', { seconds: 8, measureSteps: 10 });
    others = [];
  });

  async function openAlone(signal?: AbortSignal): Promise<AudioFile> {
    const opening = AudioFile.open(source, { path: 'file', accountId: 'one', seconds: 8, signal });
    await clock.run();
    return opening;
  }

  /** As many calls as may measure at once are taken, by other accounts. */
  async function measureOthers(): Promise<void> {
    for (let at = 0; at < MEASURING.atOnce; at++)
      others.push(measureFile(source, { path: 'long', accountId: `other ${at}` }));
    await clock.run(clock.now() + STEP_MS / 2);
    expect(fake.audioCalls).to.equal(MEASURING.atOnce);
  }

  it('takes a turn of its account, the second time as the first', async () => {
    const audio = await openAlone();
    await measureOthers();
    const reopening = audio.reopen();
    await clock.run(clock.now() + STEP_MS / 4);
    expect(fake.audioCalls).to.equal(MEASURING.atOnce);
    await clock.run();
    const again = await reopening;
    expect([audio.windows.readMs, again.readMs]).to.deep.equal([STEP_MS, STEP_MS]);
    again.close();
    audio.close();
    await Promise.all(others);
    expect(fake.openReaders).to.equal(0);
  });

  it('waits for its second turn no longer than its request lasts', async () => {
    const request = new AbortController();
    const audio = await openAlone(request.signal);
    await measureOthers();
    const reopening = audio.reopen().catch((error: unknown) => error);
    const reason = new Error('hung up');
    request.abort(reason);
    expect(await reopening).to.equal(reason);
    audio.close();
    await clock.run();
    await Promise.all(others);
    expect(fake.openReaders).to.equal(0);
  });
});
