import { expect } from 'chai';
import fc from 'fast-check';
import type { FakeWindow } from '../fake-audio.js';
import type { SpeechDecoder } from '../../../src/engine/speech/speech-models.js';
import { Scenario } from './scenario.js';

interface Sent {
  path: string;
  accountId: string;
  language: string;
  atMs: number;
  abortAfterMs: number | null;
  seconds: number;
  windows: FakeWindow[];
}

const fakeWindow = fc.record({
  gap: fc.integer({ min: 0, max: 20 }),
  length: fc.integer({ min: 1, max: 8 }),
  tokens: fc.integer({ min: 1, max: 30 }),
  passes: fc.constantFrom(1, 1, 1, 2),
  text: fc.constantFrom('words', 'words', 'words', ''),
  language: fc.constantFrom('en', 'es', 'de'),
  fails: fc.integer({ min: 0, max: 40 }).map((number) => number === 0),
});

const request = fc.record({
  account: fc.integer({ min: 0, max: 3 }),
  language: fc.constantFrom('en', 'auto'),
  atMs: fc.integer({ min: 0, max: 5000 }),
  abortAfterMs: fc.option(fc.integer({ min: 0, max: 3000 }), { freq: 4 }),
  windows: fc.array(fakeWindow, { maxLength: 12 }),
});

const scenes = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  cutMs: fc.integer({ min: 0, max: 40 }),
  requests: fc.array(request, { minLength: 1, maxLength: 12 }),
});

type RequestPlan = typeof request extends fc.Arbitrary<infer T> ? T : never;

function toSent(plan: RequestPlan, index: number): Sent {
  let at = 0;
  const windows = plan.windows.map(({ gap, length, tokens, passes, text, language, fails }) => {
    const startSeconds = at + gap;
    at = startSeconds + length;
    const probabilities = { en: 0.1, es: 0.1, de: 0.1, fr: 0.1, [language]: 0.7 };
    const window: FakeWindow = { startSeconds, endSeconds: at, text, probabilities, tokens, passes };
    return fails ? { ...window, error: 'internal_error' as const } : window;
  });
  const { language, atMs, abortAfterMs } = plan;
  return {
    path: `r${index}`,
    accountId: `a${plan.account}`,
    language,
    atMs,
    abortAfterMs,
    seconds: at + 1,
    windows,
  };
}

function send(scene: Scenario, sent: Sent): void {
  const { path, accountId, language, atMs, abortAfterMs, seconds, windows } = sent;
  scene.file(path, { seconds, windows });
  const cancel = new AbortController();
  scene.sendAt(atMs, { path, accountId, language, signal: cancel.signal });
  if (abortAfterMs !== null) {
    scene.clock.after(atMs + abortAfterMs, () => cancel.abort(new Error('aborted by the test')));
  }
}

/** A request that went through ran each window once, but for those that were repeated in another language. */
function checkRuns(scene: Scenario, { path, language, windows }: Sent): void {
  const runs = scene.fake.runsOf(path);
  const repeated = new Set<number>();
  for (const index of windows.keys()) {
    const languages = runs.filter((run) => run.index === index).map((run) => run.options.language);
    if (languages.length === 2) repeated.add(index);
    expect(languages.length, `${path}#${index}`).to.be.within(1, language === 'auto' ? 2 : 1);
  }
  expect(runs).to.have.lengthOf(windows.length + repeated.size);
  const starts = scene.transcript(path).segments.map((segment) => segment.startSeconds);
  const recognised = windows.filter((window) => window.text !== '').map((window) => window.startSeconds);
  expect(starts).to.deep.equal(recognised);
}

const DECODERS: Readonly<Record<string, SpeechDecoder>> = {
  SlotScheduler: { kind: 'whisper.cpp' },
  StepScheduler: { kind: 'batched', compute: 'auto', windowsInFlight: 3 },
};

/** Windows in flight at most. */
function mostInFlight(decoder: SpeechDecoder, slots: number): number {
  return decoder.kind === 'batched' ? 2 * decoder.windowsInFlight : slots;
}

for (const [name, decoder] of Object.entries(DECODERS)) {
  describe(`${name}: whatever comes`, () => {
    it('runs every admitted window once, keeps its bounds, and ends with nothing held', async () => {
      await fc.assert(
        fc.asyncProperty(scenes, async ({ slots, cutMs, requests }) => {
          const scene = await Scenario.start({ slots, decoder }, { cutMs });
          const all = requests.map(toSent);
          for (const sent of all) send(scene, sent);
          await scene.finish();
          for (const sent of all) {
            const { error } = scene.outcome(sent.path);
            if (error === null) checkRuns(scene, sent);
            else if (sent.abortAfterMs === null) expect(error).to.include({ code: 'internal_error' });
            if (error === null) expect(sent.windows.some((window) => window.error !== undefined)).to.equal(false);
          }
          expect(scene.fake.busySlotsPeak).to.be.at.most(slots);
          const inFlight = mostInFlight(decoder, slots);
          expect(scene.fake.windowsInFlightPeak).to.be.at.most(inFlight);
          expect(scene.fake.decodedWindowsPeak).to.be.at.most(inFlight + 2 * (slots + 1));
          const nothing = { decodedWindows: 0, openReaders: 0, busySlots: 0, windowsInFlight: 0 };
          expect(scene.fake).to.include(nothing);
          expect(scene.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
          await scene.engine.close();
          expect(scene.fake.heldBytes()).to.equal(0);
        }),
        { numRuns: 150 },
      );
    }).timeout(60_000);
  });
}

describe('SlotScheduler: whatever comes', () => {
  it('never lets a slot idle while a window that may run is ready', async () => {
    const plain = fc.record({
      slots: fc.integer({ min: 1, max: 4 }),
      seconds: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(plain, async ({ slots, seconds }) => {
        const scene = await Scenario.start({ slots }, { cutMs: 0, measureMs: 0 });
        for (const [index, length] of seconds.entries()) {
          void scene.send({ path: scene.file(`f${index}`, length), accountId: `a${index % 3}` });
        }
        await scene.finish();
        const total = seconds.reduce((sum, length) => sum + length, 0) * scene.fake.settings.msPerSecond;
        const longestWindow = 8 * scene.fake.settings.msPerSecond;
        // List scheduling: no schedule without idle slots takes longer than this.
        expect(scene.clock.now()).to.be.at.most(total / slots + longestWindow + 1e-6);
      }),
      { numRuns: 100 },
    );
  }).timeout(60_000);
});
