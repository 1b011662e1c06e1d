import { expect } from 'chai';
import fc from 'fast-check';
import { CrashIsolation, type IsolationPolicy } from '../../../src/engine/process/crash-isolation.js';
import { Mulberry32 } from '../../support/random.js';

/** One call: how many steps of work it has, at which of them it crashes its process, if it does, and whose it is. */
interface Call {
  id: number;
  account: string;
  steps: number;
  deadlyAt: number | null;
}

/** Convictions after which an account's calls run in isolation only. */
const ISOLATING = 2;

/** Steps of work instead of time: what is in a process advances by turns. */
class World {
  readonly answered = new Set<number>();
  readonly refused = new Set<number>();
  readonly convictions = new Map<string, number>();
  readonly isolation: CrashIsolation<Call>;
  servingCrashes = 0;
  #serving: Call[];
  #run: Call[] = [];
  /** Steps that are done for good. */
  readonly #done = new Map<number, number>();

  constructor(
    calls: readonly Call[],
    private readonly random: Mulberry32,
  ) {
    this.#serving = [...calls];
    this.isolation = new CrashIsolation<Call>({
      requestOf: (call) => call,
      accountOf: ({ account }) => account,
      convictionsOf: ({ account }) => this.#convictionsOf(account),
      isIsolated: ({ account }) => this.#convictionsOf(account) >= ISOLATING,
      isWaitedFor: ({ id }) => !this.answered.has(id) && !this.refused.has(id),
    });
  }

  get isOver(): boolean {
    return this.#serving.length === 0 && this.#run.length === 0 && !this.isolation.hasWaiting;
  }

  step(): void {
    const all = [...this.#serving, ...this.#run];
    const call = all[this.random.below(all.length)];
    if (call !== undefined) this.#work(call);
    if (this.isolation.isRunningIsolated && this.isolation.hasCallsToBisect) {
      this.isolation.runInterrupted();
      this.#run = [];
    }
    if (this.#run.length === 0) this.#run = this.isolation.next() ?? [];
  }

  #convictionsOf(account: string): number {
    return this.convictions.get(account) ?? 0;
  }

  #work(call: Call): void {
    const done = this.#done.get(call.id) ?? 0;
    if (done === call.deadlyAt) this.#crash(call);
    else if (done + 1 >= call.steps) this.#end(call);
    else {
      this.#done.set(call.id, done + 1);
      this.isolation.checkpoint(call);
    }
  }

  #crash(call: Call): void {
    if (this.#serving.includes(call)) {
      this.servingCrashes += 1;
      this.#serving = this.isolation.servingCrashed(this.#serving);
      return;
    }
    this.#run = [];
    const guilty = this.isolation.runCrashed();
    if (guilty === null) return;
    this.convictions.set(guilty.account, this.#convictionsOf(guilty.account) + 1);
    this.refused.add(guilty.id);
    this.isolation.ended(guilty);
  }

  #end(call: Call): void {
    this.answered.add(call.id);
    this.isolation.ended(call);
    this.#serving = this.#serving.filter((other) => other !== call);
    this.#run = this.#run.filter((other) => other !== call);
  }
}

const CALL = fc.record({
  account: fc.constantFrom('a', 'b', 'c'),
  steps: fc.integer({ min: 1, max: 6 }),
  deadlyAt: fc.option(fc.nat(5), { freq: 3 }),
});
const callsOf = (specs: Omit<Call, 'id'>[]): Call[] =>
  specs.map(({ account, steps, deadlyAt }, id) => ({
    ...{ id, account, steps, deadlyAt: deadlyAt === null ? null : deadlyAt % steps },
  }));

const MOST_STEPS = 100_000;

function runOut(world: World): void {
  for (let steps = 0; !world.isOver; steps++) {
    if (steps > MOST_STEPS) throw new Error('It does not come to an end.');
    world.step();
  }
}

/** Calls by a name of two letters: the account's and their own. */
function isolating(policy: Partial<IsolationPolicy<string>> = {}): {
  isolation: CrashIsolation<string>;
  convictions: Map<string, number>;
  crashServing: (...calls: string[]) => string[];
} {
  const requests = new Map<string, object>();
  const convictions = new Map<string, number>();
  const convictionsOf = (call: string): number => convictions.get(call.charAt(0)) ?? 0;
  const isolation = new CrashIsolation<string>({
    requestOf: (call) => requests.get(call) ?? requests.set(call, {}).get(call)!,
    accountOf: (call) => call.charAt(0),
    convictionsOf,
    isIsolated: (call) => convictionsOf(call) >= ISOLATING,
    isWaitedFor: () => true,
    ...policy,
  });
  return { isolation, convictions, crashServing: (...calls) => isolation.servingCrashed(calls) };
}

describe('Crash isolation', () => {
  it('refuses a call if and only if it crashes its process, and all others are answered', () => {
    fc.assert(
      fc.property(fc.array(CALL, { minLength: 1, maxLength: 40 }), fc.nat(), (specs, seed) => {
        const all = callsOf(specs);
        const world = new World(all, new Mulberry32(seed));
        runOut(world);
        const deadly = all.filter(({ deadlyAt }) => deadlyAt !== null).map(({ id }) => id);
        expect([...world.refused].sort((one, other) => one - other)).to.deep.equal(deadly);
        expect(world.answered.size).to.equal(all.length - deadly.length);
      }),
      { numRuns: 500 },
    );
  });

  it('takes some 2 log n runs for a deadly call of one account, after two crashes of the serving process', () => {
    for (const count of [1, 2, 3, 16, 64, 256]) {
      const names = Array.from({ length: count }, (_, index) => `a${index}`);
      const deadly = names[Math.floor(count / 2)]!;
      const { isolation, crashServing } = isolating();
      expect(crashServing(...names)).to.have.length(count);
      expect(crashServing(...names)).to.have.length(0);
      let crashes = 0;
      for (let batch = isolation.next(); batch !== null; batch = isolation.next()) {
        if (!batch.includes(deadly)) for (const call of batch) isolation.ended(call);
        else {
          crashes += 1;
          // It comes first each time: nothing in the process has a checkpoint when it crashes.
          expect(isolation.runCrashed()).to.equal(batch.length === 1 ? deadly : null);
        }
      }
      expect(crashes).to.be.at.most(Math.ceil(Math.log2(count)) + 1);
    }
  });

  it('isolates no call that had a checkpoint between two crashes', () => {
    const { isolation, crashServing } = isolating();
    for (let crash = 0; crash < 10; crash++) {
      expect(crashServing('a1', `b${crash}`)).to.deep.equal(['a1', `b${crash}`]);
      isolation.checkpoint('a1');
    }
  });

  it('counts the crashes of a request over all of its calls', () => {
    const request = {};
    const { isolation, crashServing } = isolating({ requestOf: () => request });
    expect(crashServing('measure')).to.deep.equal(['measure']);
    isolation.ended('measure');
    expect(crashServing('transcribe')).to.deep.equal([]);
    expect(isolation.next()).to.deep.equal(['transcribe']);
  });

  it('counts one crash for a request that had several calls in the process', () => {
    const request = {};
    const { crashServing } = isolating({ requestOf: () => request });
    expect(crashServing('translate', 'transcribe')).to.deep.equal(['translate', 'transcribe']);
  });

  it('does not refuse a call that was alone, had a checkpoint, and then died from outside', () => {
    const { isolation, crashServing } = isolating();
    crashServing('a1');
    crashServing('a1');
    expect(isolation.next()).to.deep.equal(['a1']);
    isolation.checkpoint('a1');
    expect(isolation.runCrashed()).to.equal(null);
    expect(isolation.next()).to.deep.equal(['a1']);
    expect(isolation.runCrashed()).to.equal('a1');
  });

  it('has no run for a call that nobody waits for', () => {
    const { isolation, crashServing } = isolating({ isWaitedFor: (call) => call === 'a2' });
    crashServing('a1', 'a2');
    crashServing('a1', 'a2');
    expect(isolation.hasCallsToBisect).to.equal(true);
    expect(isolation.next()).to.deep.equal(['a2']);
    isolation.ended('a2');
    expect([isolation.hasCallsToBisect, isolation.hasWaiting, isolation.next()]).to.deep.equal([false, false, null]);
  });

  it('splits a run by account, so that other accounts wait for one crash of it, the smallest first', () => {
    const { isolation, crashServing } = isolating();
    const all = ['a1', 'a2', 'a3', 'a4', 'v1', 'b1', 'b2'];
    crashServing(...all);
    crashServing(...all);
    expect(isolation.next()).to.deep.equal(all);
    isolation.runCrashed();
    expect(isolation.next()).to.deep.equal(['v1']);
    isolation.ended('v1');
    expect(isolation.next()).to.deep.equal(['b1', 'b2']);
  });

  it('lets isolated calls of accounts without convictions go first', () => {
    const { isolation, convictions, crashServing } = isolating();
    convictions.set('a', 1);
    crashServing('a1', 'v1', 'w1');
    crashServing('a1', 'v1', 'w1');
    expect(isolation.next()).to.deep.equal(['v1', 'w1']);
    isolation.ended('v1');
    isolation.ended('w1');
    expect(isolation.next()).to.deep.equal(['a1']);
  });

  it('puts what is convicted meanwhile behind the others', () => {
    const { isolation, convictions, crashServing } = isolating();
    crashServing('a1', 'a2', 'b1');
    crashServing('a1', 'a2', 'b1');
    isolation.next();
    isolation.runCrashed();
    expect(isolation.next()).to.deep.equal(['b1']);
    expect(isolation.runCrashed()).to.equal('b1');
    convictions.set('a', 1);
    crashServing('v1');
    crashServing('v1');
    expect(isolation.next()).to.deep.equal(['v1']);
    isolation.ended('v1');
    expect(isolation.next()).to.deep.equal(['a1', 'a2']);
  });

  it('gives each call of an isolated account a run for itself, behind all other isolated calls', () => {
    const { isolation, convictions, crashServing } = isolating();
    convictions.set('a', 2);
    isolation.isolate('a1');
    // A crash of the serving process with a call that was in it before the account was isolated.
    expect(crashServing('a2', 'v1')).to.deep.equal(['v1']);
    expect(isolation.next()).to.deep.equal(['a1']);
    expect([isolation.isRunningIsolated, isolation.hasCallsToBisect]).to.deep.equal([true, false]);
    crashServing('v1');
    expect([isolation.isRunningIsolated, isolation.hasCallsToBisect]).to.deep.equal([true, true]);
    isolation.runInterrupted();
    expect(isolation.next()).to.deep.equal(['v1']);
    isolation.ended('v1');
    expect(isolation.next()).to.deep.equal(['a1']);
    expect(isolation.runCrashed()).to.equal('a1');
    expect(isolation.next()).to.deep.equal(['a2']);
  });

  it('gives up all of them where no process can be had', () => {
    const { isolation, crashServing } = isolating();
    crashServing('a1', 'b1');
    crashServing('a1', 'b1');
    isolation.isolate('c1');
    isolation.next();
    expect(isolation.giveUp()).to.have.members(['a1', 'b1', 'c1']);
    expect([isolation.isRunning, isolation.hasWaiting]).to.deep.equal([false, false]);
  });
});
