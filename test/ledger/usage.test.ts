import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { codeOf, customer, hold, settlement, useLedger, type Bench, type KeyHolder } from './support.js';
import { describeLedger } from './backends.js';

describeLedger('ledger: usage', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(1000, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  const use = async (time: string, minutes: number, endpoint?: string, who = ann): Promise<void> => {
    bench.now = Date.parse(time);
    const overrides = endpoint === undefined ? {} : { endpoint };
    await ledger.holds.settle(await hold(ledger, who, minutes), settlement(minutes, overrides));
  };
  const days = (report: { byDay: { date: string; minutes: number }[] }): [string, number][] =>
    report.byDay.map(({ date, minutes }) => [date, minutes]);

  it('has every day of the window, zeros included, today as one of them', async () => {
    await use('2026-03-01T10:00:00Z', 2);
    await use('2026-03-03T10:00:00Z', 3);
    const report = await ledger.history.report(ann.account.id, 4);
    expect(days(report)).to.deep.equal([
      ['2026-02-28', 0],
      ['2026-03-01', 2],
      ['2026-03-02', 0],
      ['2026-03-03', 3],
    ]);
    expect(report).to.include({ windowDays: 4, totalMinutes: 5, totalCredits: 5 });
  });

  it('is all zeros for an account that never used anything', async () => {
    const report = await ledger.history.report(ann.account.id, 90);
    expect(report.byDay).to.have.length(90);
    expect(report.totalMinutes).to.equal(0);
    expect(report.byEndpoint).to.deep.equal([]);
  });

  it('cuts the days at midnight UTC', async () => {
    await use('2026-03-01T23:59:59.999Z', 1);
    await use('2026-03-02T00:00:00.000Z', 2);
    expect(days(await ledger.history.report(ann.account.id, 2))).to.deep.equal([
      ['2026-03-01', 1],
      ['2026-03-02', 2],
    ]);
    expect((await ledger.history.report(ann.account.id, 1)).totalMinutes).to.equal(2);
  });

  it('counts a request on the day it was charged', async () => {
    bench.now = Date.parse('2026-03-01T23:59:59.000Z');
    const id = await hold(ledger, ann, 3);
    bench.now = Date.parse('2026-03-02T00:00:01.000Z');
    await ledger.holds.settle(id, settlement(3));
    expect(days(await ledger.history.report(ann.account.id, 2))).to.deep.equal([
      ['2026-03-01', 0],
      ['2026-03-02', 3],
    ]);
  });

  it('knows leap days and the turn of the year', async () => {
    await use('2028-02-28T12:00:00Z', 1);
    await use('2028-02-29T12:00:00Z', 2);
    await use('2028-03-01T12:00:00Z', 3);
    expect(days(await ledger.history.report(ann.account.id, 3))).to.deep.equal([
      ['2028-02-28', 1],
      ['2028-02-29', 2],
      ['2028-03-01', 3],
    ]);
    await use('2029-01-01T00:00:00Z', 4);
    expect(days(await ledger.history.report(ann.account.id, 2))).to.deep.equal([
      ['2028-12-31', 0],
      ['2029-01-01', 4],
    ]);
  });

  it('leaves out what is older than the window, and takes its first day in', async () => {
    await use('2026-03-01T00:00:00Z', 1);
    bench.now = Date.parse('2026-05-29T23:59:59.999Z');
    expect((await ledger.history.report(ann.account.id, 90)).totalMinutes).to.equal(1);
    bench.now += 1;
    expect((await ledger.history.report(ann.account.id, 90)).totalMinutes).to.equal(0);
  });

  it('sums by endpoint, largest first, and both lists to the same total', async () => {
    await use('2026-03-01T10:00:00Z', 2, '/api/v1/b');
    await use('2026-03-01T11:00:00Z', 2, '/api/v1/a');
    await use('2026-03-02T10:00:00Z', 5, '/api/v1/c');
    await use('2026-03-02T10:00:00Z', 1, '/api/v1/a');
    const report = await ledger.history.report(ann.account.id, 2);
    expect(report.byEndpoint).to.deep.equal([
      { endpoint: '/api/v1/c', minutes: 5 },
      { endpoint: '/api/v1/a', minutes: 3 },
      { endpoint: '/api/v1/b', minutes: 2 },
    ]);
    const sum = (list: { minutes: number }[]): number => list.reduce((total, { minutes }) => total + minutes, 0);
    expect([sum(report.byDay), sum(report.byEndpoint)]).to.deep.equal([10, 10]);
  });

  it('distinguishes minutes from credits, and one account from another', async () => {
    const bob = await customer(ledger, 'bob@example.com', 100);
    bench.now = Date.parse('2026-03-01T10:00:00Z');
    await ledger.holds.settle(await hold(ledger, ann, 6), settlement(6, { minutes: 2, audioSeconds: 61.5 }));
    await use('2026-03-01T10:00:00Z', 7, undefined, bob);
    expect(await ledger.history.report(ann.account.id, 1)).to.include({ totalMinutes: 2, totalCredits: 6 });
    const [stored] = await bench.rows<{ audio_ms: number }>('SELECT audio_ms FROM usage_events ORDER BY hold_id');
    expect(stored?.audio_ms).to.equal(61_500);
  });

  it('notes which model made each answer, a delivered part among them, where that is known', async () => {
    const models = ['base', 'large-v3', null];
    for (const model of models) await ledger.holds.settle(await hold(ledger, ann, 1), settlement(1, { model }));
    const part = settlement(1, { model: 'small', delivered: true });
    await ledger.holds.settle(await hold(ledger, ann, 1), part);
    const page = (limit: number, before: string | null) => ledger.history.charged(ann.account.id, { limit, before });
    const newest = await page(2, null);
    expect(newest.map(({ model }) => model)).to.deep.equal(['small', null]);
    expect((await page(9, newest[1]!.id)).map(({ model }) => model)).to.deep.equal(['large-v3', 'base']);
  });

  it('keeps the history of a revoked key', async () => {
    await use('2026-03-01T10:00:00Z', 2);
    await ledger.keys.revoke(ann.account.id, ann.key.id);
    expect((await ledger.history.report(ann.account.id, 1)).totalMinutes).to.equal(2);
  });

  it('takes whole days from 1 to 90 only', async () => {
    for (const wrong of [0, 91, -1, 1.5, NaN]) {
      expect(await codeOf(() => ledger.history.report(ann.account.id, wrong)), String(wrong)).to.equal(
        'invalid_request',
      );
    }
  });
});
