import { expect } from 'chai';
import { UploadTurns, type UploadTurn } from '../../../src/http/upload/upload-turns.js';
import { Mulberry32 } from '../../support/random.js';
import { SEED } from '../../support/seed.js';

/** Uploads that note who has a turn. */
class Uploads {
  readonly taking: string[] = [];
  /** All that had a turn, in order. */
  readonly had: string[] = [];
  readonly #turns: UploadTurns;
  readonly #joined = new Map<string, UploadTurn>();

  constructor(maximum: number) {
    this.#turns = new UploadTurns(maximum);
  }

  /** `account/upload`. */
  join(name: string): UploadTurn {
    const turn = this.#turns.join(name.split('/')[0]!);
    this.#joined.set(name, turn);
    return turn;
  }

  take(name: string): void {
    const turn = this.#joined.get(name) ?? this.join(name);
    turn.take(() => {
      this.taking.push(name);
      this.had.push(name);
    });
  }

  end(name: string): void {
    const at = this.taking.indexOf(name);
    if (at >= 0) this.taking.splice(at, 1);
    this.#joined.get(name)?.end();
  }
}

describe('UploadTurns', () => {
  it('lets so many uploads take a chunk at once, and the next when one has it on the disk', () => {
    const uploads = new Uploads(2);
    for (const name of ['a/1', 'b/1', 'c/1']) uploads.take(name);
    expect(uploads.taking).to.deep.equal(['a/1', 'b/1']);
    uploads.end('a/1');
    expect(uploads.taking).to.deep.equal(['b/1', 'c/1']);
  });

  it('goes round the accounts, however many uploads one has', () => {
    const uploads = new Uploads(1);
    for (let n = 0; n < 64; n++) uploads.take(`many/${n}`);
    uploads.take('one/0');
    for (let n = 0; n < 40; n++) {
      const [name] = uploads.taking;
      uploads.end(name!);
      uploads.take(name!);
    }
    expect(uploads.had.filter((name) => name === 'one/0')).to.have.length.within(19, 21);
  });

  it('lets the uploads of an account go on in the order in which they began', () => {
    const uploads = new Uploads(1);
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1']) uploads.join(name);
    for (const name of ['b/1', 'a/3', 'a/1', 'a/2']) uploads.take(name);
    for (const name of ['b/1', 'a/1', 'a/2']) uploads.end(name);
    expect(uploads.had).to.deep.equal(['b/1', 'a/1', 'a/2', 'a/3']);
  });

  it('removes an upload that ends while it waits, and one that ends twice', () => {
    const uploads = new Uploads(1);
    for (const name of ['a/1', 'b/1', 'c/1']) uploads.take(name);
    uploads.end('b/1');
    uploads.end('b/1');
    uploads.end('a/1');
    uploads.end('a/1');
    expect(uploads.taking).to.deep.equal(['c/1']);
    uploads.take('a/1');
    expect(uploads.taking).to.deep.equal(['c/1']);
  });

  it('starves nobody and never passes its bound, whoever comes, ends and breaks off', () => {
    for (let seed = SEED; seed < SEED + 40; seed++) {
      const random = new Mulberry32(seed);
      const maximum = 1 + random.below(4);
      const uploads = new Uploads(maximum);
      const names = Array.from({ length: 12 }, (_, n) => `${random.below(4)}/${n}`);
      /** Turns of others that each waits for. */
      const waiting = new Map<string, number>();
      let seen = 0;
      for (let step = 0; step < 400; step++) {
        const name = random.pick(names);
        if (uploads.taking.includes(name) || (waiting.has(name) && random.below(20) === 0)) {
          uploads.end(name);
          waiting.delete(name);
        } else if (!waiting.has(name)) {
          waiting.set(name, 0);
          uploads.take(name);
        }
        for (; seen < uploads.had.length; seen++) {
          for (const [other, turns] of waiting) waiting.set(other, turns + 1);
          waiting.delete(uploads.had[seen]!);
        }
        expect(uploads.taking.length).to.be.at.most(maximum);
        expect(uploads.taking.length === maximum || waiting.size === 0, `seed ${seed}`).to.equal(true);
        // Twelve uploads of four accounts: an account has a turn in four, and passes none of its uploads over eight
        // times.
        expect(Math.max(0, ...waiting.values()), `seed ${seed}`).to.be.below(4 * 8 * 12);
      }
    }
  });
});
