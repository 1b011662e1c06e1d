import { expect } from 'chai';
import { FairQueue, PASSED_OVER_LIMIT } from '../../src/engine/fair-queue.js';

interface Item {
  name: string;
  accountId: string;
  costLeft: number;
  deadline?: number;
  yields?: boolean;
}

function item(name: string, accountId: string, costLeft = 100): Item {
  return { name, accountId, costLeft };
}

const always = (): boolean => true;

/** The accounts of so many turns. */
function serve(queue: FairQueue<Item>, turns: number, seconds = 8, eligible = always): string[] {
  return Array.from({ length: turns }, () => {
    const next = queue.next(eligible);
    if (next === undefined) return '-';
    queue.charge(next, seconds);
    return next.accountId;
  });
}

function count(turns: string[], accountId: string): number {
  return turns.filter((turn) => turn === accountId).length;
}

describe('FairQueue', () => {
  it('has nobody next when it is empty, or nobody is eligible', () => {
    const queue = new FairQueue<Item>(30);
    expect(queue.next(always)).to.equal(undefined);
    queue.add(item('a', 'A'));
    expect(queue.next(() => false)).to.equal(undefined);
  });

  it('alternates from the moment an account arrives, whatever the others had before', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('a', 'A'));
    serve(queue, 1000);
    queue.add(item('b', 'B'));
    expect(serve(queue, 6).join('')).to.equal('BABABA');
  });

  it('lets none that comes back at once pass those that wait at the same time', () => {
    const queue = new FairQueue<Item>(30);
    const items = ['A', 'B', 'C', 'D'].map((account) => item(account, account));
    for (const one of items) queue.add(one);
    const served: string[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const next = queue.next(always);
      if (next === undefined) return expect.fail('nobody is next');
      served.push(next.accountId);
      queue.charge(next, 8);
      // Its request is done, and the next one comes when another has had its turn.
      queue.remove(next);
      const [back] = items.filter(({ accountId }) => accountId === served.at(-2));
      if (back !== undefined) queue.add(back);
    }
    for (const account of ['A', 'B', 'C', 'D']) {
      const gaps = served
        .flatMap((one, at) => (one === account ? [at] : []))
        .map((at, n, all) => at - (all[n - 1] ?? at));
      expect(Math.max(...gaps), `${account} in ${served.join('')}`).to.be.at.most(4);
    }
  });

  it('lets an account that could not take its turns catch up by a few windows at most', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('a', 'A'));
    queue.add(item('b', 'B'));
    serve(queue, 100, 8, (candidate?: Item) => candidate?.accountId === 'A');
    const turns = serve(queue, 20);
    expect(turns.slice(0, 2)).to.deep.equal(['B', 'B']);
    expect(count(turns, 'B')).to.be.within(11, 13);
  });

  it('remembers an account that leaves ahead of the others', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('a', 'A'));
    const turns: string[] = [];
    for (let n = 0; n < 50; n++) {
      const passing = item(`b${n}`, 'B', 1);
      queue.add(passing);
      for (;;) {
        const next = queue.next(always)!;
        queue.charge(next, next.accountId === 'B' ? 8 : 2);
        turns.push(next.accountId);
        if (next === passing) break;
      }
      queue.remove(passing);
    }
    expect(count(turns, 'A')).to.be.within(4 * 49 - 4, 4 * 50 + 4);
  });

  it('removes accounts once they are level again', () => {
    const queue = new FairQueue<Item>(30);
    for (let n = 0; n < 1000; n++) {
      const passing = item('x', `account-${n}`);
      queue.add(passing);
      queue.charge(passing, 8);
      queue.remove(passing);
    }
    expect(queue.isEmpty).to.equal(true);
  });

  it('serves the least audio left, but the oldest at least once in so many turns', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('old', 'A', 1000));
    queue.add(item('short', 'A', 1));
    const names = Array.from({ length: 3 * (PASSED_OVER_LIMIT + 1) }, () => {
      const next = queue.next(always)!;
      queue.charge(next, 1);
      return next.name;
    });
    const expected = [...Array.from({ length: PASSED_OVER_LIMIT }, () => 'short'), 'old'];
    expect(names).to.deep.equal([...expected, ...expected, ...expected]);
  });

  it('serves deadlines first within an account, the earliest first, and accounts by turns as ever', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('long', 'A', 1000));
    queue.add({ ...item('later', 'A'), deadline: 200 });
    queue.add({ ...item('sooner', 'A'), deadline: 100 });
    queue.add(item('other', 'B', 1));
    const turns = Array.from({ length: 4 }, () => {
      const next = queue.next(always)!;
      queue.charge(next, 8);
      if (next.deadline !== undefined) queue.remove(next);
      return next.name;
    });
    expect(turns).to.deep.equal(['sooner', 'other', 'later', 'other']);
    expect(queue.next((one) => one.accountId === 'A')?.name).to.equal('long');
  });

  it('counts no turn with a deadline as one that passed over the oldest', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('long', 'A', 1000));
    const served: string[] = [];
    for (let turn = 0; turn <= PASSED_OVER_LIMIT + 1; turn++) {
      const live = { ...item('live', 'A', 1), deadline: turn };
      queue.add(live);
      const next = queue.next(always)!;
      served.push(next.name);
      queue.charge(next, 8);
      queue.remove(live);
    }
    expect(new Set(served)).to.deep.equal(new Set(['live']));
  });

  it('serves what yields behind due items of other accounts, and before those that are ahead', () => {
    const queue = new FairQueue<Item>(30);
    const partial = { ...item('partial', 'A', 1), yields: true };
    const file = item('file', 'B', 1000);
    queue.add(partial);
    queue.add(file);
    expect(queue.next(always)).to.equal(file);
    queue.charge(file, 8);
    expect(queue.next(always)).to.equal(partial);
    queue.charge(partial, 1);
    expect(queue.next(always)).to.equal(partial);
    // An account's own file is not due work of another.
    queue.remove(file);
    queue.add(item('own', 'A', 1000));
    expect(queue.next(always)).to.equal(partial);
  });

  it('foretells its turns without taking them', () => {
    const queue = new FairQueue<Item>(30);
    queue.add(item('a', 'A', 5));
    queue.add(item('b', 'B', 3));
    queue.add(item('c', 'B', 4));
    const foretold: string[] = [];
    for (const next of queue.upcoming(always, 8)) {
      foretold.push(next.accountId);
      if (foretold.length === 10) break;
    }
    expect(foretold.join('')).to.equal('ABABABABAB');
    expect(serve(queue, 10)).to.deep.equal(foretold);
  });
});
