import { expect } from 'chai';
import fc from 'fast-check';
import { StepPace, type BatchCall } from '../../../src/engine/speech/step-pace.js';
import { StepPolicy, type StepState, type Unit } from '../../../src/engine/speech/step-policy.js';

const WINDOW_SECONDS = 30;

const BOTH: StepState = {
  encode: { leftSeconds: 0, windows: 4 },
  decode: { leftSeconds: 0, windows: 4 },
  encodingLeftSeconds: Infinity,
  canEncode: true,
  canDecode: true,
  hasAborted: false,
};

/** Part of the time that goes to decoding, of a lane that is given such a situation again and again. */
function decodingShare(state: StepState, { unitMs = 50, callMs = 16 } = {}): number {
  const policy = new StepPolicy({ windowSeconds: WINDOW_SECONDS, lanes: 2 });
  const spent: Record<Unit, number> = { encode: 0, decode: 0 };
  while (spent.encode + spent.decode < 100_000) {
    const unit = policy.choose(state);
    if (unit === null) throw new Error('The lane is idle.');
    const milliseconds = unit === 'encode' ? unitMs : callMs;
    policy.spent(unit, milliseconds);
    spent[unit] += milliseconds;
  }
  return spent.decode / (spent.encode + spent.decode);
}

describe('StepPolicy', () => {
  it('does what there is, and what there is something to do it with', () => {
    const choose = (change: Partial<StepState>): Unit | null =>
      new StepPolicy({ windowSeconds: WINDOW_SECONDS, lanes: 2 }).choose({ ...BOTH, ...change });
    expect(choose({ decode: null })).to.equal('encode');
    expect(choose({ encode: null })).to.equal('decode');
    expect(choose({ encode: null, decode: null })).to.equal(null);
    expect(choose({ canDecode: false })).to.equal('encode');
    expect(choose({ canEncode: false })).to.equal('decode');
    expect(choose({ canEncode: false, canDecode: false })).to.equal(null);
    expect(choose({ encode: null, canDecode: false })).to.equal(null);
    expect(choose({ decode: null, canEncode: false })).to.equal(null);
  });

  it('shares the time by who is nearer to the end, and by what fills the batch', () => {
    const near = { leftSeconds: 0, windows: 1 };
    const far = { leftSeconds: 1200, windows: 1 };
    expect(decodingShare({ ...BOTH, encode: far, decode: near }), 'a clip in the batch').to.be.closeTo(7 / 8, 0.02);
    expect(decodingShare({ ...BOTH, encode: near, decode: far }), 'a clip that came').to.be.closeTo(1 / 8, 0.02);
    expect(decodingShare(BOTH), 'alike').to.be.closeTo(1 / 4, 0.02);
    const hand = { ...BOTH, encode: far, decode: far, encodingLeftSeconds: 0 };
    expect(decodingShare(hand), 'a clip in an encoder').to.be.closeTo(7 / 8, 0.02);
    const small = { leftSeconds: 0, windows: 3 };
    expect(decodingShare({ ...BOTH, decode: small }), 'a small batch').to.be.closeTo(1 / 8, 0.02);
    const few = { ...BOTH, encode: { leftSeconds: 0, windows: 1 }, decode: near };
    expect(decodingShare(few), 'as large as it can be while another lane encodes').to.be.closeTo(1 / 4, 0.02);
  });

  it('begins with the one that is nearer to its end', () => {
    const far = { leftSeconds: 1200, windows: 8 };
    const choose = (change: Partial<StepState>): Unit | null =>
      new StepPolicy({ windowSeconds: WINDOW_SECONDS, lanes: 2 }).choose({ ...BOTH, ...change });
    expect(choose({ encode: far })).to.equal('decode');
    expect(choose({ decode: far })).to.equal('encode');
    expect(choose({})).to.equal('encode');
  });

  it('takes aborted rows out of the batch at once', () => {
    const policy = new StepPolicy({ windowSeconds: WINDOW_SECONDS, lanes: 2 });
    const urgent = { ...BOTH, decode: { leftSeconds: 1200, windows: 1 } };
    expect(policy.choose(urgent)).to.equal('encode');
    expect(policy.choose({ ...urgent, hasAborted: true })).to.equal('decode');
  });

  it('remembers nothing of the time in which one of them had nothing to do', () => {
    const policy = new StepPolicy({ windowSeconds: WINDOW_SECONDS, lanes: 2 });
    for (let call = 0; call < 1000; call++) {
      expect(policy.choose({ ...BOTH, encode: null })).to.equal('decode');
      policy.spent('decode', 16);
    }
    const units = Array.from({ length: 40 }, () => {
      const unit = policy.choose(BOTH);
      policy.spent(unit ?? 'encode', 20);
      return unit;
    });
    expect(units.filter((unit) => unit === 'decode')).to.have.length(10);
  });

  it('leaves neither without a share, whatever the situations are', () => {
    const waiting = fc.record({
      leftSeconds: fc.integer({ min: 0, max: 5000 }),
      windows: fc.integer({ min: 1, max: 64 }),
    });
    const situations = fc.array(
      fc.record({
        encode: waiting,
        decode: waiting,
        unitMs: fc.integer({ min: 1, max: 60 }),
        callMs: fc.integer({ min: 1, max: 40 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(situations, (cycle) => {
        const policy = new StepPolicy({ windowSeconds: WINDOW_SECONDS, lanes: 2 });
        const waited: Record<Unit, number> = { encode: 0, decode: 0 };
        for (let turn = 0; turn < 2000; turn++) {
          const { encode, decode, unitMs, callMs } = cycle[turn % cycle.length]!;
          const unit = policy.choose({ ...BOTH, encode, decode });
          if (unit === null) return expect.fail('idle');
          const milliseconds = unit === 'encode' ? unitMs : callMs;
          policy.spent(unit, milliseconds);
          waited[unit] = 0;
          waited[unit === 'encode' ? 'decode' : 'encode'] += milliseconds;
          // What is owed at most, at the least share.
          expect(Math.max(waited.encode, waited.decode)).to.be.at.most(8 * (200 + 60));
        }
      }),
    );
  });
});

const alone = (pace: StepPace, windows: number): number => pace.next(windows, false).steps;

describe('StepPace', () => {
  it('makes calls of about the same time, whatever the steps cost, and begins with one step', () => {
    for (const { stepMs, rowMs } of [
      { stepMs: 0.1, rowMs: 0.05 },
      { stepMs: 1.3, rowMs: 0.8 },
      { stepMs: 8, rowMs: 0.2 },
    ]) {
      const pace = new StepPace();
      expect(alone(pace, 8)).to.equal(1);
      const cost = (windows: number, steps: number): number => steps * (stepMs + windows * rowMs);
      for (const windows of [1, 2, 4, 8, 8, 8, 8, 8, 8, 8]) {
        const steps = alone(pace, windows);
        pace.took({ windows, steps, milliseconds: cost(windows, steps), isHelped: false });
      }
      const steps = alone(pace, 8);
      expect(steps).to.be.within(1, 64);
      if (steps > 1) expect(cost(8, steps)).to.be.within(4, 24);
    }
  });

  it('runs one step where a step alone takes longer, and is not led astray by a call without any', () => {
    const pace = new StepPace();
    pace.took({ windows: 1, steps: 1, milliseconds: 200, isHelped: false });
    expect(alone(pace, 64)).to.equal(1);
    pace.took({ windows: 1, steps: 0, milliseconds: 0, isHelped: false });
    expect(alone(pace, 1)).to.equal(1);
  });

  /** The calls, where a step takes so long without and with help. */
  function calls(pace: StepPace, count: number, aloneMs: number, helpedMs: number): BatchCall[] {
    return Array.from({ length: count }, () => {
      const call = pace.next(1, true);
      const milliseconds = call.steps * (call.isHelped ? helpedMs : aloneMs);
      pace.took({ windows: 1, milliseconds, ...call });
      return call;
    });
  }
  const helped = (made: readonly BatchCall[]): BatchCall[] => made.filter(({ isHelped }) => isHelped);

  it('is helped while that is faster, and makes calls of the same time with more steps', () => {
    const pace = new StepPace();
    const made = calls(pace, 650, 2, 1.1);
    expect(made.slice(0, 3)).to.deep.equal([
      { steps: 1, isHelped: false },
      { steps: 4, isHelped: true },
      { steps: 4, isHelped: true },
    ]);
    expect(helped(made).length).to.be.within(620, 630);
    expect(made.at(-1)).to.deep.equal({ steps: 15, isHelped: true });
  });

  it('is not helped where that gains little or takes longer, but for few steps now and then', () => {
    for (const helpedMs of [1.8, 2, 50]) {
      const made = calls(new StepPace(), 650, 2, helpedMs);
      expect(helped(made).length).to.be.within(24, 30);
      for (const { steps } of helped(made)) expect(steps).to.equal(4);
      expect(made.at(-1)).to.deep.equal({ steps: 8, isHelped: false });
    }
  });

  it('follows a machine that gets busy, and one whose cores get free', () => {
    const pace = new StepPace();
    calls(pace, 10, 2, 1.1);
    expect(helped(calls(pace, 60, 2, 20)).length).to.be.below(6);
    calls(pace, 10, 2, 20);
    expect(helped(calls(pace, 650, 2, 1.1)).length).to.be.above(550);
  });

  it('is not helped where no lane is idle', () => {
    const pace = new StepPace();
    calls(pace, 10, 2, 1.1);
    expect(pace.next(1, false)).to.deep.equal({ steps: 8, isHelped: false });
  });
});
