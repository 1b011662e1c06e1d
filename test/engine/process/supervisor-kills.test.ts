/** Which children a supervisor ends, and what becomes of their calls. */
import { expect } from 'chai';
import { MOST_BYTES, MOST_MESSAGES } from '../../../src/engine/process/heartbeat.js';
import { BEAT_MS, LIMIT_MS, settled, SupervisorFixture } from './supervisor-fixture.js';

describe('A supervisor of children that misbehave', () => {
  let fixture: SupervisorFixture;
  beforeEach(() => {
    fixture = new SupervisorFixture();
  });

  it('ends a child that answers what it was not asked', async () => {
    const outcome = fixture.call('a');
    fixture.ready();
    fixture.latest.say({ kind: 'answer', id: fixture.latest.idOf('a') + 1, value: 'another answer' });
    expect(fixture.latest.killed).to.equal(true);
    fixture.latest.exit();
    fixture.timers.pass(1000);
    fixture.ready();
    fixture.latest.answer('a');
    await settled();
    expect(outcome.value).to.equal('a!');
    expect(fixture.deaths).to.deep.equal(['it answered what it was not asked (SIGKILL)']);
  });

  it('ends a child that says more than can be read beside all else', () => {
    fixture.call('a');
    fixture.ready();
    const say = (bytes: number): void =>
      fixture.latest.say({ kind: 'progress', id: fixture.latest.idOf('a'), value: 0 }, bytes);
    for (const bytes of [1, MOST_BYTES / MOST_MESSAGES + 1]) {
      const most = bytes === 1 ? MOST_MESSAGES : Math.floor(MOST_BYTES / bytes);
      for (let beats = 0; beats < 3; beats++) {
        fixture.timers.pass(BEAT_MS);
        for (let sent = 0; sent < most; sent++) say(bytes);
      }
      expect(fixture.latest.killed).to.equal(false);
    }
    say(1);
    say(MOST_BYTES);
    expect(fixture.latest.killed).to.equal(true);
    fixture.latest.exit();
    expect(fixture.deaths).to.deep.equal(['it sent too much (SIGKILL)']);
  });

  it('ends a child that is silent, whatever it does, and not one that answers pings', async () => {
    const outcome = fixture.call('a');
    fixture.ready();
    fixture.beat(10 * BEAT_MS);
    expect(fixture.latest.killed).to.equal(false);
    fixture.timers.pass(3 * BEAT_MS);
    expect(fixture.latest.killed).to.equal(false);
    fixture.timers.pass(BEAT_MS);
    expect(fixture.latest.killed).to.equal(true);
    fixture.latest.exit();
    expect(fixture.deaths).to.deep.equal(['it did not answer 3 pings (SIGKILL)']);
    fixture.timers.pass(1000);
    fixture.ready();
    fixture.latest.answer('a');
    await settled();
    expect(outcome.value).to.equal('a!');
  });

  it('counts pings and not time, so that a stop of this process kills nobody', () => {
    fixture.call('a');
    fixture.ready();
    fixture.latest.received.length = 0;
    fixture.timers.pass(BEAT_MS);
    expect(fixture.latest.received).to.deep.equal([{ kind: 'ping' }]);
    expect(fixture.latest.killed).to.equal(false);
  });

  it('ends a child that holds too much memory', () => {
    fixture.call('a');
    fixture.ready();
    fixture.timers.pass(BEAT_MS);
    expect(fixture.latest.killed).to.equal(false);
    fixture.held = 5001;
    fixture.timers.pass(BEAT_MS);
    expect(fixture.latest.killed).to.equal(true);
  });

  it('ends a child that takes too long, fails that call, and repeats the others', async () => {
    const slow = fixture.call('slow');
    fixture.ready();
    fixture.beat(LIMIT_MS - BEAT_MS);
    const other = fixture.call('other');
    expect(fixture.latest.killed).to.equal(false);
    fixture.beat(BEAT_MS);
    expect(fixture.latest.killed).to.equal(true);
    fixture.latest.exit();
    await settled();
    expect((slow.error as Error).message).to.contain('a call took longer than 60000 ms');
    fixture.timers.pass(1000);
    fixture.ready();
    expect(fixture.latest.calls).to.deep.equal(['other']);
    fixture.latest.answer('other');
    await settled();
    expect(other.value).to.equal('other!');
  });

  it('ends an idle child, and starts another for the next call', async () => {
    fixture.call('a');
    fixture.ready();
    fixture.latest.answer('a');
    fixture.beat(30_000 - BEAT_MS);
    expect(fixture.latest.killed).to.equal(false);
    fixture.beat(BEAT_MS);
    expect(fixture.latest.killed).to.equal(true);
    // Between the end and the word of it.
    const late = fixture.call('b');
    fixture.latest.exit();
    expect(fixture.deaths).to.deep.equal([]);
    expect(fixture.children).to.have.length(2);
    fixture.ready();
    fixture.latest.answer('b');
    await settled();
    expect(late.value).to.equal('b!');
  });
});
