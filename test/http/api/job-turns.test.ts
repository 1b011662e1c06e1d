/**
 * Whose turn it is between jobs and requests whose clients wait: the real engine on a fake addon, over real HTTP, in
 * virtual time.
 */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createSpeechEngine } from '../../../src/engine/speech/transcriber.js';
import type { AudioReader, WindowPolicy } from '../../../src/engine/binding.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { FAKE_POLICY } from '../../engine/fake-audio.js';
import { FakeBinding } from '../../engine/fake-binding.js';
import { FakeClock } from '../../engine/fake-clock.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { transcribe, type Part } from '../../support/requests.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

/** Of the fake addon, of 8 s. */
const WINDOW_MS = 800;

/** Takes an upload for so many seconds of audio as its text says, and files it under that text. */
class UploadsBinding extends FakeBinding {
  readonly #names = new Map<string, string>();

  override openAudio(path: string, policy: WindowPolicy): Promise<AudioReader> {
    const name = readFileSync(path, 'utf8');
    this.addFile(path, { seconds: Number(name.split(' ')[1]) });
    this.#names.set(path, name.split(' ')[0]!);
    return super.openAudio(path, policy);
  }

  /** The windows in the order in which they were begun. */
  get begun(): string[] {
    return this.runs.map(({ path }) => this.#names.get(path)!);
  }
}

describe('turns of jobs and requests', () => {
  let clock: FakeClock;
  let fake: UploadsBinding;
  let server: TestServer<SpeechEngine>;

  beforeEach(async () => {
    clock = new FakeClock();
    fake = new UploadsBinding(clock);
    const engine = await createSpeechEngine({
      ...{ binding: fake, modelPath: 'model.bin', modelName: 'fake', policy: FAKE_POLICY },
      ...{ decoder: { kind: 'whisper.cpp' }, devices: fake.settings.devices, slots: 1, threads: 1 },
      ...{ accelerator: 'off', ffmpeg: 'ffmpeg', maxBacklogSeconds: 1_000_000, clock },
    });
    server = await TestServer.start({ engine });
  });
  afterEach(() => server.dispose());

  const file = (name: string, seconds: number): Part => ['audio', Buffer.from(`${name} ${seconds}`)];

  /** Until files are measured and windows cut, which takes the slot no time: none that runs ends meanwhile. */
  async function settleUntil(isDone: () => boolean): Promise<void> {
    await until(async () => {
      if (fake.audioCalls > 0) await clock.run(clock.now() + 1);
      return fake.audioCalls === 0 && isDone();
    });
  }

  /** Lets all windows run that there are to come. */
  async function runUntilOver(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = work.finally(() => (isOver = true));
    await until(async () => {
      await clock.run();
      return isOver;
    });
    await over;
  }

  it('a request goes before the waiting jobs of its account, and another account’s clip beside both', async () => {
    const [ann, bob] = [await server.customer(), await server.customer()];
    const ids: string[] = [];
    for (const part of [file('job', 40), file('next-job', 16)]) {
      const posted = postJob(server, ann.key, [part]);
      const open = ids.length + 1;
      await settleUntil(() => fake.runs.length === 1 && fake.openReaders === open);
      ids.push(String((await posted).body['id']));
    }
    // More is left of it than of either job.
    const asked = transcribe(server, { key: ann.key, parts: [file('request', 48)] });
    const clip = transcribe(server, { key: bob.key, parts: [file('clip', 16)] });
    await settleUntil(() => server.backlog.stats().backlogSeconds === 64);
    expect(clock.now()).to.be.below(WINDOW_MS);
    expect(fake.begun).to.deep.equal(['job']);
    await runUntilOver(Promise.all([asked, clip, ...ids.map((id) => endedJob(server, ann.key, id))]));
    expect([(await asked).status, (await clip).status]).to.deep.equal([200, 200]);
    const own = fake.begun.filter((name) => name !== 'clip');
    expect(own.slice(0, 7)).to.deep.equal(['job', ...Array<string>(6).fill('request')]);
    expect(own.slice(7)).to.have.members([...Array<string>(4).fill('job'), 'next-job', 'next-job']);
    expect(fake.begun.slice(1, 5).filter((name) => name === 'clip')).to.have.length(2);
  });

  it('another account’s clip waits for one window of a job', async () => {
    const [ann, bob] = [await server.customer(), await server.customer()];
    const posted = postJob(server, ann.key, [file('job', 80)]);
    await settleUntil(() => fake.runs.length === 1);
    const { body } = await posted;
    const clip = transcribe(server, { key: bob.key, parts: [file('clip', 24)] });
    await settleUntil(() => server.backlog.stats().backlogSeconds === 24);
    await runUntilOver(Promise.all([clip, endedJob(server, ann.key, String(body['id']))]));
    expect(fake.begun.slice(0, 6)).to.deep.equal(['job', 'clip', 'job', 'clip', 'job', 'clip']);
  });
});
