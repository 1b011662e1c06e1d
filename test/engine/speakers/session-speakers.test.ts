/** The numbers of speakers of a live session, stretch by stretch. */
import { expect } from 'chai';
import { SessionSpeakers } from '../../../src/engine/speakers/session-speakers.js';
import type { VoicePiece } from '../../../src/engine/speakers/stretch-voices.js';
import { madeVoices, type MadeVoices } from './made-voices.js';

describe('SessionSpeakers', () => {
  let made: MadeVoices;
  let pieces: Promise<VoicePiece[]>[];
  let speakers: SessionSpeakers;

  beforeEach(() => {
    made = madeVoices(7);
    pieces = [];
    speakers = new SessionSpeakers({ voicesIn: () => pieces.shift() ?? Promise.resolve([]) });
  });

  /** Who speaks for how long, one behind the other, in pieces of two seconds at most. */
  const stretch = (...turns: [voice: number, seconds: number][]): VoicePiece[] => {
    let at = 0;
    return turns.flatMap(([voice, seconds], local) => {
      const count = Math.max(1, Math.round(seconds / 2));
      return Array.from({ length: count }, () => {
        const startSeconds = at;
        at += seconds / count;
        const length = seconds / count;
        const { vector } = made.item(voice);
        return { startSeconds, endSeconds: at, local, voice: { vector, seconds: length, isReliable: length >= 1 } };
      });
    });
  };
  const numbers = async (...turns: [voice: number, seconds: number][]): Promise<number[]> => {
    pieces.push(Promise.resolve(stretch(...turns)));
    return (await speakers.turnsIn(new Int16Array(16_000))).map(({ speaker }) => speaker);
  };

  it('are counted as they come, and keep their numbers', async () => {
    expect(await numbers([4, 5])).to.deep.equal([0]);
    expect(await numbers([2, 4], [4, 3], [9, 6])).to.deep.equal([1, 0, 2]);
    for (let i = 0; i < 20; i++) expect(await numbers([2, 3], [9, 3], [4, 3])).to.deep.equal([1, 2, 0]);
  });

  it('of short turns are known ones that they resemble, else the last one, and never new', async () => {
    expect(await numbers([1, 1])).to.deep.equal([0]);
    expect(await numbers([1, 4], [2, 4])).to.deep.equal([0, 1]);
    expect(await numbers([1, 1], [7, 1.5])).to.deep.equal([0, 0]);
    expect(await numbers([2, 3], [7, 1])).to.deep.equal([1, 1]);
    expect(await numbers([7, 3])).to.deep.equal([2]);
  });

  it('of speech in which nobody is found are the last one', async () => {
    await numbers([1, 4], [2, 4]);
    expect(await speakers.turnsIn(new Int16Array(32_000))).to.deep.equal([
      { startSeconds: 0, endSeconds: 2, speaker: 1 },
    ]);
    pieces.push(Promise.resolve([{ startSeconds: 0.5, endSeconds: 0.6, local: 0, voice: null }]));
    expect(await speakers.turnsIn(new Int16Array(16_000))).to.deep.equal([
      { startSeconds: 0.5, endSeconds: 0.6, speaker: 1 },
    ]);
  });

  it('are named in the order of the audio, whichever stretch is done first', async () => {
    let finish!: (found: VoicePiece[]) => void;
    pieces.push(new Promise((resolve) => (finish = resolve)), Promise.resolve(stretch([2, 4])));
    const [first, second] = [speakers.turnsIn(new Int16Array(1)), speakers.turnsIn(new Int16Array(1))];
    finish(stretch([1, 4]));
    expect((await first)[0]).to.include({ speaker: 0 });
    expect((await second)[0]).to.include({ speaker: 1 });
  });

  it('go on behind a stretch that failed', async () => {
    await numbers([1, 4], [2, 4]);
    pieces.push(Promise.reject(new Error('It broke.')), Promise.resolve(stretch([1, 4])));
    const error: unknown = await speakers.turnsIn(new Int16Array(1)).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'It broke.');
    expect((await speakers.turnsIn(new Int16Array(1)))[0]).to.include({ speaker: 0 });
  });

  it('are twenty at most', async () => {
    const found = new Set<number>();
    for (let voice = 0; voice < 20; voice++) for (const number of await numbers([voice, 4])) found.add(number);
    expect(found.size).to.be.within(15, 20);
    made = madeVoices(8);
    for (let voice = 0; voice < 20; voice++) for (const number of await numbers([voice, 4])) found.add(number);
    expect([...found].sort((one, other) => one - other)).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
  });
});
