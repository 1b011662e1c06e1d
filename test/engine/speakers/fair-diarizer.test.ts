/** Whose file is processed next, on an engine that ends a file when asked to. */
import { expect } from 'chai';
import {
  DIARIZED_AT_ONCE,
  DIARIZED_PER_ACCOUNT,
  FairDiarizer,
  SHORT_FILE_SECONDS,
} from '../../../src/engine/speakers/fair-diarizer.js';
import type { VoicePiece } from '../../../src/engine/speakers/stretch-voices.js';
import type { FileToDiarize } from '../../../src/engine/speakers/file-to-diarize.js';
import type { SpeakerTurn } from '../../../src/engine/speakers/speaker-turn.js';

const LONG = 2 * SHORT_FILE_SECONDS;

class FakeSpeakerEngine {
  readonly recognised: string[] = [];
  readonly stretches: number[] = [];
  readonly #ends = new Map<string, (error?: Error) => void>();
  closed = 0;

  diarize({ path, signal }: FileToDiarize): Promise<SpeakerTurn[]> {
    this.recognised.push(path);
    return new Promise((resolve, reject) => {
      this.#ends.set(path, (error) => (error === undefined ? resolve([]) : reject(error)));
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  async end(path: string, error?: Error): Promise<void> {
    this.#ends.get(path)?.(error);
    await turn();
  }

  voicesIn(samples: Int16Array): Promise<VoicePiece[]> {
    this.stretches.push(samples.length);
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('FairDiarizer', () => {
  let engine: FakeSpeakerEngine;
  let diarizer: FairDiarizer;
  let measured: unknown[];
  let clock: number;
  beforeEach(() => {
    engine = new FakeSpeakerEngine();
    measured = [];
    clock = 0;
    diarizer = new FairDiarizer({
      engine,
      languages: ['en'],
      observer: { diarizationDone: (measurement) => measured.push(measurement) },
      now: () => clock,
    });
  });

  /** Accounts are the first letters of the files' names. */
  const ask = (path: string, durationSeconds = 60, more: Partial<FileToDiarize & { background: boolean }> = {}) => {
    const answer = diarizer.diarize({ path, durationSeconds, accountId: path.slice(0, 1), ...more });
    return answer.catch((error: unknown) => error);
  };
  const all = (...paths: string[]): void => void paths.map((path) => ask(path));

  it('reports which languages its models serve', () => {
    expect([diarizer.serves('en'), diarizer.serves('de')]).to.deep.equal([true, false]);
    expect(new FairDiarizer({ engine, languages: 'any' }).serves('de')).to.equal(true);
  });

  it('follows a live session beside its files, and has the models loaded first', async () => {
    all('a1', 'a2', 'b1', 'b2');
    const speakers = diarizer.follow();
    expect(engine.stretches).to.deep.equal([1600]);
    expect(await speakers.turnsIn(new Int16Array(16_000))).to.have.length(1);
    expect(engine.stretches).to.deep.equal([1600, 16_000]);
  });

  it('hands the file on, and the answer back', async () => {
    const turns = [{ startSeconds: 0, endSeconds: 1, speaker: 'S1' }];
    const asked: FileToDiarize[] = [];
    const answering = new FairDiarizer({
      engine: {
        close: () => Promise.resolve(),
        voicesIn: () => Promise.resolve([]),
        diarize: (file) => (asked.push(file), Promise.resolve(turns)),
      },
      languages: 'any',
    });
    const file = { path: 'a', durationSeconds: 2, minSpeakers: 2, maxSpeakers: 3 };
    expect(await answering.diarize({ ...file, accountId: 'one' })).to.equal(turns);
    expect(asked).to.deep.equal([file]);
  });

  it('has accounts take turns, however many files one has', async () => {
    all('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'c1', 'd1', 'd2');
    await turn();
    expect(engine.recognised).to.deep.equal(['a1', 'a2', 'b1', 'c1']);
    expect(diarizer.stats()).to.deep.equal({ waiting: 6, running: DIARIZED_AT_ONCE });
    for (const path of ['a1', 'a2', 'b1', 'c1']) await engine.end(path);
    expect(engine.recognised.slice(4)).to.deep.equal(['d1', 'a3', 'd2', 'a4']);
  });

  it('leaves a place to others, though one account waits alone', async () => {
    all('a1', 'a2', 'a3', 'a4');
    await turn();
    expect(engine.recognised).to.have.length(DIARIZED_PER_ACCOUNT);
    all('b1');
    await turn();
    expect(engine.recognised.at(-1)).to.equal('b1');
  });

  it('leaves a place to short files', async () => {
    for (const account of ['a', 'b', 'c', 'd', 'e']) void ask(`${account} long`, LONG);
    await turn();
    expect(engine.recognised).to.deep.equal(['a long', 'b long', 'c long']);
    void ask('f short', SHORT_FILE_SECONDS);
    await turn();
    expect(engine.recognised.at(-1)).to.equal('f short');
    await engine.end('f short');
    expect(engine.recognised).to.have.length(4);
    await engine.end('b long');
    expect(engine.recognised.at(-1)).to.equal('d long');
  });

  it('charges an account by the length of its files', async () => {
    all('x1', 'x2', 'y1', 'y2');
    await turn();
    void ask('a long', SHORT_FILE_SECONDS);
    void ask('b1', 60);
    await engine.end('x1');
    await engine.end('x2');
    expect(engine.recognised.slice(4)).to.deep.equal(['a long', 'b1']);
    all('a2', 'b2', 'b3');
    await engine.end('a long');
    await engine.end('b1');
    expect(engine.recognised.slice(6)).to.deep.equal(['b2', 'b3']);
  });

  it('processes the shorter of an account’s files first, and last what is done in the background', async () => {
    all('x1', 'x2', 'y1', 'y2');
    await turn();
    void ask('a background', 1, { background: true });
    void ask('a longer', 90);
    void ask('a short', 30);
    for (const path of ['x1', 'x2', 'y1']) await engine.end(path);
    expect(engine.recognised.slice(4)).to.deep.equal(['a short', 'a longer']);
    await engine.end('a short');
    expect(engine.recognised.at(-1)).to.equal('a background');
  });

  it('drops what nobody waits for any more, and goes on', async () => {
    all('x1', 'x2', 'y1', 'y2');
    await turn();
    const abort = new AbortController();
    const dropped = ask('a1', 60, { signal: abort.signal });
    const running = new AbortController();
    all('b1');
    abort.abort(new Error('hung up'));
    expect(await dropped).to.include({ message: 'hung up' });
    await engine.end('x1');
    expect(engine.recognised.slice(4)).to.deep.equal(['b1']);
    await engine.end('x2');
    const stopped = ask('a2', 60, { signal: running.signal });
    await turn();
    running.abort(new Error('revoked'));
    expect(await stopped).to.include({ message: 'revoked' });
    expect(diarizer.stats()).to.deep.equal({ waiting: 0, running: 3 });
    expect(await ask('a3', 60, { signal: abort.signal })).to.include({ message: 'hung up' });
    expect(engine.recognised).not.to.include('a3');
  });

  it('goes on after a file that fails', async () => {
    all('x1', 'x2', 'y1');
    const failed = ask('y2');
    all('a1');
    await turn();
    await engine.end('y2', new Error('died'));
    expect(await failed).to.include({ message: 'died' });
    expect(engine.recognised.at(-1)).to.equal('a1');
  });

  it('reports how long files wait, and how long they are processed', async () => {
    all('x1', 'x2', 'y1', 'y2');
    void ask('a1', 75);
    await turn();
    clock = 100;
    await engine.end('x1');
    clock = 350;
    await engine.end('a1');
    expect(measured).to.deep.equal([
      { audioSeconds: 60, waitMs: 0, runMs: 100 },
      { audioSeconds: 75, waitMs: 100, runMs: 250 },
    ]);
  });

  it('closes the engine', async () => {
    await diarizer.close();
    expect(engine.closed).to.equal(1);
  });
});
