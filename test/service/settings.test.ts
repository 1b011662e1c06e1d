/**
 * The table of variables: the shipped server, started as a process, once as it comes and once with each of them set; a row
 * shows what the variable does.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { register } from '../../src/models/import.js';
import { packageRoot } from '../../src/package-root.js';
import { slotsOn } from '../../src/service/slots.js';
import { threadPoolSize } from '../../src/service/thread-pool.js';
import { VARIABLES, type Variable } from '../../src/service/variables.js';
import { MODEL, samplePath } from '../native/support.js';
import { childrenOf } from '../support/child-processes.js';
import { buildDashboard } from '../support/dashboard.js';
import { endedJob, jobCall, postJob } from '../support/jobs.js';
import { call, PART_HEAD, RawClient, transcribe, uploadHead, type Answer } from '../support/requests.js';
import { recordingOf } from '../support/recordings.js';
import { bearer } from '../support/server.js';
import { DATABASE_PASSWORD, sharedCluster } from '../support/postgres-cluster.js';
import { Served, workplace } from '../support/served.js';
import { until } from '../support/until.js';
import { writeVoiceModel } from '../support/voice-models.js';
import { freePort } from '../../bench/processes/free-port.js';

const TOKEN = 'a token for Prometheus';
const FEW_CONNECTIONS = 6;
const SEGMENTATION = 'speaker-segmentation-verbatim';
const EMBEDDING = 'speaker-embedding-verbatim';

/** As the line `ready` of its log has it. */
async function agentPortOf(served: Served): Promise<number | null> {
  const ready = (): string | undefined =>
    served.stderr.split('\n').find((line) => line.includes('"msg":"ready"'));
  await until(() => ready() !== undefined);
  return (JSON.parse(ready()!) as { agentPort: number | null }).agentPort;
}

interface Servers {
  /** As it comes: nothing is set but a free port. */
  plain: Served;
  /** Everything is set that goes together. */
  set: Served;
  /** Decodes windows together. */
  batched: Served;
  /** Behind a proxy on this machine, with its data elsewhere and little room for a backlog. */
  proxied: Served;
}

/** A models directory that knows the bundled model under another name. */
function modelsUnder(directory: string): string {
  const modelsDir = deafModelsUnder(directory);
  symlinkSync(MODEL, join(modelsDir, 'ggml-mine.bin'));
  register(modelsDir, {
    ...{ name: 'mine', kind: 'speech', file: 'ggml-mine.bin', languages: ['en', 'de'], windows: 'short' },
    ...{ licence: 'MIT', source: 'test' },
  });
  return modelsDir;
}

/** One in which the model of voice activity hears nothing in anything. */
function deafModelsUnder(directory: string): string {
  const modelsDir = join(directory, 'models');
  mkdirSync(modelsDir);
  writeVoiceModel(join(modelsDir, 'ggml-silero-vad.bin'), 'nothing');
  const entry = { name: 'silero-vad', kind: 'vad', file: 'ggml-silero-vad.bin' } as const;
  register(modelsDir, { ...entry, licence: 'MIT', source: 'test' });
  return modelsDir;
}

/** One that knows the bundled speaker models under other names. */
function voicesUnder(directory: string): string {
  const modelsDir = join(directory, 'models');
  mkdirSync(modelsDir);
  const link = (name: string, bundled: string): { name: string; file: string } => {
    symlinkSync(join(packageRoot, 'models', 'bundled', `${bundled}.onnx`), join(modelsDir, `${name}.onnx`));
    return { name, file: `${name}.onnx` };
  };
  const origin = { licence: 'CC0-1.0', source: 'test' };
  register(modelsDir, { ...link('segments', SEGMENTATION), ...origin, kind: 'speaker-segmentation' });
  register(modelsDir, {
    ...link('voices', EMBEDDING),
    ...origin,
    ...{ kind: 'speaker-embedding', languages: 'any', threshold: 0.5, minSeconds: 2 },
  });
  return modelsDir;
}

/** The machine's own, which leaves word that it was this one that was run. */
function noticedFfmpeg(directory: string): string {
  const path = join(directory, 'my-ffmpeg');
  writeFileSync(path, '#!/bin/sh\necho run >> "$0.runs"\nexec ffmpeg "$@"\n', { mode: 0o755 });
  return path;
}

async function startAll(): Promise<Servers> {
  const directory = workplace();
  const set = Served.start(
    {
      VERBATIM_PORT: String(await freePort()),
      VERBATIM_DATABASE: join(directory, 'books.db'),
      VERBATIM_MODELS_DIR: modelsUnder(directory),
      VERBATIM_MODEL: 'mine',
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_SLOTS: '3',
      VERBATIM_THREADS: '2',
      VERBATIM_ACCEL: 'off',
      VERBATIM_SPEECH_DECODER: 'whisper.cpp',
      VERBATIM_VAD: 'energy',
      VERBATIM_FFMPEG: noticedFfmpeg(directory),
      VERBATIM_ENGINE_PROCESS: 'off',
      VERBATIM_MAX_AUDIO_SECONDS: '8',
      VERBATIM_MAX_IN_FLIGHT: '1',
      VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: String(FEW_CONNECTIONS),
      VERBATIM_CREDITS_PER_MINUTE: '7',
      VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: '8',
      VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: '9',
      VERBATIM_TRANSLATION_BACKEND: 'ggml',
      VERBATIM_DASHBOARD: 'off',
      VERBATIM_LOG_LEVEL: 'error',
      VERBATIM_SECRET: 'a secret of the environment',
      VERBATIM_METRICS_TOKEN: TOKEN,
    },
    directory,
  );
  const proxied = Served.start({
    VERBATIM_HOST: '127.0.0.2',
    VERBATIM_AGENT_PORT: '0',
    VERBATIM_DATA_DIR: 'elsewhere',
    VERBATIM_TRUST_PROXY: 'loopback',
    VERBATIM_CORS_ORIGINS: 'https://app.example.com',
    VERBATIM_SPEAKERS: 'off',
    VERBATIM_MAX_BACKLOG_SECONDS: '1',
    VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: String(FEW_CONNECTIONS),
  });
  const elsewhere = workplace();
  const batched = Served.start(
    {
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_MODELS_DIR: voicesUnder(elsewhere),
      VERBATIM_SPEAKER_SEGMENTATION: 'segments',
      VERBATIM_SPEAKER_EMBEDDING: 'voices',
      VERBATIM_SPEECH_DECODER: 'batched',
      VERBATIM_COMPUTE: 'bfloat16',
      VERBATIM_MAX_OPEN_JOBS: '1',
      VERBATIM_WEBHOOK_ALLOW: '127.0.0.0/8',
      VERBATIM_BATCH: '3',
      VERBATIM_SLOTS: '2',
    },
    elsewhere,
  );
  const plain = Served.start();
  return {
    plain: await plain.listening(),
    set: await set.listening(),
    batched: await batched.listening(),
    proxied: await proxied.listening(),
  };
}

async function answerTo(
  served: Served,
  clip: string,
  fields: readonly (readonly [string, string])[] = [],
): Promise<Answer> {
  const audio = readFileSync(samplePath(clip));
  return transcribe(served, {
    key: await served.key(),
    parts: [['audio', audio], ...fields.map(([name, value]): [string, string] => [name, value])],
  });
}

/** Of so many connections that stay open at the same time, how many are answered with this status. */
async function connectionsAnswered(served: Served, count: number, status: number): Promise<number> {
  const { hostname, port } = new URL(served.url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => undefined);
      socket.write('GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n');
      const [head] = (await once(socket, 'data')) as [Buffer];
      return Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString())?.[1]);
    }),
  );
  for (const socket of sockets) socket.destroy();
  return statuses.filter((one) => one === status).length;
}

/**
 * A second request while an upload of the same account has not ended gets this status: tried anew where the upload itself came while
 * the place of the request before it was still taken.
 */
async function besideAnUpload(served: Served, expected: number): Promise<void> {
  const head = uploadHead(await served.key(), { length: 1_000_000 }) + PART_HEAD;
  await until(async () => {
    const upload = await RawClient.open(served);
    upload.send(head);
    try {
      return (await answerTo(served, 'en-wav16.wav')).status === expected;
    } finally {
      upload.destroy();
    }
  });
}

function metricsOf(served: Served, token?: string): Promise<Answer> {
  return call(
    served,
    '/metrics',
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
}

/** The figure of a gauge without labels. */
async function gauge(served: Served, name: string, token?: string): Promise<number> {
  const { text } = await metricsOf(served, token);
  return Number(new RegExp(`^verbatim_${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

type Call = ReturnType<Served['calls']>[number];

/** Of the speech model, with either decoder. */
function loads(served: Served): Call[] {
  return [...served.calls('loadSpeechModel'), ...served.calls('loadRecogniser')];
}

/** What computes: slots of whisper.cpp, encoders of the batched decoder. */
function makings(served: Served): Call[] {
  return [...served.calls('createSlot'), ...served.calls('createEncoder')];
}

/** What a server says that does not start with these. */
async function refusal(environment: Readonly<Record<string, string>>): Promise<string> {
  const served = Served.start(environment);
  try {
    expect(await served.ended()).not.to.equal(0);
    return served.stderr;
  } finally {
    await served.stop();
  }
}

const rows: Readonly<Record<Variable, (servers: Servers) => void | Promise<void>>> = {
  VERBATIM_HOST: ({ plain, proxied }) => {
    expect(new URL(plain.url).hostname).to.equal('127.0.0.1');
    expect(new URL(proxied.url).hostname).to.equal('127.0.0.2');
  },
  VERBATIM_PORT: async ({ plain, set }) => {
    expect(plain.port).to.be.above(0);
    expect((await call(set, '/healthz')).status).to.equal(200);
    const taken = Served.start({ VERBATIM_PORT: String(set.port) });
    expect(await taken.ended()).to.equal(1);
    expect(taken.stderr).to.contain('EADDRINUSE').and.contain(String(set.port));
    await taken.stop();
  },
  VERBATIM_AGENT_PORT: async ({ plain, proxied }) => {
    const agentPort = await agentPortOf(proxied);
    expect(await agentPortOf(plain)).to.equal(null);
    const socket = connect(Number(agentPort), '127.0.0.2').setEncoding('utf8');
    const [line] = (await once(socket, 'data')) as [string];
    expect(line).to.match(/^up ready \d+%\n$/);
  },
  VERBATIM_DATA_DIR: ({ plain, proxied }) => {
    expect(existsSync(join(plain.directory, 'data', 'verbatim.db'))).to.equal(true);
    expect(existsSync(join(proxied.directory, 'elsewhere', 'verbatim.db'))).to.equal(true);
    for (const room of ['uploads', 'jobs']) {
      expect(existsSync(join(proxied.directory, 'elsewhere', room)), room).to.equal(true);
    }
    expect(existsSync(join(proxied.directory, 'data'))).to.equal(false);
  },
  VERBATIM_DATABASE: ({ set }) => {
    expect(existsSync(join(set.directory, 'books.db'))).to.equal(true);
    expect(existsSync(join(set.directory, 'data', 'verbatim.db'))).to.equal(false);
  },
  VERBATIM_DATABASE_CONNECTIONS: async () => {
    const cluster = await sharedCluster();
    await cluster.query('CREATE DATABASE of_the_settings');
    const served = Served.start({
      VERBATIM_DATABASE: cluster.url('of_the_settings'),
      VERBATIM_DATABASE_CONNECTIONS: '2',
      VERBATIM_SECRET: 'a secret of the environment',
    });
    const key = await (await served.listening()).key();
    const headers = bearer(key);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(served, '/api/v1/me', { headers })),
    );
    for (const { status, text } of answers) expect(status, text).to.equal(200);
    const [connections] = await cluster.query<{ n: string }>(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'verbatim' AND datname = 'of_the_settings'`,
    );
    expect(Number(connections?.n), 'and one that listens').to.equal(3);
    await served.stop();
    expect(served.stdout + served.stderr).not.to.contain(DATABASE_PASSWORD);
    expect(existsSync(join(served.directory, 'data', 'verbatim.db'))).to.equal(false);
  },
  VERBATIM_MODELS_DIR: async ({ set }) => {
    // Only that directory knows the model.
    expect((await call(set, '/readyz')).body).to.include({ model: 'mine' });
    const without = Served.start({ VERBATIM_MODEL: 'mine' });
    expect(await without.ended()).to.equal(1);
    expect(without.stderr).to.contain('There is no model "mine"');
    await without.stop();
  },
  VERBATIM_MODEL: async ({ plain, set }) => {
    expect((await call(plain, '/readyz')).body).to.include({ model: 'verbatim-small' });
    expect((await call(set, '/readyz')).body).to.include({ model: 'mine' });
  },
  VERBATIM_DEVICE: async ({ set }) => {
    expect(loads(set).map(({ options }) => options['device'])).to.deep.equal(['cpu']);
    const nowhere = Served.start({ VERBATIM_DEVICE: 'cuda:99' });
    expect(await nowhere.ended()).to.equal(1);
    expect(nowhere.stderr).to.contain('Device "cuda:99" is not available');
    await nowhere.stop();
    // Each in a process of its own, or none.
    const nowhereEither = Served.start({ VERBATIM_DEVICE: 'cuda:98,99' });
    expect(await nowhereEither.ended()).to.equal(1);
    expect(nowhereEither.stderr).to.match(/Device "cuda:9[89]" is not available/);
    await nowhereEither.stop();
  },
  VERBATIM_SLOTS: async ({ plain, set }) => {
    const device = String(loads(plain)[0]?.options['device']);
    const slots = slotsOn([device], { slots: null, threads: 1 });
    expect(await gauge(plain, 'slots')).to.equal(slots);
    expect(await gauge(set, 'slots', TOKEN)).to.equal(3);
    expect(makings(set)).to.have.length(3);
  },
  VERBATIM_THREADS: ({ plain, set }) => {
    const threads = ({ options }: Call): unknown => options['threads'];
    expect(new Set(makings(plain).map(threads))).to.deep.equal(new Set([1]));
    expect(new Set(makings(set).map(threads))).to.deep.equal(new Set([2]));
  },
  VERBATIM_ACCEL: ({ plain, set }) => {
    expect(loads(plain)[0]?.options).to.include({ accelerator: 'auto' });
    expect(loads(set)[0]?.options).to.include({ accelerator: 'off' });
  },
  VERBATIM_SPEECH_DECODER: async ({ set, batched }) => {
    const asked = (served: Served): number[] =>
      (['loadSpeechModel', 'createSlot', 'loadRecogniser', 'createEncoder'] as const).map(
        (call) => served.calls(call).length,
      );
    expect(asked(set)).to.deep.equal([1, 3, 0, 0]);
    expect(asked(batched)).to.deep.equal([0, 0, 1, 2]);
    for (const served of [set, batched])
      expect((await answerTo(served, 'en-wav16.wav')).body).to.include({
        text: 'Hello Emma, this is Laura.',
      });
    const unknown = await refusal({ VERBATIM_SPEECH_DECODER: 'fastest' });
    expect(unknown).to.contain('VERBATIM_SPEECH_DECODER is "fastest"; allowed: auto, batched, whisper.cpp.');
  },
  VERBATIM_COMPUTE: async ({ batched }) => {
    expect(batched.calls('loadRecogniser')[0]?.options).to.include({ compute: 'bfloat16' });
    const unused = await refusal({ VERBATIM_SPEECH_DECODER: 'whisper.cpp', VERBATIM_COMPUTE: 'int8' });
    expect(unused).to.contain(
      'VERBATIM_COMPUTE is "int8"; allowed: auto, since the speech decoder is whisper.cpp.',
    );
    const unknown = await refusal({ VERBATIM_COMPUTE: 'float16' });
    expect(unknown).to.contain('allowed: auto, int8, bfloat16, float32.');
  },
  VERBATIM_BATCH: async ({ batched }) => {
    await until(() => batched.stderr.includes('"windowsInFlight":3'));
    const unused = await refusal({ VERBATIM_SPEECH_DECODER: 'whisper.cpp', VERBATIM_BATCH: '8' });
    expect(unused).to.contain(
      'VERBATIM_BATCH is "8"; allowed: nothing, since the speech decoder is whisper.cpp.',
    );
    expect(await refusal({ VERBATIM_BATCH: '65' })).to.contain('an integer from 1 to 64');
  },
  VERBATIM_VAD: async ({ set }) => {
    expect((await answerTo(set, 'en-wav16.wav')).body).to.include({ text: 'Hello Emma, this is Laura.' });
    const directory = workplace();
    const models = { VERBATIM_MODELS_DIR: deafModelsUnder(directory) };
    const [auto, silero] = await Promise.all(
      [{}, { VERBATIM_VAD: 'silero' }].map((setting) => Served.start({ ...models, ...setting }).listening()),
    );
    for (const deaf of [auto!, silero!]) {
      expect((await answerTo(deaf, 'en-wav16.wav')).body).to.include({ text: '' });
      await until(() => deaf.stderr.includes('"voiceActivity":"silero"'));
      await deaf.stop();
    }
    const missing = { VERBATIM_MODELS_DIR: join(directory, 'nothing') };
    expect(await refusal({ ...missing, VERBATIM_VAD: 'silero' })).to.contain(
      'npx verbatim models pull silero-vad',
    );
    expect(await refusal({ VERBATIM_VAD: 'loud' })).to.contain(
      'VERBATIM_VAD is "loud"; allowed: auto, silero, energy.',
    );
    rmSync(directory, { recursive: true });
  },
  VERBATIM_SPEAKERS: async ({ plain, proxied }) => {
    await until(() => [plain, proxied].every(({ stderr }) => stderr.includes('"msg":"ready"')));
    expect(plain.stderr).to.contain(`"speakerModels":["${SEGMENTATION}","${EMBEDDING}"]`);
    expect(proxied.stderr).to.contain('"speakerModels":"VERBATIM_SPEAKERS is off."');
    const { status, error } = await answerTo(proxied, 'en-wav16.wav', [['diarize', '1']]);
    expect(status).to.equal(422);
    expect(error).to.include({ code: 'unsupported_diarization', message: 'VERBATIM_SPEAKERS is off.' });
    const named = { VERBATIM_SPEAKERS: 'off', VERBATIM_SPEAKER_EMBEDDING: EMBEDDING };
    expect(await refusal(named)).to.contain(
      `VERBATIM_SPEAKER_EMBEDDING is "${EMBEDDING}"; allowed: nothing, since VERBATIM_SPEAKERS is off.`,
    );
    expect(await refusal({ VERBATIM_SPEAKERS: 'on' })).to.contain('allowed: auto, off.');
  },
  VERBATIM_SPEAKER_SEGMENTATION: async ({ batched }) => {
    await until(() => batched.stderr.includes(`"speakerModels":["segments","voices"]`));
    const missing = await refusal({ VERBATIM_SPEAKER_SEGMENTATION: 'pyannote-segmentation-3.0' });
    expect(missing).to.contain('npx verbatim models pull pyannote-segmentation-3.0');
    const another = await refusal({ VERBATIM_SPEAKER_SEGMENTATION: EMBEDDING });
    expect(another).to.contain(
      `"${EMBEDDING}" is a speaker embedding model; VERBATIM_SPEAKER_SEGMENTATION names a speaker segmentation model.`,
    );
  },
  VERBATIM_SPEAKER_EMBEDDING: async ({ batched }) => {
    await until(() => batched.stderr.includes(`"speakerModels":["segments","voices"]`));
    expect(await refusal({ VERBATIM_SPEAKER_EMBEDDING: 'nobody' })).to.contain('There is no model "nobody"');
    expect(await refusal({ VERBATIM_SPEAKER_EMBEDDING: 'silero-vad' })).to.contain(
      '"silero-vad" is a voice activity model; VERBATIM_SPEAKER_EMBEDDING names a speaker embedding model.',
    );
  },
  VERBATIM_ENGINE_PROCESS: async ({ plain, set }) => {
    const engines = ({ child }: Served): number =>
      childrenOf(child.pid).filter(({ command }) => command.includes('engine-process')).length;
    expect(engines(plain)).to.equal(1);
    expect(engines(set)).to.equal(0);
    const addons = (served: Served): boolean =>
      readFileSync(`/proc/${served.child.pid}/maps`, 'utf8').includes('verbatim.node');
    expect([plain, set].map(addons)).to.deep.equal([false, true]);
    expect(await refusal({ VERBATIM_ENGINE_PROCESS: 'maybe' })).to.contain('allowed: on, off.');
  },
  VERBATIM_FFMPEG: async ({ plain, set }) => {
    await until(() => plain.stderr.includes('"msg":"ready"'));
    expect(plain.stderr).to.match(/"ffmpeg":"\d/);
    const runs = join(set.directory, 'my-ffmpeg.runs');
    // It was asked for its version.
    await until(() => existsSync(runs));
    rmSync(runs);
    const recording = readFileSync(
      recordingOf(samplePath('en-wav16.wav'), join(set.directory, 'a.webm'), []),
    );
    for (const served of [plain, set]) {
      const answer = await transcribe(served, { key: await served.key(), parts: [['audio', recording]] });
      expect(answer.body).to.include({ text: 'Hello Emma, this is Laura.' });
    }
    expect(readFileSync(runs, 'utf8')).to.equal('run\n');
    expect(await refusal({ VERBATIM_FFMPEG: '/nowhere/ffmpeg' })).to.contain(
      'VERBATIM_FFMPEG is "/nowhere/ffmpeg"; allowed: the path of a program',
    );
    const missing = await Served.start({ VERBATIM_FFMPEG: 'no-such-ffmpeg' }).listening();
    await until(() => missing.stderr.includes('cannot be run'));
    expect(missing.stderr)
      .to.match(/"ffmpeg":null/)
      .and.match(/\\"no-such-ffmpeg\\" cannot be run/);
    const refused = await transcribe(missing, { key: await missing.key(), parts: [['audio', recording]] });
    expect(refused).to.deep.include({ status: 415 });
    expect(refused.error?.message).to.contain('takes ffmpeg to read');
    await missing.stop();
  },
  VERBATIM_MAX_BACKLOG_SECONDS: async ({ plain, proxied }) => {
    const burst = (served: Served): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 6 }, () => answerTo(served, 'en-vorbis.ogg')));
    expect((await burst(plain)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
    await until(async () => (await burst(proxied)).some(({ error }) => error?.code === 'overloaded'));
  },
  VERBATIM_MAX_AUDIO_SECONDS: async ({ plain, set }) => {
    expect((await answerTo(plain, 'en-vorbis.ogg')).status).to.equal(200);
    const refused = await answerTo(set, 'en-vorbis.ogg');
    expect(refused.status).to.equal(413);
    expect(refused.error?.message).to.contain('8 s');
  },
  VERBATIM_MAX_IN_FLIGHT: async ({ plain, set }) => {
    await besideAnUpload(plain, 200);
    await besideAnUpload(set, 429);
  },
  VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: async ({ plain, set }) => {
    const count = 2 * FEW_CONNECTIONS;
    expect(await connectionsAnswered(plain, count, 200)).to.equal(count);
    expect(await connectionsAnswered(set, count, 429)).to.be.at.least(count - FEW_CONNECTIONS);
  },
  VERBATIM_TRUST_PROXY: async ({ proxied }) => {
    // Its limit is as low; connections of the proxy itself do not count.
    const count = 2 * FEW_CONNECTIONS;
    expect(await connectionsAnswered(proxied, count, 200)).to.equal(count);
  },
  VERBATIM_CORS_ORIGINS: async ({ plain, proxied }) => {
    const origin = 'https://app.example.com';
    const allowed = async (served: Served): Promise<string | null> =>
      (await call(served, '/v1/models', { headers: { origin } })).headers.get('access-control-allow-origin');
    expect(await allowed(plain)).to.equal(null);
    expect(await allowed(proxied)).to.equal(origin);
  },
  VERBATIM_DASHBOARD: async ({ plain, set }) => {
    const { pathname } = new URL(/^ +(http\S+link\S+)$/m.exec(plain.stdout)?.[1] ?? '');
    expect(pathname).to.equal('/dashboard/link');
    expect((await call(plain, '/dashboard/sign-in')).status).to.equal(200);
    expect(set.stdout).not.to.contain('/dashboard');
    for (const path of ['', '/sign-in', '/link', '/account', '/assets/0/dashboard.css']) {
      const { status, headers } = await call(set, `/dashboard${path}`);
      expect(status, path).to.equal(404);
      expect(headers.get('content-type')).to.match(/^application\/json/);
    }
  },
  VERBATIM_MAX_OPEN_JOBS: async ({ plain, batched }) => {
    const refused = async (served: Served): Promise<boolean> => {
      const key = await served.key();
      const audio = readFileSync(samplePath('en-wav16.wav'));
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => postJob(served, key, [['audio', audio]])),
      );
      return answers.some(({ error }) => error?.message.includes('its limit is 1.'));
    };
    expect(await refused(plain)).to.equal(false);
    await until(() => refused(batched));
  },
  VERBATIM_JOB_RETENTION_HOURS: async () => {
    const directory = workplace();
    const first = await Served.start({}, directory).listening();
    const key = await first.key();
    const { body } = await postJob(first, key, [['audio', readFileSync(samplePath('en-wav16.wav'))]]);
    const id = String(body['id']);
    await endedJob(first, key, id);
    const find = async (hours: string, work: (served: Served) => Promise<void>): Promise<void> => {
      const served = await Served.start({ VERBATIM_JOB_RETENTION_HOURS: hours }, directory).listening();
      await work(served);
      served.child.kill('SIGKILL');
      await served.ended();
    };
    first.child.kill('SIGKILL');
    await first.ended();
    const books = new Database(join(directory, 'data', 'verbatim.db'));
    books.exec('UPDATE jobs SET finished_at = finished_at - 2 * 3600000');
    books.close();
    await find('3', async (served) => {
      expect((await jobCall(served, key, `/${id}`)).status).to.equal(200);
    });
    await find('1', (served) => until(async () => (await jobCall(served, key, `/${id}`)).status === 404));
    rmSync(directory, { recursive: true });
  },
  VERBATIM_WEBHOOK_ALLOW: async ({ plain, batched }) => {
    const posted = async (served: Served): Promise<Answer> =>
      postJob(served, await served.key(), [
        ['audio', readFileSync(samplePath('en-wav16.wav'))],
        ['webhook_url', 'http://127.0.0.1:9/'],
      ]);
    expect((await posted(plain)).error).to.include({ param: 'webhook_url' });
    await until(async () => (await posted(batched)).status === 202);
    expect(await refusal({ VERBATIM_WEBHOOK_ALLOW: 'http://n8n' })).to.contain(
      'VERBATIM_WEBHOOK_ALLOW is "http://n8n"; allowed: IP addresses, networks such as 10.0.0.0/8 and host names',
    );
  },
  VERBATIM_CREDITS_PER_MINUTE: async ({ plain, set }) => {
    expect((await answerTo(plain, 'en-wav16.wav')).body).to.include({ credits_used: 1 });
    expect((await answerTo(set, 'en-wav16.wav')).body).to.include({ credits_used: 7 });
  },
  VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: async ({ plain, set }) => {
    const translated = [['translate_to', 'de']] as const;
    expect((await answerTo(plain, 'en-wav16.wav', translated)).body).to.include({ credits_used: 1 });
    expect((await answerTo(set, 'en-wav16.wav', translated)).body).to.include({ credits_used: 15 });
  },
  VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: async ({ plain, set }) => {
    const diarize = [['diarize', '1']] as const;
    expect((await answerTo(plain, 'en-wav16.wav', diarize)).body).to.include({ credits_used: 1 });
    expect((await answerTo(set, 'en-wav16.wav', diarize)).body).to.include({ credits_used: 16 });
  },
  VERBATIM_TRANSLATION_BACKEND: async ({ plain, set }) => {
    const backends = async (served: Served): Promise<unknown[]> => {
      await answerTo(served, 'en-wav16.wav', [['translate_to', 'es']]);
      return served.calls('loadTranslationModel').map(({ options }) => options['backend']);
    };
    expect(await backends(plain)).to.deep.equal(['auto']);
    expect(await backends(set)).to.deep.equal(['ggml']);
  },
  VERBATIM_LOG_LEVEL: async ({ plain, set }) => {
    await until(() => plain.stderr.includes('"msg":"ready"'));
    expect(set.stderr).not.to.contain('"msg"');
  },
  VERBATIM_SECRET: ({ plain, set }) => {
    expect(existsSync(join(plain.directory, 'data', 'verbatim.db.secret'))).to.equal(true);
    expect(existsSync(join(set.directory, 'books.db.secret'))).to.equal(false);
  },
  VERBATIM_METRICS_TOKEN: async ({ plain, set }) => {
    expect((await metricsOf(plain)).status).to.equal(200);
    expect((await metricsOf(set)).status).to.equal(401);
    expect((await metricsOf(set, 'another token')).status).to.equal(401);
    expect((await metricsOf(set, TOKEN)).status).to.equal(200);
  },
};

describe('verbatim serve, set by the environment', () => {
  let servers: Servers;

  before(async () => {
    buildDashboard();
    servers = await startAll();
  });
  after(() => Promise.all(Object.values(servers).map((served: Served) => served.stop())));

  it('has a row for every variable', () => {
    expect(Object.keys(rows)).to.have.members([...VARIABLES]);
  });

  for (const [variable, showEffect] of Object.entries(rows)) it(variable, () => showEffect(servers));

  it('prints the keys of a first start, which open its doors', async () => {
    const { plain } = servers;
    expect(plain.stdout).to.match(/This database was empty.*API key +vb_.*management key +vb_.*curl -H/s);
    const headers = { authorization: `Bearer ${await plain.key()}` };
    expect((await call(plain, '/api/v1/me', { headers })).status).to.equal(200);
  });

  it('has a thread of the pool for every slot, translator and file', () => {
    const [plain] = loads(servers.plain);
    const [set] = loads(servers.set);
    expect(plain?.poolSize).to.equal(String(threadPoolSize({}, availableParallelism(), 1)));
    expect(set?.poolSize).to.equal(
      String(threadPoolSize({ VERBATIM_SLOTS: '3' }, availableParallelism(), 1)),
    );
  });
});
