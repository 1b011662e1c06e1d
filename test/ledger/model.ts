import type { Settlement } from '../../src/ledger/types.js';

export interface ModelPack {
  purchased: number;
  remaining: number;
  held: number;
  spent: number;
  expired: number;
  order: number;
  expiresAt: number;
}

interface ModelHold {
  credits: number;
  parts: { pack: ModelPack; credits: number }[];
}

/** The rules of packs and holds once more, as plainly as can be: what the ledger is compared with. */
export class Model {
  readonly packs: ModelPack[] = [];
  readonly holds = new Map<string, ModelHold>();
  settled = 0;
  minutes = 0;

  grant(purchased: number, expiresAt: number): void {
    this.packs.push({
      ...{ purchased, remaining: purchased, held: 0, spent: 0, expired: 0 },
      ...{ order: this.packs.length, expiresAt },
    });
  }

  balance(now: number): number {
    return this.#spendable(now).reduce((sum, pack) => sum + pack.remaining, 0);
  }

  hold(id: string, credits: number, now: number): void {
    const hold: ModelHold = { credits, parts: [] };
    for (let n = 0; n < credits; n += 1) {
      const pack = this.#spendable(now)[0];
      if (pack === undefined) throw new Error('The model has no credits left.');
      pack.remaining -= 1;
      pack.held += 1;
      hold.parts.push({ pack, credits: 1 });
    }
    this.holds.set(id, hold);
  }

  /** A credit at a time, in the order they were taken. */
  finish(id: string, charged: number, now: number): void {
    const hold = this.holds.get(id);
    hold?.parts.forEach(({ pack }, n) => {
      pack.held -= 1;
      if (n < charged) pack.spent += 1;
      else if (pack.expiresAt <= now) pack.expired += 1;
      else pack.remaining += 1;
    });
    this.holds.delete(id);
  }

  settle(id: string, { credits, minutes }: Settlement, now: number): void {
    this.finish(id, credits, now);
    this.settled += credits;
    this.minutes += minutes;
  }

  /** What is left, and what comes back, has expired. */
  forfeit(now: number): void {
    for (const pack of this.packs) {
      pack.expired += pack.remaining;
      pack.remaining = 0;
      pack.expiresAt = Math.min(pack.expiresAt, now);
    }
  }

  crash(now: number): void {
    for (const id of [...this.holds.keys()]) this.finish(id, 0, now);
  }

  #spendable(now: number): ModelPack[] {
    return this.packs
      .filter((pack) => pack.remaining > 0 && pack.expiresAt > now)
      .sort((a, b) => a.expiresAt - b.expiresAt || a.order - b.order);
  }
}
