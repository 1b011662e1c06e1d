/** A service as it is after some weeks of use, invented: accounts, packs, keys, requests, jobs. */
import type { Account, ApiKey } from '../../src/ledger/types.js';
import { DAY_MS } from '../../src/ledger/time.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { EngineError } from '../../src/engine/native-errors.js';
import type { AccountBacklog, BacklogStats } from '../../src/engine/backlog.js';
import type { EngineLoad, FileToTranscribe, OnWindow, Transcript } from '../../src/engine/types.js';
import type { ModelStore, StoredModel } from '../../src/models/model-store.js';
import { fakeAudio, FakeEngine } from '../support/fake-engine.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import { endedJob, postJob } from '../support/jobs.js';
import { transcribe } from '../support/requests.js';
import { TestServer } from '../support/server.js';
import { CHEAP_PASSWORDS } from '../support/dashboard.js';

const START = Date.UTC(2026, 9, 20, 9, 30);
const DAYS = 33;

const SPEECHES = [
  {
    name: 'speakers',
    language: 'es',
    text:
      'Buenos días, ¿empezamos con las cifras del trimestre?|Sí, claro. Las ventas crecieron un ocho por ' +
      'ciento.|¿Y los costes?|Bajaron un poco, sobre todo los de transporte.',
    english: [
      'Good morning, shall we begin with the figures of the quarter?',
      'Yes, of course.',
      'Sales grew by eight per cent.',
      'And the costs?',
      'They fell a little, those of transport above all.',
    ],
    diarize: true,
  },
  {
    name: 'right-to-left',
    language: 'ar',
    text:
      'أهلا وسهلا بكم في هذا اللقاء.|سنتحدث اليوم عن المدينة القديمة.|بنيت أسوارها قبل ثمانية قرون.|وما زالت ' +
      'أبوابها الأربعة قائمة.',
    english: [
      'Welcome to this meeting.',
      'Today we shall talk about the old city.',
      'Its walls were built eight centuries ago.',
      'And its four gates still stand.',
    ],
    diarize: false,
  },
];

/** Sentence by sentence, as they were invented. */
const SENTENCES: TextTranslator = {
  supports: () => true,
  translate: ({ text: source }) => {
    const english = SPEECHES.find(({ text }) => source.startsWith(text.slice(0, 9)))?.english ?? [];
    const sentences = [...source.matchAll(/[^\s.?!][^.?!]*[.?!]/g)].map(({ 0: sentence, index }, place) => ({
      ...{ start: index, end: index + sentence.length },
      text: english[place] ?? '',
    }));
    return Promise.resolve({ text: english.join(' '), sentences });
  },
};

/** Of a job that stays at work. */
export const UNENDING_SECONDS = 1500;

interface Queue extends Pick<AccountBacklog, 'accountId' | 'requests'> {
  secondsAt: (second: number) => number;
}

const REAL_TIME_FACTOR = 0.08;

class EngineAtWork extends FakeEngine {
  override slots = 4;
  /** Jobs that others have waiting. */
  queue: readonly Queue[] = [];

  constructor() {
    super();
    Object.assign(this.info, { modelName: 'verbatim-small', devices: { ids: ['cpu'], name: 'Intel Xeon Gold 6430' } });
    const stats = this.backlog.stats.bind(this.backlog);
    this.backlog.stats = () => this.withQueue(stats());
  }

  override stats(): EngineLoad {
    return { ...super.stats(), busySlots: 4, windowsInFlight: 4, queuedWindows: 9, realTimeFactor: REAL_TIME_FACTOR };
  }

  private withQueue({ backlogByAccount, backlogSeconds, ...stats }: BacklogStats): BacklogStats {
    const waiting = this.queue.map(({ accountId, requests, secondsAt }) => ({
      ...{ accountId, requests, seconds: 0, backgroundSeconds: secondsAt(performance.now() / 1000) },
    }));
    const seconds = waiting.reduce((sum, one) => sum + one.backgroundSeconds, backlogSeconds);
    return {
      ...stats,
      ...{ backlogSeconds: seconds, retryAfterSeconds: Math.ceil(REAL_TIME_FACTOR * seconds) },
      backlogByAccount: [...backlogByAccount, ...waiting],
    };
  }

  override transcribe(file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> {
    if (file.seconds !== UNENDING_SECONDS) return super.transcribe(file, onWindow);
    onWindow?.({ finished: null, seconds: 0.62 * UNENDING_SECONDS, language: 'en', part: null });
    return new Promise((_resolve, reject) => {
      file.signal?.addEventListener('abort', () => reject(file.signal?.reason as Error));
    });
  }
}

const MODEL_INFO = { kind: 'speech', licence: 'MIT', problem: null } as const;

/** A model in each state that a page can show. */
const MODELS: readonly StoredModel[] = [
  { name: 'verbatim-small', ...MODEL_INFO, state: 'installed', ...bytes(460, 460) },
  { name: 'medium', ...MODEL_INFO, state: 'installed', ...bytes(1463, 1463) },
  { name: 'large-v3', ...MODEL_INFO, state: 'downloading', ...bytes(1181, 2952) },
  {
    ...{ name: 'large-v3-turbo', ...MODEL_INFO, state: 'failed', ...bytes(0, 1549) },
    problem: 'The file is not the one that was expected: its SHA-256 differs. It was deleted.',
  },
  { name: 'base', ...MODEL_INFO, state: 'available', ...bytes(0, 141) },
];

const MODEL_STORE: ModelStore = {
  list: () => [...MODELS],
  download: () => undefined,
  cancel: () => true,
};

function bytes(receivedMib: number, totalMib: number): { receivedBytes: number; totalBytes: number } {
  return { receivedBytes: receivedMib * 2 ** 20, totalBytes: totalMib * 2 ** 20 };
}

export interface InventedServer {
  server: TestServer;
  /** An operator. */
  ada: Account;
  grace: Account;
  /** Who has done nothing yet. */
  fresh: Account;
  /** Of Ada's. */
  key: ApiKey & { rawKey: string };
  speeches: typeof SPEECHES;
  close(): Promise<void>;
}

export async function inventedServer(): Promise<InventedServer> {
  let now = START;
  /** Once all is invented, time goes on. */
  let begun: number | null = null;
  const clock = (): number => (begun === null ? now : now + Date.now() - begun);
  const diarizer = new FakeDiarizer();
  diarizer.turns = [0, 6, 12, 18].map((startSeconds, index) => ({
    ...{ startSeconds, endSeconds: startSeconds + 6 },
    speaker: index % 2 === 0 ? 'S1' : 'S2',
  }));
  const server = await TestServer.start({
    engine: new EngineAtWork(),
    diarizer,
    translator: SENTENCES,
    modelStore: MODEL_STORE,
    ledgerOptions: { clock },
    settings: { passwordCost: CHEAP_PASSWORDS, translationCreditsPerMinute: 1 },
  });
  server.engine.info.languages = ['ar', 'de', 'en', 'es', 'fr'];
  const { ledger } = server;
  const ada = await ledger.accounts.create({ email: 'ada@example.org', name: 'Ada' });
  const grace = await ledger.accounts.create({ email: 'grace@example.org', name: 'Grace' });
  const noor = await ledger.accounts.create({ email: 'noor@example.org', name: 'نور' });
  const fresh = await ledger.accounts.create({ email: 'fresh@example.org' });
  await ledger.credits.grant({ accountId: fresh.id, amount: 60 });
  await ledger.access.setRole(ada.id, 'operator');
  for (const account of [ada, grace]) {
    await ledger.credits.grant({ accountId: account.id, amount: 600 });
    await ledger.credits.grant({ accountId: account.id, amount: 150, expiresAt: '2026-12-31T23:59:59.999Z' });
  }
  const key = await ledger.keys.create({ accountId: ada.id, name: 'Newsroom', scopes: [] });
  await ledger.keys.create({ accountId: ada.id, name: 'Deployment', scopes: ['keys:write'] });
  const old = await ledger.keys.create({ accountId: ada.id, name: 'Laptop (lost)', scopes: [] });
  for (let day = 0; day < DAYS; day += 1, now += DAY_MS) {
    if (day === 11) await ledger.keys.revoke(ada.id, old.id);
    for (let n = 0; n < (day * 7) % 4; n += 1) {
      const audio = fakeAudio(40 + ((day * 131 + n * 277) % 500), { language: n === 1 ? 'es' : 'en' });
      await transcribe(server, { key, parts: [['audio', audio]] });
    }
    if (day % 3 === 0) await job(server, key.rawKey, 120 + 30 * day);
  }
  await operatorsLog({ server, ada, grace }, () => (now += 3_180_000));
  server.engine.failWith = new EngineError('invalid_audio', 'The audio ends in the middle of a frame.');
  await job(server, key.rawKey, 90);
  await postJob(server, key, [['audio', fakeAudio(UNENDING_SECONDS)]]);
  queueOf(server.engine, [noor, grace]);
  await ledger.transcripts.decide(ada.id, { isOn: true, keepDays: null, keepsAudio: true });
  begun = Date.now();
  return { server, ada, grace, fresh, key, speeches: SPEECHES, close: () => server.dispose() };
}

/** What an operator has done in these weeks. */
async function operatorsLog(
  { server, ada, grace: { id } }: Pick<InventedServer, 'server' | 'ada' | 'grace'>,
  wait: () => void,
): Promise<void> {
  const done = [
    ...[
      ['account-made', null],
      ['granted', id],
      ['link-made', id],
      ['role-set', id],
    ],
    ...[
      ['suspended', id],
      ['resumed', id],
      ['exported', id],
    ],
    ...[
      ['model-downloaded', 'medium'],
      ['model-used', 'medium'],
      ['model-used', 'verbatim-small'],
    ],
    ...[
      ['model-downloaded', 'large-v3-turbo'],
      ['model-downloaded', 'large-v3'],
    ],
  ] as const;
  for (const [action, subject] of done) {
    wait();
    await server.ledger.operators.note({ operatorId: ada.id, action, subject });
  }
}

/** It is worked off as one looks, and never ends. */
function queueOf(engine: EngineAtWork, [noor, grace]: readonly [Account, Account]): void {
  const falling = (most: number) => (second: number) => most - ((second / REAL_TIME_FACTOR) % (most / 2));
  engine.queue = [
    { accountId: grace.id, requests: 6, secondsAt: falling(5400) },
    { accountId: noor.id, requests: 2, secondsAt: falling(900) },
  ];
}

async function job(server: TestServer, key: string, seconds: number): Promise<void> {
  const { body } = await postJob(server, key, [['audio', fakeAudio(seconds)]]);
  await endedJob(server, key, String(body['id']));
}
