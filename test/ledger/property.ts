import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Model, type ModelPack } from './model.js';
import { die, SQLITE, type Backend } from './backends.js';
import { Bench, codeOf, customer, FileBench, hold, settlement, type KeyHolder } from './support.js';

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
      // Few, so that some are repeated.
      payment: fc.option(fc.integer({ min: 1, max: 3 })),
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
  { weight: 1, arbitrary: fc.constant({ kind: 'suspend' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'resume' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'neighbour' as const }) },
);
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One account's life on a database it shares with the runs before it. */
class Life {
  readonly model = new Model();
  readonly keys = new Map<string, { key: KeyHolder['key']; revoked: boolean }>();
  /** Credits by payment. */
  readonly payments = new Map<string, number>();
  state: 'open' | 'suspended' | 'deleted' = 'open';

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
      expect((await this.#ledger.credits.balance(this.who.account.id)).balance).to.equal(
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
      case 'grant':
        await this.#grant(step);
        return;
      case 'hold':
        await this.#hold(step.credits);
        return;
      case 'settle':
        await this.#settle(this.#pick(step.pick), step.share);
        return;
      case 'release': {
        const id = this.#pick(step.pick);
        if (id === undefined) return;
        await this.#ledger.holds.release(id);
        model.finish(id, 0, now);
        return;
      }
      case 'wait':
        world.now += step.hours * HOUR;
        return;
      case 'suspend':
      case 'resume': {
        if (this.state === 'deleted') return;
        await this.#ledger.administration[step.kind](this.who.account.id);
        this.state = step.kind === 'suspend' ? 'suspended' : 'open';
        return;
      }
      case 'delete':
        if (this.state === 'deleted') return;
        await this.#ledger.administration.delete(this.who.account.id);
        model.forfeit(now);
        this.state = 'deleted';
        return;
      case 'revoke': {
        if (this.state === 'deleted') return;
        await this.#ledger.keys.revoke(this.who.account.id, this.who.key.id);
        for (const owner of this.keys.values()) owner.revoked ||= owner.key.id === this.who.key.id;
        const key = await this.#ledger.keys.create({
          accountId: this.who.account.id,
          name: 'next',
          scopes: [],
        });
        this.who = { ...this.who, key };
        return;
      }
      case 'crash':
        await world.crash();
        model.crash(world.now);
        return;
      case 'neighbour':
        await world.check();
        return;
    }
  }

  async #grant({ amount, hours, payment }: Extract<Step, { kind: 'grant' }>): Promise<void> {
    const { id: accountId } = this.who.account;
    const expiresAt = hours === null ? null : this.world.now + hours * HOUR;
    const iso = expiresAt === null ? null : new Date(expiresAt).toISOString();
    const paymentId = payment === null ? null : `${accountId}-${payment}`;
    const grant = { accountId, amount, expiresAt: iso, paymentId };
    const paid = paymentId === null ? undefined : this.payments.get(paymentId);
    if (paid !== undefined && paid !== amount) {
      expect(await codeOf(() => this.#ledger.credits.grant(grant))).to.equal('idempotency_conflict');
      return;
    }
    if (paid === undefined && this.state === 'deleted') {
      expect(await codeOf(() => this.#ledger.credits.grant(grant))).to.equal('account_not_found');
      return;
    }
    expect((await this.#ledger.credits.grant(grant)).repeated).to.equal(paid !== undefined);
    if (paid !== undefined) return;
    if (paymentId !== null) this.payments.set(paymentId, amount);
    this.model.grant(amount, expiresAt ?? Infinity);
  }

  async #hold(credits: number): Promise<void> {
    if (this.state !== 'open') {
      expect(await codeOf(() => hold(this.#ledger, this.who, credits))).to.equal('invalid_api_key');
      return;
    }
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
    if (this.keys.get(id)?.revoked === true || this.state !== 'open') {
      expect(await codeOf(() => this.#ledger.holds.settle(id, charge))).to.equal('invalid_api_key');
      return;
    }
    await this.#ledger.holds.settle(id, charge);
    this.model.settle(id, charge, this.world.now);
  }

  #pick(n: number): string | undefined {
    const open = [...this.model.holds.keys()];
    return open[n % open.length];
  }

  /** To the credit, pack by pack. A pack the ledger has not looked at since it expired still has its remaining. */
  async #compare(): Promise<void> {
    const packs = await this.world.packsOf(this.who.account.id);
    const late = ({ remaining, expired, expiresAt }: ModelPack): { remaining: number; expired: number } =>
      expiresAt <= this.world.now ? { remaining: 0, expired: remaining + expired } : { remaining, expired };
    expect(packs).to.deep.equal(
      this.model.packs.map((pack) => ({ held: pack.held, spent: pack.spent, ...late(pack) })),
    );
    expect(this.model.packs.reduce((sum, pack) => sum + pack.spent, 0)).to.equal(this.model.settled);
    for (const id of this.model.holds.keys()) await this.#ledger.holds.release(id);
  }
}

/** A database, its server, and what can befall them. */
class World {
  accounts = 0;

  protected constructor(
    protected readonly bench: Bench,
    public ledger: Ledger,
  ) {}

  static async make(backend: Backend): Promise<World> {
    if (backend === SQLITE) return FileWorld.begin();
    const bench = new Bench(backend);
    return new World(bench, await bench.server());
  }

  get now(): number {
    return this.bench.now;
  }

  set now(time: number) {
    this.bench.now = time;
  }

  /** The server is gone, and another finds what it left. */
  async crash(): Promise<void> {
    await die(this.ledger);
    this.ledger = await this.bench.server();
    await this.bench.releaseDead();
    expect(await this.ledger.audit()).to.deep.equal([]);
  }

  /** Another server comes and goes, which must change nothing. */
  async check(): Promise<void> {
    await (await this.bench.server()).close();
  }

  packsOf(accountId: string): Promise<unknown[]> {
    return this.bench.rows(
      `SELECT held, spent, CASE WHEN expires_at <= ${this.now} THEN 0 ELSE remaining END AS remaining,
         expired + CASE WHEN expires_at <= ${this.now} THEN remaining ELSE 0 END AS expired
       FROM credit_packs WHERE account_id = '${accountId}' ORDER BY id`,
    );
  }

  async dispose(): Promise<void> {
    expect(await this.ledger.audit()).to.deep.equal([]);
    await this.bench.dispose();
  }
}

/**
 * On SQLite a crash is a copy of the files as they are this moment: the old server's commits, and none of its memory.
 */
class FileWorld extends World {
  #generation = 0;

  private constructor(
    private readonly files: FileBench,
    ledger: Ledger,
  ) {
    super(files, ledger);
  }

  static async begin(): Promise<FileWorld> {
    const bench = new FileBench(existsSync(MEMORY) ? MEMORY : undefined);
    return new FileWorld(bench, await bench.server({ address: join(bench.directory, '0.db') }));
  }

  override async crash(): Promise<void> {
    const old = this.#path();
    this.#generation += 1;
    for (const suffix of ['', '-wal']) cpSync(old + suffix, this.#path() + suffix);
    await this.ledger.close();
    rmSync(old);
    this.ledger = await this.bench.server({ address: this.#path() });
    expect(await this.ledger.audit()).to.deep.equal([]);
  }

  override async check(): Promise<void> {
    await (await this.bench.server({ address: this.#path() })).close();
  }

  override packsOf(accountId: string): Promise<unknown[]> {
    const sql = `SELECT held, spent, iif(expires_at <= @now, 0, remaining) AS remaining,
        expired + iif(expires_at <= @now, remaining, 0) AS expired
      FROM credit_packs WHERE account_id = @accountId ORDER BY id`;
    const rows = this.files.raw((database) => database.prepare(sql).all({ accountId, now: this.now }), this.#path());
    return Promise.resolve(rows);
  }

  #path(): string {
    return join(this.files.directory, `${this.#generation}.db`);
  }
}

/** Checks that `runs` random interleavings leave the ledger and the model in the same state. */
export async function checkInterleavings(runs: number, backend: Backend): Promise<void> {
  let world = await World.make(backend);
  let lives = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        await (await Life.begin(world)).run(steps);
        lives += 1;
        if (lives % 200 === 0) {
          await world.dispose();
          world = await World.make(backend);
        }
      }),
      { numRuns: runs },
    );
  } finally {
    await world.dispose();
  }
}
