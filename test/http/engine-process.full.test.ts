/** The service on its own model with the engine in a process of its own, which is killed: what clients notice of it. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../src/engine/types.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import type { AcquireEngines, SpeechOfModel, SpeechRequest } from '../../src/transcription/engine-lease.js';
import { DEADLY_VARIABLE, GATE_VARIABLE } from '../support/deadly-files.js';
import { startEngineProcess, strike, type EngineProcess } from '../support/engine-process.js';
import { EventReader, joinedDeltas } from '../support/event-reader.js';
import { endedJob, postJob } from '../support/jobs.js';
import { overriding } from '../support/overriding.js';
import { call, form, transcribe, type Answer } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { pause, pcmOfSample, sample, wavOf } from '../support/speech.js';

const CLIPS = ['en-wav16.wav', 'de-flac.flac', 'es-vbr.mp3'].map((file) => readFileSync(sample(file).path));
const CREDITS = 1000;

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('HTTP: an engine in a process of its own', () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-deadly-'));
  const deadly = join(directory, 'deadly.json');
  const gate = join(directory, 'gate');
  let process_: EngineProcess;
  let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
  let customer: Customer;
  let undisturbed: string[];
  /** Called when the process has been asked for one more file, and can have done nothing of it. */
  let atTranscription: (() => void) | undefined;
  /** Called when the process has been asked for a translation, and can have done nothing of it. */
  let atTranslation: (() => void) | undefined;

  const asking = (engine: SpeechOfModel): SpeechOfModel =>
    overriding(engine, {
      transcribe: (...asked: Parameters<SpeechEngine['transcribe']>) => {
        const transcribed = engine.transcribe(...asked);
        atTranscription?.();
        return transcribed;
      },
    });

  const reporting = (translator: TextTranslator | undefined): TextTranslator | undefined =>
    translator &&
    overriding(translator, {
      translate: (input: Parameters<TextTranslator['translate']>[0]) => {
        const translated = translator.translate(input);
        atTranslation?.();
        return translated;
      },
    });
  /**
   * Once the process is asked for the so manyeth file from now, it dies of the signal, which is known when this is
   * fulfilled.
   */
  const struckAt = (signal: NodeJS.Signals, file: number): Promise<void> =>
    new Promise((resolve, reject) => {
      let asked = 0;
      atTranscription = () => {
        if ((asked += 1) < file) return;
        atTranscription = undefined;
        strike(process_, signal).then(resolve, reject);
      };
    });
  const post = (clip: Buffer, fields: readonly [string, string][] = []): Promise<Answer> =>
    transcribe(server, { key: customer.key.rawKey, parts: [['audio', clip], ...fields] });
  const clip = (index: number): Buffer => CLIPS[index % CLIPS.length]!;
  const textOf = ({ status, body, text }: Answer): unknown => (status === 200 ? body['text'] : text);
  const spent = async (): Promise<number> => CREDITS - (await server.balance(customer));
  const ledgerAgrees = async (): Promise<void> => {
    expect(await server.ledger.audit()).to.deep.equal([]);
  };

  before(async () => {
    writeFileSync(deadly, '{}');
    Object.assign(process.env, { [DEADLY_VARIABLE]: deadly, [GATE_VARIABLE]: gate });
    process_ = await startEngineProcess();
    for (const name of [DEADLY_VARIABLE, GATE_VARIABLE]) Reflect.deleteProperty(process.env, name);
    const { engines } = process_;
    const acquire: AcquireEngines = (model) => {
      const lease = engines.acquire(model);
      const speech = async (request: SpeechRequest) => asking(await lease.speech(request));
      return { ...lease, speech, translator: reporting(lease.translator) };
    };
    server = await TestServer.start({ engine: engines.speech, engines: { ...engines, acquire } });
    customer = await server.customer(CREDITS);
    const answers = await Promise.all(CLIPS.map((one) => post(one)));
    undisturbed = answers.map((answer) => String(textOf(answer)));
  });
  after(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  it('reports the settings that the server has, and not those that are kept from it', () => {
    expect(process_.engines.info.config).to.deep.equal(process_.config);
  });

  it('answers with what the model recognises', async () => {
    expect(undisturbed[0]).to.equal(sample('en-wav16.wav').text);
    expect(await spent()).to.equal(CLIPS.length);
    const { text } = await call(server, '/metrics');
    expect(text).to.match(/^verbatim_slots 2$/m);
  });

  for (const signal of ['SIGKILL', 'SIGSEGV', 'SIGSTOP'] as const) {
    it(`answers all that it is asked though it gets ${signal}, each once and with the same text`, async () => {
      const before = await spent();
      const asked = Array.from({ length: 8 }, (_, index) => index);
      const struck = struckAt(signal, asked.length / 2);
      const answers = asked.map((index) => post(clip(index)));
      await struck;
      const texts = (await Promise.all(answers)).map(textOf);
      expect(texts).to.deep.equal(asked.map((index) => undisturbed[index % CLIPS.length]));
      expect((await spent()) - before).to.equal(asked.length);
      expect(process_.deaths.at(-1)).to.equal(signal === 'SIGSTOP' ? 'unresponsive' : signal);
      await ledgerAgrees();
    });
  }

  it('goes on with a stream where it was: no piece comes twice, none is missing', async () => {
    const windows = wavOf(Buffer.concat(Array.from({ length: 30 }, () => [pcmOfSample(), pause(0.1)]).flat()));
    const alone = await post(windows);
    const body = form([
      ['file', windows],
      ['model', 'whisper-1'],
      ['stream', 'true'],
    ]);
    const init = { headers: bearer(customer.key), body };
    const reader = await EventReader.open(server, '/v1/audio/transcriptions', init);
    const first = await reader.next();
    expect(first?.event).to.equal('transcript.text.delta');
    await strike(process_, 'SIGKILL');
    const events = [first!, ...(await reader.rest())];
    expect(joinedDeltas(events)).to.equal(textOf(alone));
    expect(events.at(-1)?.data).to.include({ type: 'transcript.text.done', text: textOf(alone) });
    expect(process_.logs.at(-1)!['requestIds']).to.deep.equal([reader.response.headers.get('x-request-id')]);
    await ledgerAgrees();
  });

  it('translates though it dies of it, once', async () => {
    const fields: [string, string][] = [['translate_to', 'en']];
    const alone = await post(clip(2), fields);
    const before = await spent();
    const deaths = process_.deaths.length;
    atTranslation = () => {
      atTranslation = undefined;
      process.kill(process_.engines.pids[0] ?? 0, 'SIGKILL');
    };
    const { status, headers, body } = await post(clip(2), fields);
    expect(status).to.equal(200);
    expect(body['translation']).to.deep.equal(alone.body['translation']);
    expect(process_.deaths.slice(deaths)).to.deep.equal(['SIGKILL']);
    expect(process_.logs.at(-1)!['requestIds']).to.deep.equal([headers.get('x-request-id')]);
    expect((await spent()) - before).to.equal(1);
    await ledgerAgrees();
  });

  it('does a job though it dies of it, once', async () => {
    const before = await spent();
    const struck = struckAt('SIGKILL', 1);
    const { status, body } = await postJob(server, customer.key, [['audio', clip(1)]]);
    expect(status).to.equal(202);
    const id = String(body['id']);
    await struck;
    const { status: end, result } = await endedJob(server, customer.key, id);
    expect(end).to.equal('succeeded');
    expect(result).to.include({ text: undisturbed[1] });
    expect(process_.logs.at(-1)!['requestIds']).to.deep.equal([id]);
    expect((await spent()) - before).to.equal(1);
    await ledgerAgrees();
  });

  it('says in the log which requests were in it, and counts its deaths by their reason', async () => {
    const { requestIds, how, reason } = process_.logs[1]!;
    expect(reason).to.equal('SIGSEGV');
    expect(how).to.contain('SIGSEGV');
    expect(requestIds).to.be.an('array').that.is.not.empty;
    for (const id of requestIds as string[]) expect(id).to.match(/^req_/);
    expect(await process_.metrics.text()).to.contain('verbatim_engine_restarts_total{reason="SIGSEGV"} 1');
  });

  it('is not ready while none runs, and lets requests wait meanwhile', async () => {
    writeFileSync(gate, '');
    await strike(process_, 'SIGKILL');
    const answer = post(clip(0));
    const readiness = await call(server, '/readyz');
    expect(readiness.status).to.equal(503);
    expect(readiness.body['checks']).to.include({ model_loaded: false });
    rmSync(gate);
    expect(textOf(await answer)).to.equal(undisturbed[0]);
    expect((await call(server, '/readyz')).status).to.equal(200);
  });

  it('refuses a file that kills it, after it died of that alone, uncharged, and then at once; others are answered', async () => {
    const before = await spent();
    const poison = Buffer.concat([clip(0), Buffer.from('poison')]);
    writeFileSync(deadly, JSON.stringify({ [sha256(poison)]: 'SIGSEGV' }));
    const poisoned = post(poison);
    const others = [0, 1, 2, 3, 4].map((index) => post(clip(index)));
    const { status, error } = await poisoned;
    expect(status).to.equal(500);
    expect(error).to.include({ code: 'internal_error' });
    const texts = (await Promise.all(others)).map(textOf);
    expect(texts).to.deep.equal([0, 1, 2, 3, 4].map((index) => undisturbed[index % CLIPS.length]));
    const deaths = process_.deaths.length;
    const again = await post(poison);
    expect(again.status).to.equal(422);
    expect(again.error).to.include({ code: 'invalid_audio', param: 'audio' });
    expect(again.error?.message).to.match(/not taken for another (59|60) min/);
    expect(process_.deaths).to.have.length(deaths);
    expect((await spent()) - before).to.equal(5);
    await ledgerAgrees();
    expect(server.uploads()).to.deep.equal([]);
  });

  it('fails a job that kills it, uncharged, and takes its file for nothing else', async () => {
    const before = await spent();
    const poison = Buffer.concat([clip(2), Buffer.from('poisoned job')]);
    writeFileSync(deadly, JSON.stringify({ [sha256(poison)]: 'SIGSEGV' }));
    const { body } = await postJob(server, customer.key, [['audio', poison]]);
    const { status, error } = await endedJob(server, customer.key, String(body['id']));
    expect(status).to.equal('failed');
    expect(error).to.include({ code: 'internal_error' });
    expect((error as { message: string }).message).to.match(
      /The engine broke down each time it worked on this request/,
    );
    const deaths = process_.deaths.length;
    const again = await postJob(server, customer.key, [['audio', poison]]);
    expect([again.status, again.error?.code]).to.deep.equal([422, 'invalid_audio']);
    expect((await post(poison)).status).to.equal(422);
    expect(process_.deaths).to.have.length(deaths);
    expect(await spent()).to.equal(before);
    await ledgerAgrees();
  });
});
