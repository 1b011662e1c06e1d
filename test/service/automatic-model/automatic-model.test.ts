/** What a server does for its model by itself, step by step, with the hub, the downloads and the engines that a test decides on. */
import { expect } from 'chai';
import { VerbatimError } from '../../../src/errors.js';
import type { AutomaticModelPhase, ModelSpeeds } from '../../../src/models/automatic-model.js';
import type { StoredModel, StoredModelState } from '../../../src/models/model-store.js';
import { AutomaticModel, type AutomaticModelParts } from '../../../src/service/automatic-model/automatic-model.js';
import { HubUnreachable } from '../../../src/service/automatic-model/hub.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';

const HOUR_MS = 3_600_000;
const SPEEDS: ModelSpeeds = { 'base-q8_0': 20, 'small-q8_0': 6 };
const MEGABYTES = { 'large-v3-turbo-q8_0': 874, 'small-q8_0': 264, 'base-q8_0': 82, 'tiny-q8_0': 44 };

describe('A server that looks for its model', () => {
  let timers: ManualTimers;
  let speeds: ModelSpeeds;
  let states: Record<string, StoredModelState>;
  let problems: Record<string, string>;
  let hubProblem: string | null;
  let unwritable: string | null;
  let wanted: boolean;
  let unfit: string[];
  /** Models that are loaded and then refused. */
  let refused: string[];
  let steps: string[];
  let printed: string[];
  let warned: string[];
  let store: Partial<AutomaticModelParts['store']>;
  let endDownload: ((state: StoredModelState) => void) | null;
  let automatic: AutomaticModel;

  beforeEach(() => {
    timers = new ManualTimers();
    [speeds, states, problems] = [SPEEDS, {}, {}];
    [hubProblem, unwritable, wanted, unfit, refused] = [null, null, true, [], []];
    [steps, printed, warned, endDownload, store] = [[], [], [], null, {}];
  });
  afterEach(() => automatic.close());

  function stored([name, megabytes]: [string, number]): StoredModel {
    const state = states[name] ?? 'available';
    const problem = problems[name] ?? null;
    return { name, kind: 'speech', licence: 'MIT', state, receivedBytes: 0, totalBytes: megabytes * 1e6, problem };
  }

  function start(): void {
    let ended: Promise<void> = Promise.resolve();
    automatic = new AutomaticModel({
      reachHub: () => {
        steps.push('hub');
        return hubProblem === null ? Promise.resolve() : Promise.reject(new HubUnreachable(hubProblem));
      },
      speeds: () => {
        steps.push('speeds');
        return Promise.resolve(speeds);
      },
      fits: ({ model }) => !unfit.includes(model),
      store: {
        list: () => Object.entries(MEGABYTES).map(stored),
        download: (name) => {
          steps.push(`download ${name}`);
          states[name] = 'downloading';
          ended = new Promise((resolve) => {
            endDownload = (state) => {
              states[name] = state;
              resolve();
            };
          });
        },
        ended: () => ended,
        ...store,
      },
      bringIn: (name, leastSpeed) => {
        steps.push(`try ${name} at ${leastSpeed}`);
        if (refused.includes(name)) return Promise.reject(new Error('too slow'));
        wanted = false;
        return Promise.resolve();
      },
      isWanted: () => wanted,
      checkWritable: () => {
        if (unwritable !== null) throw new Error(unwritable);
      },
      logger: {
        info: () => undefined,
        warn: (text: unknown) => void warned.push(String(text)),
        debug: () => undefined,
      },
      print: (line) => void printed.push(line),
      timers,
    });
  }

  const phase = (wanted: AutomaticModelPhase): Promise<void> => until(() => automatic.state().phase === wanted);
  async function download(state: StoredModelState): Promise<void> {
    await until(() => endDownload !== null);
    const end = endDownload!;
    endDownload = null;
    end(state);
  }

  it('asks the hub, then measures, fetches the best that is fast enough, and puts it in service', async () => {
    start();
    await phase('downloading');
    expect(automatic.state()).to.deep.equal({ phase: 'downloading', model: 'small-q8_0', problem: null });
    await download('installed');
    await phase('ended');
    expect(steps).to.deep.equal(['hub', 'speeds', 'download small-q8_0', 'try small-q8_0 at 2']);
    expect(printed).to.deep.equal([
      'Fetching small-q8_0, 264 MB, in the background; until then the demonstration model answers.',
      'small-q8_0 serves now.',
    ]);
    expect(warned).to.deep.equal([]);
  });

  it('does without a download what is here', async () => {
    states['small-q8_0'] = 'installed';
    start();
    await phase('ended');
    expect(steps).to.deep.equal(['hub', 'speeds', 'try small-q8_0 at 2']);
  });

  it('waits for a download that an operator began', async () => {
    states['small-q8_0'] = 'downloading';
    let resolve = (): void => undefined;
    const ended = new Promise<void>((done) => (resolve = done));
    store = { ended: () => ended };
    start();
    await phase('downloading');
    states['small-q8_0'] = 'installed';
    resolve();
    await phase('ended');
    expect(steps).not.to.include('download small-q8_0');
  });

  it('takes the next smaller model where one is refused once it is loaded, or finds no memory', async () => {
    states = { 'small-q8_0': 'installed', 'base-q8_0': 'installed' };
    refused = ['small-q8_0'];
    start();
    await phase('ended');
    expect(steps.slice(2)).to.deep.equal(['try small-q8_0 at 2', 'try base-q8_0 at 2']);
    await automatic.close();
    [steps, wanted, refused, unfit] = [[], true, [], ['small-q8_0']];
    start();
    await phase('ended');
    expect(steps.slice(2)).to.deep.equal(['try base-q8_0 at 2']);
  });

  it('says once that there is no network, with both ways out, and asks again every hour', async () => {
    hubProblem = 'The model hub cannot be reached';
    start();
    await phase('waiting');
    expect(automatic.state().problem).to.equal(hubProblem);
    for (let hour = 2; hour <= 4; hour++) {
      await timers.untilWaiting(HOUR_MS);
      timers.pass(HOUR_MS - 1);
      expect(steps).to.have.length(hour - 1);
      timers.pass(1);
      await until(() => steps.length === hour && automatic.state().phase === 'waiting');
    }
    expect(warned).to.have.length(1);
    expect(warned[0]).to.contain('models import').and.contain('HF_ENDPOINT').and.contain('every hour');
    hubProblem = null;
    states['small-q8_0'] = 'installed';
    await timers.untilWaiting(HOUR_MS);
    timers.pass(HOUR_MS);
    await phase('ended');
    expect(steps.slice(-3)).to.deep.equal(['hub', 'speeds', 'try small-q8_0 at 2']);
  });

  it('tries a download that failed again after an hour, and says why it failed', async () => {
    problems['small-q8_0'] = 'The disk is full.';
    start();
    await download('failed');
    await phase('waiting');
    expect(warned[0]).to.contain('The disk is full.').and.contain('every hour').and.not.contain('HF_ENDPOINT');
    await timers.untilWaiting(HOUR_MS);
    timers.pass(HOUR_MS);
    await download('installed');
    await phase('ended');
    expect(printed.filter((line) => line.startsWith('Fetching'))).to.have.length(1);
  });

  const FINAL: Readonly<Record<string, [arrange: () => void, reason: string]>> = {
    'the machine is too slow for all of them': [
      () => (speeds = { 'base-q8_0': 1, 'tiny-q8_0': 2.04 }),
      'tiny-q8_0 would run at 2.0 times real time, and 3 are required',
    ],
    'models cannot be written': [() => (unwritable = 'No such right'), 'No such right'],
    'all are refused': [
      () => {
        states = { 'small-q8_0': 'installed', 'base-q8_0': 'installed' };
        refused = ['small-q8_0', 'base-q8_0'];
      },
      'None of the published models',
    ],
  };
  for (const [name, [arrange, reason]] of Object.entries(FINAL)) {
    it(`says so and leaves it at that when ${name}`, async () => {
      arrange();
      start();
      await phase('ended');
      expect(automatic.state().problem).to.contain(reason);
      expect(warned.at(-1)).to.contain('The demonstration model stays.');
      expect(timers.pending).to.equal(0);
    });
  }

  it('leaves it at that when an operator cancels the download, or puts another model in service', async () => {
    start();
    await download('available');
    await phase('ended');
    expect(automatic.state().problem).to.contain('was cancelled');
    await automatic.close();
    [steps, wanted] = [[], true];
    start();
    await until(() => endDownload !== null);
    wanted = false;
    await download('installed');
    await phase('ended');
    expect(steps).not.to.include('try small-q8_0 at 2');
    expect(automatic.state().problem).to.equal(null);
  });

  it('waits for the hour where memory is short for now, and where two others are being downloaded', async () => {
    unfit = Object.keys(MEGABYTES);
    start();
    await phase('waiting');
    expect(warned[0]).to.contain('not enough free memory');
    await automatic.close();
    [unfit, warned] = [[], []];
    store = {
      download: () => {
        throw new VerbatimError('rate_limited', '2 models are being downloaded: wait for one, or cancel one.');
      },
    };
    start();
    await phase('waiting');
    expect(warned[0]).to.contain('2 models are being downloaded');
  });

  it('ends at once when the server does, whatever it is doing', async () => {
    start();
    await until(() => endDownload !== null);
    await automatic.close();
    expect(warned).to.deep.equal([]);
    hubProblem = 'none';
    start();
    await phase('waiting');
    await automatic.close();
    expect(steps.at(-1)).to.equal('hub');
  });
});
