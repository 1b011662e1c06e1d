/** Models beside the default one, in real processes: the bundled model under several names. */
import { expect } from 'chai';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineLease } from '../../src/transcription/engine-lease.js';
import { bytesFor } from '../../src/service/model-memory.js';
import { MODEL } from '../native/support.js';
import { isAlive } from '../support/child-processes.js';
import type { EngineProcess } from '../support/engine-process.js';
import { pcmOfSample, sample, wavOf } from '../support/speech.js';
import { SwappedModels } from '../support/swapped-models.js';
import { leasedEngine, measureAndTranscribe } from '../support/transcribe.js';
import { until } from '../support/until.js';

const clip = sample('es-vbr.mp3');
const NEVER = new AbortController().signal;

describe('Models that requests name', () => {
  const models = new SwappedModels();
  let process_: EngineProcess;
  before(async () => {
    for (const name of ['second', 'third']) models.addCopy(name);
    process_ = await models.start({ VERBATIM_MODEL: 'verbatim-small' });
  });
  after(async () => {
    await process_.engines.close();
    models.remove();
  });

  const acquire = (model: string | null): EngineLease => process_.engines.acquire(model);
  const textOf = async (lease: EngineLease, path = clip.path, accountId = 'a'): Promise<string> => {
    const engine = await leasedEngine(lease, { accountId, signal: NEVER });
    return (await measureAndTranscribe(engine, { path, accountId, language: 'es' })).text;
  };
  const loaded = (): string[] =>
    process_.engines.installed.list().flatMap(({ info, loaded }) => (loaded ? [info.modelName] : []));

  it('are found installed, with what each can be asked for, before any is loaded', () => {
    const { installed } = process_.engines;
    expect(loaded()).to.deep.equal(['verbatim-small']);
    const names = installed.list().map(({ info }) => info.modelName);
    expect(names[0]).to.equal('verbatim-small');
    expect(names).to.include.members(['mine', 'second', 'third']).and.not.include('missing');
    const { info, loaded: isLoaded } = installed.find('second')!;
    expect(info).to.deep.include({ modelName: 'second', languages: ['en', 'de', 'es', 'fr'] });
    expect(isLoaded).to.equal(false);
    expect(installed.find('missing')).to.equal(null);
  });

  it('are refused by name where they are not installed', () => {
    expect(() => acquire('missing'))
      .to.throw('There is no speech model "missing"; installed: verbatim-small')
      .with.property('code', 'unsupported_model');
  });

  it('are loaded in a process of their own for the first request, which answers as the file of the model does', async () => {
    const lease = acquire('second');
    expect(lease.info.modelName).to.equal('second');
    expect(loaded()).to.not.include('second');
    const speech = await lease.speech({ accountId: 'a', signal: NEVER });
    expect(speech.info.modelName).to.equal('second');
    expect(loaded()).to.include('second');
    expect(process_.engines.pids).to.have.length(2);
    expect(await textOf(lease)).to.equal(clip.text);
    lease.release();
  });

  it('are refused by name, too, where they are removed before they are loaded', async () => {
    const lease = acquire('third');
    models.removeCopy('third');
    const error: unknown = await lease.speech({ accountId: 'a', signal: NEVER }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'unsupported_model' });
    lease.release();
    models.addCopy('third');
  });

  it('convert and measure in the default model’s process', async () => {
    const lease = acquire('third');
    const reader = process_.engines.acquire(null);
    expect(lease.reader).to.equal(reader.reader);
    expect(await lease.reader.measure({ path: clip.path, accountId: 'a' })).to.be.above(1);
    expect(loaded()).to.not.include('third');
    lease.release();
    reader.release();
  });

  it('go on in a new process when theirs dies, and leave the others alone', async () => {
    const long = join(models.directory, 'long.wav');
    writeFileSync(long, wavOf(Buffer.concat(Array.from({ length: 12 }, pcmOfSample))));
    const lease = acquire('second');
    const [first, second = 0] = process_.engines.pids;
    const alone = await textOf(lease, long);
    const again = textOf(lease, long);
    await until(() => process_.engines.speech.stats().busySlots > 0);
    process.kill(second, 'SIGKILL');
    expect(await again).to.equal(alone);
    expect(process_.deaths).to.deep.equal(['SIGKILL']);
    expect(process_.engines.pids[0]).to.equal(first);
    lease.release();
  });

  it('share the lanes: all of them together never work on more than there are', async () => {
    const leases = [null, 'second', 'third'].map(acquire);
    const long = join(models.directory, 'long.wav');
    let most = 0;
    let hasEnded = false;
    const work = Promise.all(leases.map((lease, n) => textOf(lease, long, `account${n}`))).finally(
      () => (hasEnded = true),
    );
    await until(() => {
      most = Math.max(most, process_.engines.speech.stats().busySlots);
      return hasEnded;
    });
    const texts = await work;
    expect(new Set(texts).size).to.equal(1);
    expect(most).to.be.within(1, 2);
    for (const { release } of leases) release();
  });

  it('become the default one, and then need no process of their own', async () => {
    const lease = acquire('second');
    await lease.speech({ accountId: 'a', signal: NEVER });
    process_.engines.models.use('second', 'a test');
    await until(() => process_.engines.models.state().serving === 'second');
    expect(acquire('second').reader).to.equal(acquire(null).reader);
    lease.release();
    await until(() => process_.engines.models.state().change === null);
    expect(loaded().filter((name) => name === 'second')).to.have.length(1);
    expect(await textOf(acquire(null))).to.equal(clip.text);
  });
});

describe('The memory that models share', () => {
  const models = new SwappedModels();
  before(() => {
    for (const name of ['second', 'third']) models.addCopy(name);
  });
  after(() => models.remove());

  async function withEngines(
    env: Record<string, string>,
    work: (engines: EngineProcess) => Promise<void>,
    options: Parameters<SwappedModels['start']>[1] = {},
  ): Promise<void> {
    const started = await models.start({ VERBATIM_MODEL: 'verbatim-small', ...env }, options);
    try {
      await work(started);
    } finally {
      await started.engines.close();
    }
  }
  const load = async ({ engines }: EngineProcess, name: string): Promise<() => void> => {
    const lease = engines.acquire(name);
    await lease.speech({ accountId: 'a', signal: NEVER });
    return () => lease.release();
  };
  const loaded = ({ engines }: EngineProcess): string[] =>
    engines.installed.list().flatMap((one) => (one.loaded ? [one.info.modelName] : []));

  it('is counted by what their processes hold, and makes a model that nobody uses leave for another', async () => {
    const held = 100 * 2 ** 20;
    const loading = bytesFor(statSync(MODEL).size);
    // The default model, one more, and not yet a third beside them.
    const environment = { VERBATIM_MODEL_MEMORY: String(held + held + loading - 1) };
    const work = async (started: EngineProcess): Promise<void> => {
      const { memory } = started.engines;
      expect([memory.limit, memory.used]).to.deep.equal([2 * held + loading - 1, held]);
      (await load(started, 'second'))();
      expect(memory.used).to.equal(2 * held);
      const [, pid = 0] = started.engines.pids;
      const release = await load(started, 'third');
      expect(loaded(started)).to.deep.equal(['verbatim-small', 'third']);
      await until(() => !isAlive(pid));
      expect(memory.used).to.equal(2 * held);
      release();
    };
    await withEngines(environment, work, { memoryOf: () => held });
  });

  it('refuses a model that never fits in it', () =>
    withEngines({ VERBATIM_MODEL_MEMORY: '64M' }, async (started) => {
      const lease = started.engines.acquire('second');
      const error: unknown = await lease.speech({ accountId: 'a', signal: NEVER }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'overloaded' });
      lease.release();
      expect(loaded(started)).to.deep.equal(['verbatim-small']);
      expect(await textOfDefault(started)).to.equal(clip.text);
    }));

  it('is made of what is idle for another default model', async () => {
    const loading = bytesFor(statSync(MODEL).size);
    const work = async (started: EngineProcess): Promise<void> => {
      const { models: turns } = started.engines;
      expect(() => turns.use('third', 'a test')).to.throw('MiB of memory are free');
      (await load(started, 'second'))();
      turns.use('third', 'a test');
      await until(() => turns.state().serving === 'third');
      expect(loaded(started)).to.deep.equal(['third']);
    };
    await withEngines({ VERBATIM_MODEL_MEMORY: '100G' }, work, { room: () => loading - 1, memoryOf: () => 100 });
  });

  it('is given back by a model that nobody has used for VERBATIM_MODEL_IDLE_SECONDS', () =>
    withEngines({ VERBATIM_MODEL_IDLE_SECONDS: '1' }, async (started) => {
      (await load(started, 'second'))();
      const [, pid = 0] = started.engines.pids;
      await until(() => !loaded(started).includes('second'));
      await until(() => !isAlive(pid));
    }));
});

async function textOfDefault({ engines }: EngineProcess): Promise<string> {
  const lease = engines.acquire(null);
  const engine = await leasedEngine(lease, { accountId: 'a', signal: NEVER });
  const { text } = await measureAndTranscribe(engine, { path: clip.path, accountId: 'a', language: 'es' });
  lease.release();
  return text;
}
