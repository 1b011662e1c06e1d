import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { ConfigError, readConfig } from '../../src/service/config.js';
import {
  BUILD_VARIABLES,
  RETIRED_VARIABLES,
  retiredVariables,
  UsageError,
  VARIABLES,
} from '../../src/service/variables.js';

const variablesIn = (text: string): string[] => text.match(/VERBATIM_[A-Z_]*[A-Z]/g) ?? [];

function documents(): string[] {
  const files = readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' });
  return files.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
}

describe('configuration', () => {
  it('has defaults for everything', () => {
    const config = readConfig({}, '/package');
    expect(config).to.include({
      host: '127.0.0.1',
      port: 8080,
      modelsDir: '/package/models',
      model: null,
      deviceSetting: 'auto',
    });
    expect(config).to.include({ dataDir: 'data', database: 'data/verbatim.db' });
    const elsewhere = readConfig({ VERBATIM_DATA_DIR: '/srv' }, '/package');
    expect(elsewhere).to.include({ dataDir: '/srv', database: '/srv/verbatim.db' });
    expect(config.slots).to.equal(null);
    expect(Object.isFrozen(config)).to.equal(true);
    // It goes to the engine's process as JSON.
    expect(JSON.parse(JSON.stringify(config))).to.deep.equal(config);
  });

  it('warns of a setting of the version before, which has no effect any more', () => {
    expect(retiredVariables({ VERBATIM_ENGINE_PROCESS: 'off', VERBATIM_PORT: '1' })).to.deep.equal([
      'VERBATIM_ENGINE_PROCESS is ignored: the engine always runs in a process of its own. The next version will refuse it.',
    ]);
    expect(retiredVariables({ VERBATIM_ENGINE_PROCESS: '' })).to.deep.equal([]);
    expect(readConfig({ VERBATIM_ENGINE_PROCESS: 'off' }, '/package')).to.deep.equal(readConfig({}, '/package'));
  });

  it('reads every variable', () => {
    const config = readConfig(
      {
        VERBATIM_HOST: '0.0.0.0',
        VERBATIM_PORT: '0',
        VERBATIM_AGENT_PORT: '8081',
        VERBATIM_WYOMING_HOST: '0.0.0.0',
        VERBATIM_WYOMING_PORT: '10300',
        VERBATIM_WYOMING_KEY: 'vb_key',
        VERBATIM_DATA_DIR: '/var/data',
        VERBATIM_DATABASE: 'postgres://verbatim:secret@db.internal:5433/ledger?sslmode=verify-full',
        VERBATIM_DATABASE_CONNECTIONS: '40',
        VERBATIM_MODELS_DIR: '/models',
        VERBATIM_AUTO_MODEL: 'off',
        VERBATIM_MODEL: 'base',
        VERBATIM_MODEL_MEMORY: '6G',
        VERBATIM_MODEL_IDLE_SECONDS: '0',
        VERBATIM_DEVICE: 'cuda:0,1',
        VERBATIM_SLOTS: '3',
        VERBATIM_THREADS: '2',
        VERBATIM_MAX_BACKLOG_SECONDS: '10',
        VERBATIM_MAX_AUDIO_SECONDS: '20',
        VERBATIM_MAX_IN_FLIGHT: '5',
        VERBATIM_MAX_OPEN_JOBS: '9',
        VERBATIM_MAX_LIVE_SESSIONS: '11',
        VERBATIM_MAX_LIVE_SECONDS: '12',
        VERBATIM_MAX_LIVE_DECODERS: '13',
        VERBATIM_JOB_RETENTION_HOURS: '10',
        VERBATIM_LIBRARY_MAX_BYTES: '3M',
        VERBATIM_WEBHOOK_ALLOW: '10.1.0.0/16, n8n.internal',
        VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: '6',
        VERBATIM_TRUST_PROXY: 'loopback, 10.0.0.0/8, 2001:db8::1',
        VERBATIM_CORS_ORIGINS: 'https://a.example, http://localhost:3000',
        VERBATIM_DASHBOARD: 'off',
        VERBATIM_CREDITS_PER_MINUTE: '7',
        VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: '8',
        VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: '9',
        VERBATIM_TRANSLATION_BACKEND: 'ggml',
        VERBATIM_ACCEL: 'auto',
        VERBATIM_SPEECH_DECODER: 'batched',
        VERBATIM_COMPUTE: 'int8',
        VERBATIM_WEIGHT_CACHE: 'shared',
        VERBATIM_BATCH: '12',
        VERBATIM_VAD: 'energy',
        VERBATIM_FFMPEG: '/bin/sh',
        VERBATIM_SPEAKERS: 'off',
        VERBATIM_SPEAKER_SEGMENTATION: 'segments',
        VERBATIM_SPEAKER_EMBEDDING: 'voices',
        VERBATIM_LOG_LEVEL: 'debug',
        VERBATIM_SECRET: '0123456789abcdef',
        VERBATIM_METRICS_TOKEN: 'token',
      },
      '/package',
    );
    expect(config).to.deep.equal({
      host: '0.0.0.0',
      port: 0,
      agentPort: 8081,
      wyoming: { host: '0.0.0.0', port: 10_300, key: 'vb_key' },
      dataDir: '/var/data',
      database: 'postgres://verbatim:secret@db.internal:5433/ledger?sslmode=verify-full',
      databaseConnections: 40,
      modelsDir: '/models',
      model: 'base',
      autoModel: false,
      modelMemory: 6 * 2 ** 30,
      modelIdleSeconds: 0,
      deviceSetting: 'cuda:0,1',
      slots: 3,
      threads: 2,
      maxBacklogSeconds: 10,
      maxAudioSeconds: 20,
      maxInFlight: 5,
      maxOpenJobs: 9,
      maxLiveSessions: 11,
      maxLiveSeconds: 12,
      maxLiveDecoders: 13,
      jobRetentionHours: 10,
      maxLibraryBytes: 3 * 1024 ** 2,
      webhookAllow: ['10.1.0.0/16', 'n8n.internal'],
      maxConnectionsPerAddress: 6,
      trustProxy: ['loopback', '10.0.0.0/8', '2001:db8::1'],
      corsOrigins: ['https://a.example', 'http://localhost:3000'],
      dashboard: false,
      creditsPerMinute: 7,
      translationCreditsPerMinute: 8,
      diarizationCreditsPerMinute: 9,
      translationBackend: 'ggml',
      accelerator: 'auto',
      speechDecoder: 'batched',
      compute: 'int8',
      weightCache: 'shared',
      batch: 12,
      voiceActivity: 'energy',
      ffmpeg: '/bin/sh',
      speakers: 'off',
      speakerSegmentation: 'segments',
      speakerEmbedding: 'voices',
      logLevel: 'debug',
      secret: '0123456789abcdef',
      metricsToken: 'token',
    });
  });

  it('reads a size in bytes, or by the letter of its unit', () => {
    const sizeOf = (value: string): unknown => readConfig({ VERBATIM_MODEL_MEMORY: value }, '/package').modelMemory;
    expect(['', '1048576', '1024K', '3m', '2G', '1T'].map(sizeOf)).to.deep.equal([
      null,
      2 ** 20,
      2 ** 20,
      3 * 2 ** 20,
      2 ** 31,
      2 ** 40,
    ]);
    for (const value of ['1', '1023K', '1.5G', '6 G', '6GB', '-1G', 'all', '99999999999T'])
      expect(() => sizeOf(value), value).to.throw(`VERBATIM_MODEL_MEMORY is "${value}"; allowed: a number of bytes`);
  });

  it('names what an address of PostgreSQL may have', () => {
    for (const end of ['', '/', '/ledger?ssl=yes', '/ledger?sslmode=maybe', '/ledger#part']) {
      expect(() => readConfig({ VERBATIM_DATABASE: `postgres://db.internal${end}` }, '/package'), end).to.throw(
        /^VERBATIM_DATABASE is "postgres:\/\/db\.internal.*"; allowed: the path of a file, or postgres:\/\/USER/,
      );
    }
  });

  it('shows the password of no database', () => {
    const bad = { VERBATIM_DATABASE: 'postgres://ann:hunter2-hunter2@db.internal/' };
    expect(() => readConfig(bad, '/package'))
      .to.throw('postgres://ann@db.internal/')
      .with.property('message')
      .that.does.not.contain('hunter2');
    const broken = { VERBATIM_DATABASE: 'postgres://ann:hunter2-hunter2@db.internal:port/ledger' };
    expect(() => readConfig(broken, '/package')).to.throw('"(hidden)"');
  });

  it('wants a key for the port of Wyoming, and shows none', () => {
    const port = { VERBATIM_WYOMING_PORT: '10300' };
    expect(() => readConfig(port, '/package')).to.throw('VERBATIM_WYOMING_KEY is ""; allowed: the API key');
    const key = { VERBATIM_WYOMING_KEY: 'vb_hush' };
    expect(() => readConfig(key, '/package')).to.throw('VERBATIM_WYOMING_KEY is "(hidden)"; allowed: only with');
    const wyoming = { host: '127.0.0.1', port: 10_300, key: 'vb_hush' };
    expect(readConfig({ ...port, ...key }, '/package').wyoming).to.deep.equal(wyoming);
    expect(readConfig({}, '/package').wyoming).to.equal(null);
  });

  for (const [name, value, allowed] of [
    ['VERBATIM_PORT', '65536', 'an integer from 0 to 65535'],
    ['VERBATIM_PORT', '80a', 'an integer from 0 to 65535'],
    ['VERBATIM_DATABASE_CONNECTIONS', '4', 'only with postgres://'],
    ['VERBATIM_DATABASE_CONNECTIONS', '1', 'an integer from 2'],
    ['VERBATIM_AGENT_PORT', 'on', 'an integer from 0 to 65535'],
    ['VERBATIM_WYOMING_PORT', '65536', 'an integer from 0 to 65535'],
    ['VERBATIM_WYOMING_HOST', '0.0.0.0', 'only with VERBATIM_WYOMING_PORT'],
    ['VERBATIM_SLOTS', '0', 'an integer from 1'],
    ['VERBATIM_CREDITS_PER_MINUTE', '1.5', 'an integer from 0'],
    ['VERBATIM_MAX_CONNECTIONS_PER_ADDRESS', '0', 'an integer from 1'],
    ['VERBATIM_TRUST_PROXY', 'true', 'IP addresses, networks such as 10.0.0.0/8'],
    ['VERBATIM_TRUST_PROXY', '1', 'IP addresses, networks'],
    ['VERBATIM_TRUST_PROXY', '10.0.0.0/33', 'IP addresses, networks'],
    ['VERBATIM_TRUST_PROXY', '10.0.0.1,', 'IP addresses, networks'],
    ['VERBATIM_JOB_RETENTION_HOURS', '0', 'an integer from 1'],
    ['VERBATIM_MAX_OPEN_JOBS', '0', 'an integer from 1'],
    ['VERBATIM_LIBRARY_MAX_BYTES', '2 GB', 'a number of bytes, 0 or more, such as 6G'],
    ['VERBATIM_WEBHOOK_ALLOW', 'https://n8n', 'IP addresses, networks such as 10.0.0.0/8 and host names'],
    ['VERBATIM_WEBHOOK_ALLOW', '10.0.0.0/33', 'IP addresses, networks'],
    ['VERBATIM_CORS_ORIGINS', 'app.example.com', '*, or origins such as'],
    ['VERBATIM_CORS_ORIGINS', 'https://app.example.com/', '*, or origins such as'],
    ['VERBATIM_CORS_ORIGINS', '*, https://app.example.com', '*, or origins such as'],
    ['VERBATIM_DEVICE', 'gpu', 'auto, cpu, cuda'],
    ['VERBATIM_ACCEL', 'on', 'auto, float32, off'],
    ['VERBATIM_TRANSLATION_BACKEND', 'abacus', 'auto, ggml, ctranslate2'],
    ['VERBATIM_LOG_LEVEL', 'loud', 'trace, debug'],
  ] as const) {
    it(`names ${name}, the value "${value}" and what is allowed`, () => {
      expect(() => readConfig({ [name]: value }, '/package'))
        .to.throw(ConfigError)
        .with.property('message')
        .that.contains(`${name} is "${value}"; allowed: ${allowed}`);
    });
  }

  it('knows every variable of its list, and the list every one that it reads', () => {
    const asked = new Set<string>();
    const env = new Proxy({}, { get: (_target, name) => void asked.add(String(name)) });
    readConfig(env, '/package');
    expect([...asked].sort()).to.deep.equal([...VARIABLES].sort());
  });

  it('is all that documents name, beside variables of the tests', () => {
    const ofTests = ['VERBATIM_SEED', 'VERBATIM_SOAK_WINDOWS', 'VERBATIM_FUZZ_RUNS'];
    const known = [...VARIABLES, ...Object.keys(RETIRED_VARIABLES), ...BUILD_VARIABLES, ...ofTests];
    for (const document of ['README.md', ...documents()]) {
      const text = readFileSync(join(packageRoot, document), 'utf8');
      expect(
        variablesIn(text).filter((name) => !known.includes(name)),
        document,
      ).to.deep.equal([]);
    }
  });

  for (const [name, nearest] of [
    ['VERBATIM_SLOT', '; the nearest name is VERBATIM_SLOTS.'],
    ['VERBATIM_MAX_AUDIO_SECOND', '; the nearest name is VERBATIM_MAX_AUDIO_SECONDS.'],
    ['VERBATIM_LOGLEVEL', '; the nearest name is VERBATIM_LOG_LEVEL.'],
    ['VERBATIM_COLOUR_OF_THE_SKY', '.'],
  ] as const) {
    it(`refuses ${name}, and does not show its value`, () => {
      expect(() => readConfig({ [name]: 'hunter2' }, '/package'))
        .to.throw(UsageError)
        .with.property('message', `${name} is not a setting of this service${nearest}`);
    });
  }

  for (const [name, value] of [
    ['VERBATIM_PORT', 'tcp://10.96.0.12:8080'],
    ['VERBATIM_SERVICE_HOST', '10.96.0.12'],
    ['VERBATIM_SERVICE_PORT_HTTP', '8080'],
    ['VERBATIM_PORT_8080_TCP_ADDR', '10.96.0.12'],
    ['VERBATIM_API_PORT', 'tcp://10.96.0.12:8080'],
  ] as const) {
    it(`says of ${name}=${value} that Kubernetes has set it, and what helps`, () => {
      expect(() => readConfig({ [name]: value }, '/package'))
        .to.throw(UsageError)
        .with.property('message')
        .that.matches(new RegExp(`^${name} is what Kubernetes sets for a Service.*enableServiceLinks: false`));
    });
  }

  it('lets settings of the build be, and what is not its own', () => {
    const env = { VERBATIM_CUDA: 'ON', VERBATIM_ONEDNN: 'OFF', VERBATIMS: '1', PATH: '/bin' };
    expect(readConfig(env, '/package')).to.deep.equal(readConfig({}, '/package'));
  });

  it('does not print a short secret', () => {
    expect(() => readConfig({ VERBATIM_SECRET: 'hunter2' }, '/package')).to.throw(/^(?!.*hunter2).*VERBATIM_SECRET/s);
  });
});
