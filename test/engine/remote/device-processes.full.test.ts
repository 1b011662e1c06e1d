import { expect } from 'chai';
import { DeviceProcesses } from '../../../src/engine/remote/device-processes.js';
import type { TranscriptionCall } from '../../../src/engine/remote/engine-calls.js';
import type { PlacedWork } from '../../../src/engine/remote/placement.js';
import { Quarantine } from '../../../src/engine/remote/quarantine.js';
import { RemoteSpeechEngine } from '../../../src/engine/remote/remote-speech-engine.js';
import type { WindowUpdate } from '../../../src/engine/types.js';
import { VerbatimError } from '../../../src/errors.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';
import { Device, idIn, DEVICE_LOAD } from './fake-device.js';

const HOUR = 3600;
const CLIP = 30;

interface Asked {
  work: PlacedWork;
  value?: unknown;
  error?: unknown;
}

describe('Processes of several devices', () => {
  let timers: ManualTimers;
  let devices: Device[];
  let processes: DeviceProcesses;
  let asked: Map<string, Asked>;

  const [first, second] = [(): Device => devices[0]!, (): Device => devices[1]!];

  beforeEach(async () => {
    timers = new ManualTimers();
    asked = new Map();
    devices = [0, 1].map(() => new Device(timers, () => processes.changed()));
    processes = new DeviceProcesses(devices.map(({ supervisor }) => supervisor));
    for (const device of devices) await device.start();
  });

  /** Speech, unless it is said to be something else. */
  function ask(path: string, accountId: string, work: Partial<PlacedWork> = {}): Asked {
    const one: Asked = {
      work: { kind: 'speech', accountId, background: false, amount: CLIP, ...work },
    };
    asked.set(path, one);
    processes
      .call('measure', {
        ...{
          origin: { requestId: path, accountId: 'one', background: false, sha256: null },
          signal: undefined,
          work: () => one.work,
        },
        request: () => ({ path, accountId }),
        progress: () => undefined,
      })
      .then(
        (value) => (one.value = value),
        (error: unknown) => (one.error = error),
      );
    return one;
  }
  /** So much of it is left now. */
  const left = (path: string, seconds: number): void => {
    asked.get(path)!.work.amount = seconds;
  };
  const answer = async (device: Device, path: string): Promise<void> => {
    device.latest.say({ kind: 'answer', id: idIn(device.latest, path), value: 1 });
    await until(() => asked.get(path)!.value === 1);
  };
  const codeOf = ({ error }: Asked): string | undefined => (error instanceof VerbatimError ? error.code : undefined);

  it('take turns where they have as much to do', () => {
    for (const path of ['a', 'b', 'c', 'd']) ask(path, 'one');
    expect(first().names).to.deep.equal(['a', 'c']);
    expect(second().names).to.deep.equal(['b', 'd']);
  });

  it('take each sort of work by itself', () => {
    ask('a', 'one');
    ask('b', 'one', { kind: 'text', amount: 100 });
    ask('c', 'one', { kind: 'reading', amount: 1 });
    ask('d', 'one', { kind: 'text', amount: 10 });
    ask('e', 'one', { kind: 'reading', amount: 1 });
    expect(first().names).to.deep.equal(['a', 'c', 'd']);
    expect(second().names).to.deep.equal(['b', 'e']);
  });

  it('get what they do first, by their speed', () => {
    second().latest.say({
      kind: 'report',
      value: { load: { ...DEVICE_LOAD, realTimeFactor: 0.1 }, measurements: [] },
    });
    for (const path of ['a', 'b', 'c']) ask(path, 'one');
    expect(second().names).to.deep.equal(['a', 'b', 'c']);
  });

  it('get a clip where fewest accounts are, whatever these have there: it waits for a clip of each', () => {
    ask('of one', 'one');
    left('of one', 4 * HOUR);
    ask('of two', 'two');
    ask('of three', 'three');
    expect(first().names).to.deep.equal(['of one']);
    expect(second().names).to.deep.equal(['of two', 'of three']);
    left('of two', 60);
    left('of three', 60);
    ask('clip', 'four', { amount: 3 });
    expect(first().names).to.deep.equal(['of one', 'clip']);
  });

  it('get a clip beside another account’s files on all of them at once, and not behind these', () => {
    for (let file = 0; file < 6; file++) {
      ask(`file ${file}`, 'one');
      left(`file ${file}`, HOUR);
    }
    ask('clip', 'two', { amount: 3 });
    expect([...first().names, ...second().names]).to.include('clip');
  });

  it('get a file where it will be done first, by its length', () => {
    ask('a', 'one', { amount: HOUR });
    ask('b', 'one', { amount: 60 });
    ask('c', 'one', { amount: HOUR });
    expect(first().names).to.deep.equal(['a']);
    expect(second().names).to.deep.equal(['b', 'c']);
  });

  it('keep a file where it is when that saves less than a move costs', async () => {
    for (const path of ['a', 'b', 'c']) ask(path, 'one');
    expect(first().names).to.deep.equal(['a', 'c']);
    await answer(second(), 'b');
    expect(first().names).to.deep.equal(['a', 'c']);
  });

  it('take from another the longest file when they have none, and leave it one', async () => {
    for (const path of ['a', 'b', 'c']) ask(path, 'one');
    left('b', HOUR);
    left('a', HOUR);
    left('c', HOUR + 1);
    expect(first().names).to.deep.equal(['a', 'c']);
    await answer(second(), 'b');
    await until(() => second().names.includes('c'));
    expect(first().names).to.deep.equal(['a']);
    const late = ask('late', 'two');
    expect(late.error).to.equal(undefined);
    await answer(second(), 'c');
    await answer(first(), 'a');
    expect(processes.load.slots).to.equal(4);
  });

  it('go on with a file at another from the windows that are done, and pass on no text twice', async () => {
    const quarantine = new Quarantine(() => 0);
    const engine = new RemoteSpeechEngine({ process: processes, info: {} as never, quarantine });
    const window = ({ latest }: Device, path: string, index: number): void => {
      const segments = [{ startSeconds: index, endSeconds: index + 1, text: `${index}.` }];
      const part = { language: 'en', text: `${index}. `, segments };
      const finished = { index, result: { segments } };
      const value = { finished, seconds: 30 * (index + 1), language: 'en', part };
      latest.say({ kind: 'progress', id: idIn(latest, path), value });
    };
    const texts: string[] = [];
    const onWindow = ({ part }: WindowUpdate): void => void texts.push(...(part === null ? [] : [part.text]));
    const file = { language: 'en', seconds: HOUR };
    const shorter = engine.transcribe({ ...file, path: 'shorter', accountId: 'one' });
    ask('b', 'two', { amount: HOUR });
    const longer = engine.transcribe({ ...file, path: 'longer', accountId: 'three', isStreamed: true }, onWindow);
    await until(() => first().names.length === 2);
    for (const [path, windows] of [
      ['shorter', 3],
      ['longer', 2],
    ] as const)
      for (let index = 0; index < windows; index++) window(first(), path, index);
    expect(texts).to.deep.equal(['0. ', '1. ']);

    await answer(second(), 'b');
    await until(() => second().names.includes('longer'));
    expect(first().names).to.deep.equal(['shorter']);
    const [, request] = second().latest.calls as TranscriptionCall[];
    expect(request).to.include({ path: 'longer', seconds: HOUR });
    expect(request?.resumeFrom.map(([index]) => index)).to.deep.equal([0, 1]);
    // What was on its way.
    window(first(), 'longer', 2);
    for (let index = 0; index < 3; index++) window(second(), 'longer', index);
    expect(texts).to.deep.equal(['0. ', '1. ', '2. ']);
    const end = { language: 'en', last: null };
    second().latest.say({ kind: 'answer', id: idIn(second().latest, 'longer'), value: end });
    expect((await longer).text).to.equal('0. 1. 2. ');
    first().latest.say({ kind: 'answer', id: idIn(first().latest, 'shorter'), value: end });
    expect((await shorter).text).to.equal('0. 1. 2. ');
  });

  it('leave where it is what a process has died with', async () => {
    ask('a', 'one');
    ask('b', 'one');
    left('a', HOUR);
    first().die();
    first().ready();
    ask('c', 'one');
    ask('d', 'one');
    left('c', HOUR);
    await answer(second(), 'b');
    left('d', 1);
    await answer(second(), 'd');
    await until(() => second().names.includes('c'));
    expect(first().names, 'of the longest, the one without a death').to.deep.equal(['a']);
  });

  it('leave where it is what a process has just died with, though another has nothing to do', async () => {
    for (const path of ['a', 'b', 'c']) ask(path, 'one');
    for (const path of ['a', 'c']) left(path, HOUR);
    first().die();
    await answer(second(), 'b');
    first().ready();
    expect(first().names).to.deep.equal(['a', 'c']);
    expect(second().names).to.deep.equal(['b']);
  });

  it('serve on while one of them has no process, which repeats its own work', async () => {
    const [a, b] = [ask('a', 'one'), ask('b', 'one')];
    first().latest.say({ kind: 'progress', id: idIn(first().latest, 'a'), value: 'some' });
    first().die();
    expect(processes.load).to.include({ slots: 2, realTimeFactor: 0.5 });
    const c = ask('c', 'two');
    expect(second().names).to.deep.equal(['b', 'c']);
    first().ready();
    expect(first().names).to.deep.equal(['a']);
    expect(processes.load).to.deep.equal({
      ...{ slots: 4, busySlots: 2, windowsInFlight: 6, queuedWindows: 8, realTimeFactor: 0.25 },
    });
    await answer(first(), 'a');
    await answer(second(), 'b');
    await answer(second(), 'c');
    expect([a, b, c].map(({ error }) => error)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('try apart what one of them died with that has no process for a while, and never in the process of another', async () => {
    const serving = second().latest;
    // Nothing came of it, twice: it is started again after a pause.
    first().die();
    first().ready();
    ask('a', 'one');
    ask('b', 'one');
    ask('c', 'two');
    expect(first().names).to.deep.equal(['a', 'c']);
    first().die();
    expect(first().supervisor.isResting).to.equal(true);
    await until(() => second().children.length === 2);
    const isolated = second().latest;
    expect(isolated).to.not.equal(serving);
    second().ready(isolated);
    expect(Device.namesIn(isolated)).to.deep.equal(['a', 'c']);
    expect(Device.namesIn(serving)).to.deep.equal(['b']);
    second().die(isolated);
    second().ready();
    expect(second().names).to.deep.equal(['a']);
    second().die();
    await until(() => codeOf(asked.get('a')!) === 'internal_error');
    expect(second().refused).to.deep.equal(['a']);
    second().ready();
    await answer(second(), 'c');
    expect(Device.namesIn(serving)).to.deep.equal(['b']);
  });

  it('take over what waits for the process of another as soon as there is one elsewhere', async () => {
    for (const device of devices) {
      device.die();
      device.ready();
      device.die();
    }
    const waiting = [ask('a', 'one'), ask('b', 'one')];
    expect(processes.load).to.include({ slots: 0, realTimeFactor: 0.25 });
    timers.pass(1000);
    second().ready();
    await until(() => second().names.length === 1);
    first().die();
    await until(() => second().names.length === 2);
    expect(second().names).to.have.members(['a', 'b']);
    // And back, however often, since each time there is one.
    second().die();
    timers.pass(2000);
    first().ready();
    second().die();
    await until(() => first().children.length === 5);
    first().ready();
    expect(first().names).to.have.members(['a', 'b']);
    for (const path of ['a', 'b']) await answer(first(), path);
    expect(waiting.map(({ error }) => error)).to.deep.equal([undefined, undefined]);
  });

  it('refuse what none of them has a process for', async () => {
    for (const device of devices) {
      for (let death = 0; death < 2; death++) {
        device.die();
        if (death === 0) device.ready();
      }
    }
    const waiting = ask('a', 'one');
    for (const pauseMs of [1000, 2000, 4000]) {
      timers.pass(pauseMs);
      for (const device of devices) device.die();
    }
    await until(() => codeOf(waiting) === 'overloaded');
    const late = ask('b', 'one');
    await until(() => codeOf(late) === 'overloaded');
  });

  it('end together, when all that they were asked is done, at whichever of them', async () => {
    for (const path of ['a', 'b', 'c']) ask(path, 'one');
    const closed = processes.close();
    const late = ask('late', 'one');
    await until(() => codeOf(late) === 'shutting_down');
    // The longest goes to the device that has nothing to do.
    left('a', HOUR);
    left('c', HOUR + 1);
    await answer(second(), 'b');
    expect(devices.map(({ latest }) => latest.killed)).to.deep.equal([false, false]);
    await until(() => second().names.includes('c'));
    await answer(first(), 'a');
    await answer(second(), 'c');
    await until(() => devices.every(({ latest }) => latest.killed));
    for (const device of devices) device.latest.exit();
    await closed;
  });
});
