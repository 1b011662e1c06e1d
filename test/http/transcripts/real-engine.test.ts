/** The whole way: real audio files over real HTTP through the native engine and the bundled model. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadEngine } from '../../../src/service/speech-engine.js';
import { readConfig } from '../../../src/service/config.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { call, transcribe, type Part } from '../../support/requests.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { samples } from '../../support/speech.js';
import { until } from '../../support/until.js';
import { withoutEnd } from '../../support/without-end.js';

const ROOT = join(__dirname, '..', '..', '..');
const SAMPLES = join(ROOT, 'test', 'fixtures', 'audio', 'samples');

const bytesOf = (file: string): Buffer => readFileSync(join(SAMPLES, file));

/** The same speech over and over, as one 16-bit WAV file. */
function repeated(wav: Buffer, times: number): Buffer {
  const start = wav.indexOf('data') + 8;
  const samplesOf = wav.subarray(start, start + wav.readUInt32LE(start - 4));
  const head = Buffer.from(wav.subarray(0, start));
  head.writeUInt32LE(samplesOf.length * times, start - 4);
  head.writeUInt32LE(head.length - 8 + samplesOf.length * times, 4);
  return Buffer.concat([head, ...Array<Buffer>(times).fill(samplesOf)]);
}

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The part of the reference's words that the transcript has. */
function recall(transcript: string, reference: string): number {
  const recognised = new Set(words(transcript));
  const spoken = words(reference);
  return spoken.filter((word) => recognised.has(word)).length / spoken.length;
}

describe('the real engine behind HTTP', () => {
  let server: TestServer<SpeechEngine>;
  let customer: Customer;
  const long = repeated(bytesOf('en-wav16.wav'), 250);

  before(async () => {
    // Words are held against references: they must not hang on what this machine's processor multiplies best.
    const env = { VERBATIM_SLOTS: '1', VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off' };
    const config = readConfig(env, ROOT);
    const roots = { packageRoot: ROOT, modelsDir: config.modelsDir };
    const engine = await loadEngine(config, roots, readManifest(ROOT, config.modelsDir));
    // No time passes: what ends a request is what the test does.
    server = await TestServer.start({ engine, timers: new ManualTimers() });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    customer = await server.customer(100);
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
    expect(server.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
  });

  const send = (parts: Part[], key = customer.key) => transcribe(server, { key, parts });
  const running = (): Promise<void> => until(() => server.engine.stats().busySlots === 1);

  const UNKNOWN = join(ROOT, 'test', 'fixtures', 'audio', 'unknown');
  for (const file of ['en.ogg', 'es.ogg']) {
    it(`unknown/${file}: no text that the model only guesses at, a warning in its place, and no charge`, async () => {
      const bytes = readFileSync(join(UNKNOWN, file));
      const { status, body } = await send([['audio', bytes]]);
      expect(status).to.equal(200);
      expect(body).to.include({ text: '', credits_used: 0, credits_remaining: 100 });
      const [warning, ...others] = body['warnings'] as { code: string; message: string }[];
      expect(others).to.deep.equal([]);
      expect(warning?.code).to.equal('demonstration_model');
      expect(warning?.message).to.contain('"verbatim-small"').and.contain('"npx verbatim models pull" installs');
    });
  }

  for (const { file, language, text, seconds } of samples()) {
    it(`${file}: language, words and duration`, async () => {
      const { status, body, headers } = await send([['audio', bytesOf(file)]]);
      expect(status).to.equal(200);
      expect(body).to.include({ language, credits_used: 1, credits_remaining: 99 });
      const warnings = body['warnings'] as { code: string; message: string }[];
      expect(warnings.map(({ code }) => code)).to.deep.equal(['demonstration_model']);
      expect(body['duration_sec']).to.be.closeTo(seconds, 0.1);
      expect(recall(body['text'] as string, text), body['text'] as string).to.be.at.least(0.6);
      expect(headers.get('server-timing')).to.match(/, speech;dur=[1-9]\d*\.\d, /);
    });
  }

  it('punctuate=false, with the language given', async () => {
    const parts: Part[] = [
      ['audio', bytesOf('en-wav16.wav')],
      ['language', 'eng'],
      ['punctuate', 'false'],
    ];
    const { body } = await send(parts);
    expect(body['text']).to.match(/^[a-z0-9]+( [a-z0-9']+)*$/);
  });

  it('decides by content: text is no audio, half a header is broken audio', async () => {
    const wav = bytesOf('en-wav16.wav');
    const cases: [Buffer, number, string][] = [
      [Buffer.from('just some text'), 415, 'unsupported_audio_format'],
      [wav.subarray(0, 44), 422, 'invalid_audio'],
    ];
    for (const [bytes, expected, code] of cases) {
      const { status, error } = await send([['audio', bytes]]);
      expect({ status, code: error?.code }).to.deep.equal({ status: expected, code });
    }
    expect(await server.balance(customer)).to.equal(100);
  });

  describe('a file without end', () => {
    let bounded: () => void;
    beforeEach(() => {
      bounded = withoutEnd(server.engine);
    });
    afterEach(() => bounded());

    it('a client that hangs up frees its slot', async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const gone = transcribe(server, { key: customer.key, parts: [['audio', long]], signal }).catch(() => null);
      await running();
      controller.abort();
      await until(() => server.engine.stats().busySlots === 0 && server.uploads().length === 0);
      await gone;
      expect(await server.balance(customer)).to.equal(100);
    });

    it('a key revoked during inference and while queued: 401 at once, uncharged', async () => {
      const other = await server.customer(100);
      const inference = send([['audio', long]]);
      await running();
      const queued = send([['audio', long]], other.key);
      await until(async () => (await server.balance(other)) < 100); // held: it waits for the slot
      for (const [owner, request] of [
        [other, queued],
        [customer, inference],
      ] as const) {
        const init = { method: 'DELETE', headers: bearer(owner.managementKey) };
        expect((await call(server, `/api/v1/keys/${owner.key.id}`, init)).status).to.equal(200);
        const { status, error } = await request;
        expect({ status, code: error?.code }).to.deep.equal({ status: 401, code: 'invalid_api_key' });
        expect(await server.balance(owner)).to.equal(100);
      }
      await until(() => server.engine.stats().busySlots === 0);
    });
  });

  it('a server that drains aborts a long file when its patience ends', async () => {
    const config = readConfig({ VERBATIM_SLOTS: '1', VERBATIM_DEVICE: 'cpu' }, ROOT);
    const roots = { packageRoot: ROOT, modelsDir: config.modelsDir };
    const engine = await loadEngine(config, roots, readManifest(ROOT, config.modelsDir));
    withoutEnd(engine);
    const timers = new ManualTimers();
    const draining = await TestServer.start({ engine, timers });
    const payer = await draining.customer();
    const request = transcribe(draining, { key: payer.key, parts: [['audio', long]] });
    await until(() => engine.stats().busySlots === 1);
    const closed = draining.close(100);
    timers.pass(100);
    expect((await request).error?.code).to.equal('shutting_down');
    await closed;
    expect(await draining.balance(payer)).to.equal(100);
    await draining.dispose();
  });
});
