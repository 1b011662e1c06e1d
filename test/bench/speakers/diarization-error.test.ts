import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  diarizationErrors,
  diarizationErrorRate,
  jaccardErrors,
  type DiarizationErrors,
} from '../../../bench/speakers/diarization-error.js';
import type { SpeakerTurn } from '../../../src/engine/speakers/speaker-turn.js';

/** 'A 0-10' */
function turns(...texts: string[]): SpeakerTurn[] {
  return texts.map((text) => {
    const [speaker = '', times = ''] = text.split(' ');
    const [startSeconds = NaN, endSeconds = NaN] = times.split('-').map(Number);
    return { startSeconds, endSeconds, speaker };
  });
}

/** tests/test_diarization.py of pyannote.metrics. */
const REFERENCE = turns('A 0-10', 'B 12-20', 'A 24-27', 'C 30-40');
const HYPOTHESIS = turns('a 2-13', 'd 13-14', 'b 14-20', 'c 22-38', 'd 38-40');

function expectErrors(found: DiarizationErrors, wanted: DiarizationErrors): void {
  for (const part of ['total', 'missed', 'falseAlarm', 'confusion'] as const)
    expect(found[part], part).to.be.closeTo(wanted[part], 1e-9);
}

describe('The diarization error rate', () => {
  it('is pyannote.metrics’ on its own example', () => {
    const errors = diarizationErrors(REFERENCE, HYPOTHESIS);
    expectErrors(errors, { total: 31, missed: 2, falseAlarm: 7, confusion: 7 });
    expect(diarizationErrorRate(errors)).to.be.closeTo(0.5161290322580645, 1e-12);
  });

  it('counts overlapped speech for each who speaks in it', () => {
    const reference = turns('A 0-13', 'B 12-20', 'A 24-27', 'C 30-40');
    expect(diarizationErrors(reference, HYPOTHESIS).total).to.be.closeTo(34, 1e-9);
    // 4-6: two are reported where one speaks; 6-10: one is reported where two speak.
    const errors = diarizationErrors(turns('A 0-10', 'B 6-12'), turns('x 0-6', 'y 4-12'));
    expectErrors(errors, { total: 16, missed: 4, falseAlarm: 2, confusion: 0 });
  });

  it('leaves out a collar on both sides of each start and end of the reference', () => {
    // pyannote.metrics' bug 16, whose collar of 1 is 0.5 on each side.
    expect(diarizationErrors(turns('A 0-10'), [], 0.5).total).to.be.closeTo(9, 1e-9);
    expect(diarizationErrors(turns('A 0-10'), [], 0).total).to.be.closeTo(10, 1e-9);
    // Starts 0.2 s late and ends 1 s late: within the collar, and beyond it by 0.75 s.
    const late = diarizationErrors(turns('A 1-5'), turns('x 1.2-6'), 0.25);
    expectErrors(late, { total: 3.5, missed: 0, falseAlarm: 0.75, confusion: 0 });
  });

  it('takes the best mapping, not the one that begins with the best pair', () => {
    // x-A, 6 s, is the best pair, and leaves nothing for y; y-A and x-B are 5 s each.
    const errors = diarizationErrors(turns('A 0-11', 'B 11-16'), turns('x 0-6', 'y 6-11', 'x 11-16'));
    expectErrors(errors, { total: 16, missed: 0, falseAlarm: 0, confusion: 6 });
  });

  it('finds who has one name in both answers by what they speak, not by the name', () => {
    const swapped = diarizationErrors(turns('A 0-5', 'B 5-10'), turns('B 0-5', 'A 5-10'));
    expect(diarizationErrorRate(swapped)).to.equal(0);
  });

  it('counts turns of one speaker that overlap or touch once', () => {
    const errors = diarizationErrors(turns('A 0-4', 'A 2-6'), turns('x 0-3', 'x 3-6', 'x 1-2'));
    expectErrors(errors, { total: 6, missed: 0, falseAlarm: 0, confusion: 0 });
  });

  it('is 0 where nobody speaks and nobody is reported, and 1 where somebody is', () => {
    expect(diarizationErrorRate(diarizationErrors([], []))).to.equal(0);
    expect(diarizationErrorRate(diarizationErrors([], HYPOTHESIS))).to.equal(1);
    expect(diarizationErrorRate(diarizationErrors(REFERENCE, []))).to.equal(1);
  });

  const anyTurns = fc.array(
    fc.record({
      startSeconds: fc.integer({ min: 0, max: 50 }),
      endSeconds: fc.integer({ min: 51, max: 100 }),
      speaker: fc.constantFrom('A', 'B', 'C', 'D'),
    }),
    { maxLength: 12 },
  );

  it('is 0 for the reference itself under any names, and the same whatever the speakers are called', () => {
    const renamed = (given: readonly SpeakerTurn[]): SpeakerTurn[] =>
      given.map((turn) => ({ ...turn, speaker: { A: 'C', B: 'x', C: 'A', D: 'y' }[turn.speaker] ?? '' }));
    fc.assert(
      fc.property(anyTurns, anyTurns, (reference, hypothesis) => {
        expect(diarizationErrorRate(diarizationErrors(reference, renamed(reference)))).to.equal(0);
        const [one, other] = [hypothesis, renamed(hypothesis)].map((given) =>
          diarizationErrorRate(diarizationErrors(reference, given)),
        );
        expect(one).to.be.closeTo(other ?? NaN, 1e-9);
      }),
    );
  });

  it('misses in one direction what is a false alarm in the other', () => {
    fc.assert(
      fc.property(anyTurns, anyTurns, (reference, hypothesis) => {
        const [there, back] = [diarizationErrors(reference, hypothesis), diarizationErrors(hypothesis, reference)];
        expect(there.missed).to.be.closeTo(back.falseAlarm, 1e-9);
        expect(there.confusion).to.be.closeTo(back.confusion, 1e-9);
      }),
    );
  });
});

describe('The Jaccard error rate', () => {
  const rounded = (errors: Map<string, number>): Record<string, number> =>
    Object.fromEntries([...errors].map(([speaker, error]) => [speaker, Number(error.toFixed(4))]));

  it('is, of each speaker, what one of the pair speaks alone by what either speaks', () => {
    // A-a: 8 of 13 + 11 - 8; B-b: 6 of 8; C-c: 8 of 10 + 16 - 8.
    expect(rounded(jaccardErrors(REFERENCE, HYPOTHESIS))).to.deep.equal({ A: 0.5, B: 0.25, C: 0.5556 });
  });

  it('is 1 for whom nobody stands, however little they speak', () => {
    expect(rounded(jaccardErrors(turns('A 0-99', 'B 99-100'), turns('x 0-100')))).to.deep.equal({
      A: 0.01,
      B: 1,
    });
    expect(jaccardErrors([], HYPOTHESIS).size).to.equal(0);
  });
});
