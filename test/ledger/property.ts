import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Ledger } from '../../src/ledger/types.js';
import { Model, type ModelPack } from './model.js';
import { Bench, codeOf, customer, hold, settlement, type KeyHolder } from './support.js';

/** Thousands of runs need no real disk: their crashes are copies of the files. */
const MEMORY = '/dev/shm';
const HOUR = 3_600_000;

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      amount: fc.integer({ min: 1, max: 20 }),
      hours: fc.option(fc.integer({ min: 1, max: 60 })),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('hold' as const), credits: fc.integer({ min: 0, max: 15 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      pick: fc.nat(),
      share: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'revoke' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'neighbour' as const }) },
);
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One account's life on a database it shares with the runs before it. */
class Life {
  readonly model = new Model();
  readonly keys = new Map<string, { key: KeyHolder['key']; revoked: boolean }>();

  private constructor(
    private readonly world: World,
    private who: KeyHolder,
  ) {}

  static async begin(world: World): Promise<Life> {
    return new Life(world, await customer(world.ledger, `${world.accounts++}@example.com`));
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#do(step);
      expect((await this.#ledger.balance(this.who.account.id)).balance).to.equal(
        this.model.balance(this.world.now),
      );
    }
    await this.#compare();
  }

  get #ledger(): Ledger {
    return this.world.ledger;
  }

  async #do(step: Step): Promise<void> {
    const { model, world } = this;
    const now = world.now;
    switch (step.kind) {
      case 'grant': {
        const expiresAt = step.hours === null ? null : now + step.hours * HOUR;
        const iso = expiresAt === null ? null : new Date(expiresAt).toISOString();
        await this.#ledger.grantCredits({
          accountId: this.who.account.id,
          amount: step.amount,
          expiresAt: iso,
        });
        model.grant(step.amount, expiresAt ?? Infinity);
        return;
      }
      case 'hold':
        await this.#hold(step.credits);
        return;
      case 'settle':
        await this.#settle(this.#pick(step.pick), step.share);
        return;
      case 'release': {
        const id = this.#pick(step.pick);
        if (id === undefined) return;
        await this.#ledger.release(id);
        model.finish(id, 0, now);
        return;
      }
      case 'wait':
        world.now += step.hours * HOUR;
        return;
      case 'revoke': {
        await this.#ledger.revokeKey(this.who.account.id, this.who.key.id);
        for (const owner of this.keys.values()) owner.revoked ||= owner.key.id === this.who.key.id;
        const key = await this.#ledger.createKey({
          accountId: this.who.account.id,
          name: 'next',
          scopes: [],
        });
        this.who = { ...this.who, key };
        return;
      }
      case 'crash':
        await world.crash();
        model.crash(now);
        return;
      case 'neighbour':
        await world.visit();
        return;
    }
  }

  async #hold(credits: number): Promise<void> {
    if (credits > this.model.balance(this.world.now)) {
      expect(await codeOf(() => hold(this.#ledger, this.who, credits))).to.equal('insufficient_credits');
      return;
    }
    const id = await hold(this.#ledger, this.who, credits);
    this.model.hold(id, credits, this.world.now);
    this.keys.set(id, { key: this.who.key, revoked: false });
  }

  async #settle(id: string | undefined, share: number): Promise<void> {
    if (id === undefined) return;
    const credits = Math.floor(((this.model.holds.get(id)?.credits ?? 0) * share) / 4);
    const charge = settlement(credits);
    if (this.keys.get(id)?.revoked === true) {
      expect(await codeOf(() => this.#ledger.settle(id, charge))).to.equal('invalid_api_key');
      return;
    }
    await this.#ledger.settle(id, charge);
    this.model.settle(id, charge, this.world.now);
  }

  #pick(n: number): string | undefined {
    const open = [...this.model.holds.keys()];
    return open[n % open.length];
  }

  /** To the credit, pack by pack. A pack the ledger has not looked at since it expired still has its remaining. */
  async #compare(): Promise<void> {
    const packs = this.world.packsOf(this.who.account.id);
    const late = ({ remaining, expired, expiresAt }: ModelPack): { remaining: number; expired: number } =>
      expiresAt <= this.world.now ? { remaining: 0, expired: remaining + expired } : { remaining, expired };
    expect(packs).to.deep.equal(
      this.model.packs.map((pack) => ({ held: pack.held, spent: pack.spent, ...late(pack) })),
    );
    expect(this.model.packs.reduce((sum, pack) => sum + pack.spent, 0)).to.equal(this.model.settled);
    for (const id of this.model.holds.keys()) await this.#ledger.release(id);
  }
}

/** A database, its server, and what can befall them. */
class World {
  readonly #bench = new Bench(existsSync(MEMORY) ? MEMORY : undefined);
  #generation = 0;
  accounts = 0;
  ledger = this.#open();

  get now(): number {
    return this.#bench.now;
  }

  set now(time: number) {
    this.#bench.now = time;
  }

  /** The files as they are this moment, and a new server on them: the old one's commits, and none of its memory. */
  async crash(): Promise<void> {
    const old = this.#path();
    this.#generation += 1;
    for (const suffix of ['', '-wal']) cpSync(old + suffix, this.#path() + suffix);
    await this.ledger.close();
    rmSync(old);
    this.ledger = this.#open();
    expect(await this.ledger.audit()).to.deep.equal([]);
  }

  /** Another server comes and goes, which must change nothing. */
  async visit(): Promise<void> {
    await this.#open().close();
  }

  packsOf(accountId: string): unknown[] {
    return this.#bench.raw(
      (database) =>
        database
          .prepare(
            `SELECT held, spent, iif(expires_at <= @now, 0, remaining) AS remaining,
               expired + iif(expires_at <= @now, remaining, 0) AS expired
             FROM credit_packs WHERE account_id = @accountId ORDER BY id`,
          )
          .all({ accountId, now: this.now }),
      this.#path(),
    );
  }

  async dispose(): Promise<void> {
    expect(await this.ledger.audit()).to.deep.equal([]);
    await this.#bench.dispose();
  }

  #path(): string {
    return join(this.#bench.directory, `${this.#generation}.db`);
  }

  #open(): Ledger {
    return this.#bench.server({ path: this.#path() });
  }
}

/** Checks that `runs` random interleavings leave ledger and model with the same books. */
export async function checkInterleavings(runs: number): Promise<void> {
  let world = new World();
  let lives = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        await (await Life.begin(world)).run(steps);
        lives += 1;
        if (lives % 200 === 0) {
          await world.dispose();
          world = new World();
        }
      }),
      { numRuns: runs },
    );
  } finally {
    await world.dispose();
  }
}
