/** Which live sessions are admitted, by what speech costs and how much of it there is. */
import { expect } from 'chai';
import { LiveAdmission, NO_EXTRAS, type AdmittedSession } from '../../src/live/admission.js';
import type { PaidWork } from '../../src/transcription/price.js';

const MODEL = 'model';

describe('the admission of live sessions', () => {
  let now: number;
  let admission: LiveAdmission;

  beforeEach(() => {
    now = 0;
    admission = new LiveAdmission(
      () => ({ slots: 2, realTimeFactor: 1 }),
      () => now,
    );
  });

  /** So many slot seconds for each second of speech, for certain. */
  const cost = (factor: number): void => {
    for (let i = 0; i < 100; i++) admission.measured(MODEL, { seconds: 30, lagMs: 0, workMs: 30_000 * factor });
  };
  const admitAll = (): AdmittedSession[] => {
    const admitted: AdmittedSession[] = [];
    try {
      while (admitted.length < 1000) admitted.push(admission.admit(MODEL));
    } catch (error) {
      expect(error).to.include({ code: 'overloaded', retryAfterSeconds: 10 });
    }
    return admitted;
  };
  /** Seconds pass, of which each session speaks a part. */
  const pass = (seconds: number, sessions: readonly AdmittedSession[], part: number): void => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      for (const session of sessions) session.spoke(part);
    }
  };

  it('takes 16 sessions of a small model before anything is measured, and not without end', () => {
    expect(admitAll().length).to.be.within(16, 25);
  });

  it('bounds sessions that speak all the time at 0.7 of the lanes', () => {
    cost(0.1);
    const speakers = admitAll();
    pass(300, speakers, 1);
    expect(admission.stats(MODEL).sessions).to.equal(speakers.length);
    expect(() => admission.admit(MODEL)).to.throw('keeps up with no more');
    for (const speaker of speakers.splice(14)) speaker.release();
    pass(300, speakers, 1);
    // 14 take 0.1 of one of two lanes each.
    expect(admission.room).to.be.closeTo(0, 0.02);
    speakers[0]!.release();
    pass(300, speakers.slice(1), 1);
    expect(admission.room).to.be.closeTo(1 / 14, 0.02);
    expect(admission.stats(MODEL).most).to.be.within(13, 14);
  });

  it('counts a session that is silent for little, but for something', () => {
    cost(0.1);
    const idle = admitAll();
    expect(idle.length).to.be.below(20);
    while (idle.length < 250) {
      pass(30, idle, 0);
      const before = idle.length;
      idle.push(...admitAll());
      expect(now).to.be.below(1_200_000);
      if (idle.length === before) break;
    }
    expect(idle.length).to.be.within(250, 800);
    pass(600, idle, 0);
    const room = admission.room;
    for (const session of idle.splice(250)) session.release();
    expect(admission.room).to.be.above(room).and.below(0.9);
  });

  it('takes 500 idle sessions of a model whose speech costs nearly nothing', () => {
    cost(0.01);
    const idle: AdmittedSession[] = [];
    while (idle.length < 500 && now < 120_000) {
      idle.push(...admitAll());
      pass(10, idle, 0);
    }
    expect(idle.length).to.be.at.least(500);
  });

  it('counts more again when silent sessions begin to speak', () => {
    cost(0.1);
    const sessions = admitAll();
    pass(120, sessions, 0);
    const room = admission.room;
    expect(room).to.be.above(0.7);
    pass(10, sessions, 1);
    expect(admission.room).to.be.below(room - 0.1);
    pass(300, sessions, 1);
    expect(() => admission.admit(MODEL)).to.throw('keeps up with no more');
  });

  it('counts audio that comes faster than it is spoken as often as it comes', () => {
    cost(0.1);
    const session = admission.admit(MODEL);
    pass(300, [session], 1);
    const once = 1 - admission.room;
    pass(300, [session], 4);
    expect(1 - admission.room).to.be.closeTo(4 * once, 0.5 * once);
  });

  it('counts translation and speakers, as they were measured, for the sessions that have them', () => {
    cost(0.05);
    const both = { translated: true, diarized: true };
    const most = (extras: PaidWork): number => {
      const sessions: AdmittedSession[] = [];
      try {
        while (sessions.length < 1000) sessions.push(admission.admit(MODEL, { extras }));
      } catch {
        for (const session of sessions) session.release();
      }
      return sessions.length;
    };
    const plain = most(NO_EXTRAS);
    // The first guess: 0.03 each.
    expect(most(both)).to.be.closeTo((plain * 0.05) / 0.11, 1);
    for (let i = 0; i < 100; i++) {
      admission.extraMeasured('translated', { seconds: 30, workMs: 30 * 100 });
      admission.extraMeasured('diarized', { seconds: 30, workMs: 30 * 50 });
    }
    expect(most({ translated: true, diarized: false })).to.be.closeTo((plain * 0.05) / 0.15, 1);
    expect(most({ translated: false, diarized: true })).to.be.closeTo((plain * 0.05) / 0.1, 1);
    expect(most(both)).to.be.closeTo((plain * 0.05) / 0.2, 1);
    expect(most(NO_EXTRAS)).to.equal(plain);
    const session = admission.admit(MODEL, { extras: both });
    pass(300, [session], 1);
    expect(1 - admission.room).to.be.closeTo(0.2 / 2 / 0.7, 0.02);
  });

  it('counts work on audio that is decoded more than once', () => {
    cost(0.1);
    const session = admission.admit(MODEL);
    pass(300, [session], 1);
    const once = 1 - admission.room;
    for (let i = 0; i < 100; i++) {
      admission.measured(MODEL, { seconds: 0, lagMs: 0, workMs: 3000 });
      admission.measured(MODEL, { seconds: 30, lagMs: 0, workMs: 3000 });
    }
    expect(1 - admission.room).to.be.closeTo(2 * once, 0.4 * once);
  });

  it('takes the first session whatever it costs, and one in place of another', () => {
    cost(3);
    const only = admission.admit(MODEL);
    expect(() => admission.admit(MODEL)).to.throw('1 live sessions');
    const other = admission.admit(MODEL, { instead: only });
    only.release();
    only.release();
    expect(admission.stats(MODEL)).to.deep.equal({ sessions: 1, most: 1 });
    other.release();
    expect(admission.stats(MODEL).sessions).to.equal(0);
    expect(admission.room).to.equal(1);
  });
});
