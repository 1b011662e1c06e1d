import { expect } from 'chai';
import { powersetClasses, speakerActivity } from '../../../src/engine/speakers/powerset.js';
import { slidingWindows } from '../../../src/engine/speakers/sliding-windows.js';
import { turnsOf, type NamedWindow } from '../../../src/engine/speakers/turns.js';
import { inPieces } from '../../../src/engine/speakers/pieces.js';
import { assignedVoices } from '../../../src/engine/speakers/voice-assignment.js';
import { spokenSamples, spokenSpans, type WindowActivity } from '../../../src/engine/speakers/window-activity.js';

const GRID = { shift: 320, size: 320 };
const RATE = 16_000;

/** Seconds in which each speaker of a window of ten seconds speaks, on the window's own time line. */
function window(start: number, ...spoken: [begin: number, end: number][][]): WindowActivity {
  const frames = 500;
  const activity = new Uint8Array(spoken.length * frames);
  for (const [speaker, spans] of spoken.entries())
    for (const [begin, end] of spans)
      activity.fill(255, speaker * frames + Math.round(begin * 50), speaker * frames + Math.round(end * 50));
  return { start: start * RATE, frames, activity };
}

const reported = (windows: NamedWindow[], seconds: number): string[] =>
  turnsOf(windows, GRID, seconds).map(
    ({ startSeconds, endSeconds, speaker }) => `${speaker} ${startSeconds}-${endSeconds}`,
  );

describe('Powerset classes', () => {
  it('are nobody, each alone, then pairs', () => {
    expect(powersetClasses(3, 2)).to.deep.equal([[], [0], [1], [2], [0, 1], [0, 2], [1, 2]]);
    expect(powersetClasses(2, 1)).to.deep.equal([[], [0], [1]]);
    expect(powersetClasses(4, 4)).to.have.length(16);
  });

  it('give each speaker the sum of the classes that have them', () => {
    const probabilities = [0, 0.2, 0, 0.2, 0.6, 0, 0];
    const logs = Float32Array.from([...probabilities, 1, 0, 0, 0, 0, 0, 0].map(Math.log));
    expect([...speakerActivity(logs, powersetClasses(3, 2), 3)]).to.deep.equal([204, 0, 153, 0, 51, 0]);
  });

  it('take what is no probability for nobody', () => {
    const odd = Float32Array.from([NaN, NaN, Infinity, 100, 0, -Infinity, NaN]);
    for (const value of speakerActivity(odd, powersetClasses(3, 2), 3)) expect(value).to.be.within(0, 255);
  });
});

describe('Sliding windows', () => {
  /** Of so many samples, whose values are their places. */
  async function windowsOf(samples: number): Promise<[start: number, first: number, length: number][]> {
    let place = 0;
    const read = (count: number): Promise<Float32Array> => {
      const given = Math.min(count, samples - place);
      place += given;
      return Promise.resolve(Float32Array.from({ length: given }, (_, index) => place - given + index));
    };
    const found: [number, number, number][] = [];
    for await (const { start, samples: held } of slidingWindows(read, { length: 10, step: 3 })) {
      expect([...held]).to.deep.equal(Array.from(held, (_, index) => start + index));
      found.push([start, held[0] ?? -1, held.length]);
    }
    return found;
  }

  it('overlap, and end with the audio', async () => {
    expect(await windowsOf(17)).to.deep.equal([
      [0, 0, 10],
      [3, 3, 10],
      [6, 6, 10],
      [7, 7, 10],
    ]);
    expect((await windowsOf(16)).map(([start]) => start)).to.deep.equal([0, 3, 6]);
  });

  it('of less than one window are one short one, and of nothing none', async () => {
    expect(await windowsOf(10)).to.deep.equal([[0, 0, 10]]);
    expect(await windowsOf(1)).to.deep.equal([[0, 0, 1]]);
    expect(await windowsOf(0)).to.deep.equal([]);
  });
});

describe('What a speaker of a window says', () => {
  it('is found alone, and with others', () => {
    const recognised = window(0, [[1, 3]], [[2, 4]]);
    expect(spokenSpans(recognised, 0, GRID, false)).to.deep.equal([[1 * RATE, 3 * RATE]]);
    expect(spokenSpans(recognised, 0, GRID, true)).to.deep.equal([[1 * RATE, 2 * RATE]]);
    expect(spokenSpans(recognised, 1, GRID, true)).to.deep.equal([[3 * RATE, 4 * RATE]]);
  });

  it('lies around the middle of frames that overlap', () => {
    const one = { start: 0, frames: 3, activity: Uint8Array.of(0, 255, 0) };
    // The frame is 270-1261: its middle 765.5, half a step to both sides.
    expect(spokenSpans(one, 0, { shift: 270, size: 991 }, true)).to.deep.equal([[631, 901]]);
  });

  it('is put together without what lies between', () => {
    const samples = Float32Array.from({ length: 10 }, (_, index) => index);
    expect([
      ...spokenSamples(samples, [
        [1, 3],
        [8, 20],
      ]),
    ]).to.deep.equal([1, 2, 8, 9]);
  });
});

describe('Speech in pieces', () => {
  const GRID = { shift: 320, size: 320 };
  /** 0.5 to 5.5 s and 5.7 to 6 s of one; 8 to 9 s of another, over both. */
  const window = (): WindowActivity => {
    const activity = new Uint8Array(1000);
    activity.fill(255, 25, 275).fill(200, 285, 300);
    activity.fill(255, 500 + 400, 500 + 450);
    return { start: 160, frames: 500, activity };
  };
  const spans = (pieces: WindowActivity): [number, number][] =>
    Array.from({ length: pieces.activity.length / pieces.frames }, (_, row) => {
      const frames = pieces.activity.subarray(row * pieces.frames, (row + 1) * pieces.frames);
      return [frames.findIndex(Boolean), frames.findLastIndex(Boolean) + 1];
    });

  it('are about two seconds each, of equal length, over short gaps', () => {
    const pieces = inPieces(window(), GRID);
    expect(pieces).to.include({ start: 160, frames: 500 });
    expect(pieces.locals).to.deep.equal([0, 0, 0, 1]);
    expect(spans(pieces)).to.deep.equal([
      [25, 117],
      [117, 208],
      [208, 300],
      [400, 450],
    ]);
  });

  it('are all the speech that there was, and no more', () => {
    const [whole, pieces] = [window(), inPieces(window(), GRID)];
    const loudest = (of: WindowActivity, frame: number): number =>
      Math.max(...spans(of).map((_, row) => of.activity[row * of.frames + frame]!));
    for (let frame = 0; frame < 500; frame++) expect(loudest(pieces, frame)).to.equal(loudest(whole, frame));
    expect(inPieces({ start: 0, frames: 500, activity: new Uint8Array(1500) }, GRID).activity).to.have.length(0);
  });
});

describe('The voices of a window', () => {
  const [one, other, between] = [
    [1, 0],
    [0, 1],
    [0.9, 0.1],
  ].map((vector) => Float32Array.from(vector)) as [Float32Array, Float32Array, Float32Array];

  it('are the nearest; of a speaker of whom nothing is known nobody’s', () => {
    const apart = window(0, [[0, 3]], [[4, 6]], [[7, 8]]);
    expect(assignedVoices(apart, [one, between, null], [one, other])).to.deep.equal([0, 0, -1]);
    expect(assignedVoices(apart, [one], [])).to.deep.equal([-1]);
  });

  it('are different where two speak at the same time, as long as there are as many', () => {
    const together = window(0, [[0, 3]], [[2, 6]]);
    expect(assignedVoices(together, [one, between], [one, other])).to.deep.equal([0, 1]);
    expect(assignedVoices(together, [between, one], [one, other])).to.deep.equal([1, 0]);
    expect(assignedVoices(together, [one, between], [one])).to.deep.equal([0, 0]);
  });
});

describe('Turns', () => {
  it('are ordered by first speech, whatever the voices’ numbers', () => {
    const windows = [{ ...window(0, [[5, 7]], [[1, 4]]), voices: [0, 1] }];
    expect(reported(windows, 10)).to.deep.equal(['S1 1-4', 'S2 5-7']);
  });

  it('overlap where two speak', () => {
    const windows = [{ ...window(0, [[1, 4]], [[3, 6]]), voices: [0, 1] }];
    expect(reported(windows, 10)).to.deep.equal(['S1 1-4', 'S2 3-6']);
  });

  it('go on over windows in which the speakers have changed places', () => {
    const windows = [
      { ...window(0, [[1, 10]], []), voices: [0, -1] },
      { ...window(5, [[7, 9]], [[0, 6]]), voices: [1, 0] },
    ];
    expect(reported(windows, 15)).to.deep.equal(['S1 1-11', 'S2 12-14']);
  });

  it('follow the windows in whose middle they lie', () => {
    // 9-10 s is the edge of the first and the middle of the second.
    const windows = [
      { ...window(0, [[9, 10]]), voices: [0] },
      { ...window(5, [[0, 1]]), voices: [0] },
    ];
    expect(reported(windows, 15)).to.deep.equal([]);
  });

  it('are speech in doubt, from three tenths of a person on', () => {
    const faint = (probability: number): NamedWindow => {
      const named = { ...window(0, [[1, 9]]), voices: [0] };
      named.activity.fill(Math.round(255 * probability), 200, 300);
      return named;
    };
    expect(reported([faint(0.35)], 10)).to.deep.equal(['S1 1-9']);
    expect(reported([faint(0.25)], 10)).to.deep.equal(['S1 1-4', 'S1 6-9']);
  });

  it('bridge a short gap, leave a long one, and drop what is too short for speech', () => {
    const spans: [number, number][] = [
      [1, 2],
      [2.2, 3],
      [4, 5],
      [7, 7.06],
    ];
    expect(reported([{ ...window(0, spans), voices: [0] }], 10)).to.deep.equal(['S1 1-3', 'S1 4-5']);
  });

  it('of one voice that a window took for two are one', () => {
    const windows = [{ ...window(0, [[1, 3]], [[3, 5]]), voices: [0, 0] }];
    expect(reported(windows, 10)).to.deep.equal(['S1 1-5']);
  });

  it('never pass the end of the audio', () => {
    const windows = [{ ...window(0, [[1, 10]]), voices: [0] }];
    expect(reported(windows, 9.991)).to.deep.equal(['S1 1-9.991']);
  });

  it('are none where nobody speaks, or nobody knows who', () => {
    expect(reported([], 0)).to.deep.equal([]);
    expect(reported([{ ...window(0, []), voices: [-1] }], 10)).to.deep.equal([]);
    expect(reported([{ ...window(0, [[1, 5]]), voices: [-1] }], 10)).to.deep.equal([]);
  });
});
