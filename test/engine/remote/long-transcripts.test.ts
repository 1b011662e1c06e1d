/** What crosses the channel for a file of hours, counted. */
import { expect } from 'chai';
import type { Segment, WindowResult } from '../../../src/engine/binding.js';
import { frameOf } from '../../../src/engine/process/frames.js';
import { RemoteTranscription } from '../../../src/engine/remote/remote-transcription.js';
import { serveEngine, type LoadedEngines } from '../../../src/engine/remote/serve-engine.js';
import type { TranscriptEnd } from '../../../src/engine/remote/engine-calls.js';
import type { OnWindow, Transcript, WindowUpdate } from '../../../src/engine/types.js';
import { until } from '../../support/until.js';
import { fakeChannel } from '../process/fake-channel.js';

const WINDOW_SECONDS = 30;
const WORDS = 90;
/** Of a window of words, whatever the file's length. */
const MOST_FRAME_BYTES = 32 * 1024;
const TIMINGS = { queueMs: 0, readMs: 0, speechMs: 0, inferenceMs: 0 };
const NO_CONTROL = { checkpoint: () => undefined };

function segmentOf(window: number): Segment {
  const at = (word: number): number => window * WINDOW_SECONDS + (word * WINDOW_SECONDS) / WORDS;
  const words = Array.from({ length: WORDS }, (_, word) => ({
    ...{ text: ` word${word}`, startSeconds: at(word), endSeconds: at(word + 1), probability: 0.9 },
  }));
  const text = words.map((word) => word.text).join('');
  const span = { startSeconds: at(0), endSeconds: at(WORDS), noSpeechProbability: 0 };
  return { ...span, text, words };
}

/** An engine that recognises so many windows of words. */
function speaking(windows: number): LoadedEngines['speech'] & { transcript: Transcript } {
  const segments = Array.from({ length: windows }, (_, window) => segmentOf(window));
  const texts = segments.map(({ text }, window) => (window === 0 ? text.trim() : text));
  const transcript: Transcript = {
    ...{ durationSeconds: windows * WINDOW_SECONDS, language: 'en', languageProbability: null },
    ...{ text: texts.join(''), segments, windows, unsureWindows: 0, timings: TIMINGS },
  };
  return {
    transcript,
    convert: () => Promise.resolve(false),
    recognise: () => Promise.reject(new Error('No session is live.')),
    measure: () => Promise.resolve(transcript.durationSeconds),
    transcribe: (_file, onWindow) => {
      for (const [window, segment] of segments.entries()) {
        const finished = { index: window, result: { segments: [segment] } as WindowResult };
        const part = { language: 'en', text: texts[window]!, segments: [segment] };
        onWindow?.({ finished, seconds: (window + 1) * WINDOW_SECONDS, language: 'en', part });
      }
      return Promise.resolve(transcript);
    },
    stats: () => ({ slots: 1, busySlots: 1, windowsInFlight: 1, queuedWindows: 0, realTimeFactor: 1 }),
    limitLanes: () => Promise.resolve(),
  };
}

/** Answers one call: the transcript as the other end has it, and the bytes of each frame. */
async function transcribedApart(
  speech: ReturnType<typeof speaking>,
  onWindow?: OnWindow,
): Promise<{ transcript: Transcript; frames: number[] }> {
  const frames: number[] = [];
  let end: TranscriptEnd | undefined;
  const seconds = speech.transcript.durationSeconds;
  const file = { path: 'hours', accountId: 'one', language: 'en', seconds, isStreamed: onWindow !== undefined };
  const transcription = new RemoteTranscription(file, onWindow);
  let isReady = false;
  const { channel, recognise } = fakeChannel((message, done) => {
    frames.push(frameOf(message).length);
    if (message.kind === 'ready') isReady = true;
    if (message.kind === 'progress') transcription.update(message.value as WindowUpdate, NO_CONTROL);
    if (message.kind === 'answer') end = message.value as TranscriptEnd;
    done(null);
  });
  serveEngine(() => Promise.resolve({ speech, translation: {} as never, info: {} as never }), channel);
  recognise({ kind: 'start', settings: null });
  await until(() => isReady);
  recognise({ kind: 'call', id: 1, name: 'transcribe', request: transcription.request() });
  await until(() => end !== undefined);
  return { transcript: transcription.transcript(end!), frames };
}

describe('The transcript of a long file on its way from the engine’s process', () => {
  it('comes window by window: no message grows with the file', async () => {
    const largest: number[] = [];
    for (const windows of [2, 360]) {
      const speech = speaking(windows);
      const { transcript, frames } = await transcribedApart(speech);
      expect(transcript).to.deep.equal(speech.transcript);
      largest.push(Math.max(...frames));
    }
    expect(largest[0]).to.be.above(WORDS * 10);
    expect(Math.max(...largest)).to.be.at.most(MOST_FRAME_BYTES);
  });

  it('is the same for who receives it meanwhile', async () => {
    const speech = speaking(5);
    let text = '';
    const { transcript } = await transcribedApart(speech, ({ part }) => (text += part?.text ?? ''));
    expect(transcript).to.deep.equal(speech.transcript);
    expect(text).to.equal(speech.transcript.text);
  });
});
