/**
 * Downloads the best published model that this machine can run, and puts it in service. All of this has lower priority
 * than requests.
 */
import { once } from 'node:events';
import type { Timers } from '../../timers.js';
import {
  LEAST_TRIED_SPEED,
  type AutomaticModelPhase,
  type AutomaticModelState,
  type Candidate,
  type ModelSpeeds,
} from '../../models/automatic-model.js';
import type { ModelStore, StoredModel } from '../../models/model-store.js';
import { ownCommand } from '../../package-root.js';
import type { Logger } from '../log.js';
import { carriedModels, GivenUp } from './carried-models.js';
import { HubUnreachable } from './hub.js';

export interface AutomaticModelParts {
  /** Rejects with HubUnreachable. `speeds` rejects with an Error for an operator. */
  reachHub: (signal: AbortSignal) => Promise<void>;
  speeds: (signal: AbortSignal) => Promise<ModelSpeeds>;
  /** Whether there is enough free memory for the model. */
  fits: (candidate: Candidate) => boolean;
  store: Pick<ModelStore, 'list' | 'download'> & { ended: (name: string) => Promise<void> };
  /** Resolves when the model serves. */
  bringIn: (name: string, leastSpeed: number) => Promise<void>;
  /** Whether the demonstration model still serves, and no other model is about to replace it. */
  isWanted: () => boolean;
  /** Throws if the models directory is not writable. */
  checkWritable: () => void;
  logger: Pick<Logger, 'info' | 'warn' | 'debug'>;
  /** Prints a line on the terminal of the operator who started the server. */
  print: (line: string) => void;
  timers: Timers;
}

const HOUR_MS = 3_600_000;

export class AutomaticModel {
  #state: AutomaticModelState = { phase: 'measuring', model: null, problem: null };
  /** The last reported problem, so that the same problem is not reported every hour. */
  #reported: string | null = null;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** Starts at once. */
  constructor(private readonly parts: AutomaticModelParts) {
    this.#running = this.#run();
  }

  state(): AutomaticModelState {
    return this.#state;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let isOver = false; !isOver; isOver = this.#state.phase !== 'waiting' || signal.aborted) {
      try {
        await this.#attempt();
        this.#enter('ended');
      } catch (error) {
        this.#fail(error as Error);
      }
      if (this.#state.phase === 'waiting') await this.#pause();
    }
  }

  async #attempt(): Promise<void> {
    const { reachHub, speeds, fits, isWanted, checkWritable } = this.parts;
    const { signal } = this.#closing;
    if (!isWanted()) return;
    checked(checkWritable);
    this.#enter('measuring');
    await reachHub(signal);
    const candidates = carriedModels(await speeds(signal), fits);
    for (const { model } of candidates) {
      if (!isWanted()) return;
      await this.#fetch(model);
      if (!isWanted() || (await this.#try(model))) return;
    }
    throw new GivenUp('None of the published models for this machine could be put into service');
  }

  async #fetch(model: string): Promise<void> {
    const { store, logger, print } = this.parts;
    const found = this.#stored(model);
    if (found.state === 'installed') return;
    this.#enter('downloading', model);
    const size = found.totalBytes === null ? '' : `, ${Math.round(found.totalBytes / 1e6)} MB,`;
    if (this.#reported === null)
      print(`Fetching ${model}${size} in the background; until then the demonstration model answers.`);
    logger.info({ model }, 'downloading a published model for this machine');
    if (found.state !== 'downloading' && found.state !== 'checking') store.download(model);
    await Promise.race([store.ended(model), once(this.#closing.signal, 'abort')]);
    this.#closing.signal.throwIfAborted();
    const { state, problem } = this.#stored(model);
    if (state === 'installed') return;
    if (state === 'failed') throw new Error(problem ?? `The download of ${model} failed`);
    throw new GivenUp(`The download of ${model} was cancelled`);
  }

  /** Returns whether the model now serves. */
  async #try(model: string): Promise<boolean> {
    const { bringIn, logger, print } = this.parts;
    this.#enter('trying', model);
    try {
      await bringIn(model, LEAST_TRIED_SPEED);
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      logger.warn({ model, problem: (error as Error).message }, 'the downloaded model was not put into service');
      return false;
    }
    print(`${model} serves now.`);
    return true;
  }

  #fail(error: Error): void {
    if (this.#closing.signal.aborted) {
      this.#enter('ended');
      return;
    }
    const problem = error.message.replace(/\.$/, '');
    const isFinal = error instanceof GivenUp;
    this.#state = { ...this.#state, phase: isFinal ? 'ended' : 'waiting', problem };
    const text = `${problem}. ${whatFollows(error)}.`;
    if (problem === this.#reported) this.parts.logger.debug(text);
    else this.parts.logger.warn(text);
    this.#reported = problem;
  }

  #enter(phase: AutomaticModelPhase, model: string | null = this.#state.model): void {
    this.#state = { phase, model, problem: null };
  }

  #stored(model: string): StoredModel {
    const found = this.parts.store.list().find(({ name }) => name === model);
    if (found === undefined) throw new GivenUp(`The manifest has no model "${model}"`);
    return found;
  }

  /** Waits an hour, or until close(). */
  async #pause(): Promise<void> {
    const { signal } = this.#closing;
    await new Promise<void>((resolve) => {
      const timer = this.parts.timers.after(HOUR_MS, resolve);
      const stop = (): void => {
        timer.cancel();
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

const AGAIN = 'The demonstration model serves until then; the server tries again every hour';
const WAYS_OUT =
  `Without a network, bring a model with "${ownCommand} models import", or name a mirror of the hub in ` +
  'HF_ENDPOINT';

function whatFollows(error: Error): string {
  if (error instanceof GivenUp) return 'The demonstration model stays';
  return error instanceof HubUnreachable ? `${AGAIN}. ${WAYS_OUT}` : AGAIN;
}

function checked(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new GivenUp((error as Error).message);
  }
}
