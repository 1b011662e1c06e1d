/** What `bench live` computes, from results at known times. */
import { expect } from 'chai';
import { lagsOf } from '../../bench/live/lags.js';
import { liveProtocol, type LiveAnswer } from '../../bench/live/protocols.js';
import { PIECE_SECONDS, type FedSession } from '../../bench/live/session.js';
import { resampled, trackOf, TRACK_RATE } from '../../bench/live/track.js';
import { finalText, liveWords } from '../../bench/live/words.js';

const CHOICES = { language: 'en', silenceMs: 500, interim: true };

/** Pieces that were sent on time from 0, and results at these milliseconds. */
function fed(seconds: number, results: [at: number, answer: LiveAnswer][]): FedSession {
  const sentAt = Array.from({ length: Math.round(seconds / PIECE_SECONDS) }, (_, piece) => 100 * (piece + 1));
  return {
    sentAt,
    lateMs: sentAt.map(() => 0),
    results: results.map(([at, answer]) => ({ at, answer })),
    isComplete: true,
  };
}

const final = (text: string, start: number, end: number, endpoint: number | null): LiveAnswer => ({
  ...{ kind: 'final', text, startSeconds: start, endSeconds: end, endpointSeconds: endpoint, contradicts: false },
});

describe('Lags of live results', () => {
  const session = fed(3, [
    [600, { kind: 'speech started', atSeconds: 0.5 }],
    [1150, { kind: 'interim', startSeconds: 0.5, endSeconds: 1 }],
    [2080, final('One.', 0, 1.5, 1.95)],
    [2100, final('', 1.5, 3, null)],
  ]);

  it('of final results count from the piece in which the silence was complete', () => {
    // 1.95 s is in the piece that is sent at 2.0 s; the last result was not ended by silence.
    expect(lagsOf(session).finals).to.deep.equal([80]);
  });

  it('of coverage count from each piece of the speech to the first result that holds it', () => {
    const { covered, committed } = lagsOf(session);
    // Of the pieces that end at 0.6 to 1.5 s.
    expect(covered).to.deep.equal([550, 450, 350, 250, 150, 980, 880, 780, 680, 580]);
    expect(committed).to.deep.equal([1480, 1380, 1280, 1180, 1080, 980, 880, 780, 680, 580]);
  });
});

describe('Live words', () => {
  it('are compared with the recordings in one piece, and with the reference where all have one', () => {
    const session = fed(1, [
      [1, final('Good morning', 0, 1, null)],
      [2, final('', 1, 2, null)],
      [3, final('my fiend.', 2, 3, null)],
    ]);
    expect(finalText(session)).to.equal('Good morning my fiend.');
    const texts = new Map([['a', 'Good morning, my friends.']]);
    const clip = { path: 'a', language: 'en' };
    expect(liveWords([{ track: { clips: [clip] }, session }], texts)).to.deep.equal({
      ...{ live: null, inOnePiece: null, difference: 25 },
    });
    const spoken = { ...clip, text: 'good morning my fiend' };
    expect(liveWords([{ track: { clips: [spoken] }, session }], texts)).to.deep.equal({
      ...{ live: 0, inOnePiece: 25, difference: 25 },
    });
  });
});

describe("A live session's track", () => {
  it('repeats whole recordings with silence around each, until it is long enough', async () => {
    const clips = ['a', 'b'].map((path) => ({ path, language: null }));
    const samplesOf = (path: string): Promise<Int16Array> =>
      Promise.resolve(new Int16Array(TRACK_RATE).fill(path === 'a' ? 1 : 2));
    const { samples, clips: spoken } = await trackOf(clips, samplesOf, { seconds: 4, gapSeconds: 0.5 });
    expect(spoken.map(({ path }) => path)).to.deep.equal(['a', 'b', 'a']);
    expect(samples.length).to.equal(5 * TRACK_RATE);
    const at = (seconds: number): number | undefined => samples[seconds * TRACK_RATE];
    expect([0.25, 1, 1.75, 2.5, 4, 4.75].map(at)).to.deep.equal([0, 1, 0, 2, 1, 0]);
  });

  it('sounds the same at another rate', () => {
    const tone = (rate: number): Int16Array =>
      Int16Array.from({ length: rate }, (_, i) => Math.round(10_000 * Math.sin((2 * Math.PI * 1000 * i) / rate)));
    const converted = resampled(tone(TRACK_RATE), 24_000);
    const wanted = tone(24_000);
    expect(converted.length).to.equal(wanted.length);
    const worst = Math.max(...[...converted.slice(100, -100)].map((one, i) => Math.abs(one - (wanted[i + 100] ?? 0))));
    expect(worst).to.be.below(20);
    const same = tone(TRACK_RATE);
    expect(resampled(same, TRACK_RATE)).to.equal(same);
  });
});

describe('A protocol of bench live', () => {
  it('of OpenAI: when an utterance ended, its text, and whether deltas contradict it', () => {
    const protocol = liveProtocol('openai', 'key', CHOICES);
    const read = (message: object): LiveAnswer[] => protocol.read(JSON.stringify(message));
    const transcription = 'conversation.item.input_audio_transcription';
    expect(read({ type: 'input_audio_buffer.speech_started', audio_start_ms: 200, item_id: 'a' })).to.deep.equal([
      { kind: 'speech started', atSeconds: 0.2 },
    ]);
    expect(read({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 1500, item_id: 'a' })).to.deep.equal([]);
    read({ type: `${transcription}.delta`, item_id: 'a', delta: 'One ' });
    read({ type: `${transcription}.delta`, item_id: 'a', delta: 'two.' });
    const [answer, done] = read({ type: `${transcription}.completed`, item_id: 'a', transcript: 'One two.' });
    expect(answer).to.include({ kind: 'final', text: 'One two.', endpointSeconds: 1.5, contradicts: false });
    expect(done).to.deep.equal({ kind: 'done' });
    read({ type: 'input_audio_buffer.speech_started', audio_start_ms: 2000, item_id: 'b' });
    read({ type: `${transcription}.delta`, item_id: 'b', delta: 'Three' });
    const [other] = read({ type: `${transcription}.completed`, item_id: 'b', transcript: 'Free' });
    expect(other).to.include({ contradicts: true, endpointSeconds: null });
  });

  it('of Deepgram: ranges, the silence behind a final one, and whether ranges go back', () => {
    const protocol = liveProtocol('deepgram', 'key', CHOICES);
    const results = (start: number, duration: number, more: object): LiveAnswer[] =>
      protocol.read(
        JSON.stringify({
          ...{ type: 'Results', start, duration, channel: { alternatives: [{ transcript: 'One' }] } },
          ...more,
        }),
      );
    expect(results(0, 1, { is_final: false })).to.deep.equal([{ kind: 'interim', startSeconds: 0, endSeconds: 1 }]);
    const [first] = results(0, 1.5, { is_final: true, speech_final: true });
    expect(first).to.include({ kind: 'final', endpointSeconds: 1.7, contradicts: false });
    const [second] = results(1.4, 1, { is_final: true, speech_final: false });
    expect(second).to.include({ endpointSeconds: null, contradicts: true });
    expect(protocol.path).to.contain('endpointing=500').and.to.contain('language=en');
  });
});
