/** Which models are used, and how they compute. */
import { expect } from 'chai';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { slotsOn } from '../../../src/service/slots.js';
import { samplePath } from '../../native/support.js';
import { call, transcribe } from '../../support/requests.js';
import { recordingOf } from '../../support/recordings.js';
import { Served, workplace } from '../../support/served.js';
import { until } from '../../support/until.js';
import { answerTo, gauge, loads, makings, settingRefusal } from './effects.js';
import { deafModelsUnder, EMBEDDING, modelsUnder, SEGMENTATION, TOKEN } from './servers.js';
import type { SettingRows } from './servers.js';
import type { Call } from './effects.js';

export const engineRows = {
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
  VERBATIM_AUTO_MODEL: async ({ plain }) => {
    expect((await call(plain, '/readyz')).body).to.include({ next_model: null });
    const searching = await Served.start({ VERBATIM_AUTO_MODEL: 'on', HF_ENDPOINT: 'http://127.0.0.1:9' }).listening();
    await until(() => searching.stderr.includes('http://127.0.0.1:9 cannot be reached'));
    expect((await call(searching, '/readyz')).body['next_model']).to.include({ phase: 'waiting' });
    await searching.stop();
  },
  VERBATIM_MODEL_MEMORY: async ({ set }) => {
    const { status, error } = await answerTo(set, 'en-wav16.wav', [['model', 'verbatim-small']]);
    expect(status).to.equal(503);
    expect(error?.message).to.contain('no memory for the model "verbatim-small"');
    expect((await answerTo(set, 'en-wav16.wav', [['model', 'mine']])).status).to.equal(200);
  },
  VERBATIM_MODEL_IDLE_SECONDS: async () => {
    const directory = workplace();
    const environment = { VERBATIM_MODELS_DIR: modelsUnder(directory), VERBATIM_MODEL_IDLE_SECONDS: '1' };
    const served = await Served.start(environment, directory).listening();
    const answer = await answerTo(served, 'en-wav16.wav', [['model', 'mine']]);
    expect(answer.headers.get('x-model')).to.equal('mine');
    const headers = { authorization: `Bearer ${await served.key()}` };
    await until(async () => {
      const { body } = await call(served, '/v1/models', { headers });
      const models = body['data'] as { id: string; loaded: boolean }[];
      return models.some(({ id, loaded }) => id === 'mine' && !loaded);
    });
    await served.stop();
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
    const unknown = await settingRefusal({ VERBATIM_SPEECH_DECODER: 'fastest' });
    expect(unknown).to.contain('VERBATIM_SPEECH_DECODER is "fastest"; allowed: auto, batched, whisper.cpp.');
  },
  VERBATIM_COMPUTE: async ({ batched }) => {
    expect(batched.calls('loadRecogniser')[0]?.options).to.include({ compute: 'bfloat16' });
    const unused = await settingRefusal({ VERBATIM_SPEECH_DECODER: 'whisper.cpp', VERBATIM_COMPUTE: 'int8' });
    expect(unused).to.contain('VERBATIM_COMPUTE is "int8"; allowed: auto, since the speech decoder is whisper.cpp.');
    const unknown = await settingRefusal({ VERBATIM_COMPUTE: 'float16' });
    expect(unknown).to.contain('allowed: auto, int8, bfloat16, float32.');
  },
  VERBATIM_WEIGHT_CACHE: async () => {
    const optionsWith = async (setting: string): Promise<unknown> => {
      const directory = workplace();
      const environment = { VERBATIM_MODELS_DIR: modelsUnder(directory), VERBATIM_MODEL: 'mine' };
      const served = await Served.start({ ...environment, VERBATIM_WEIGHT_CACHE: setting }, directory).listening();
      const packed = existsSync(join(directory, 'models', 'ggml-mine.bin.packed', 'decoder-int8.weights'));
      const options = served.calls('loadRecogniser')[0]?.options['weightCache'] as
        { alwaysShared: boolean } | undefined;
      await served.stop();
      return { packed, alwaysShared: options?.alwaysShared };
    };
    expect(await optionsWith('on')).to.deep.equal({ packed: true, alwaysShared: false });
    expect(await optionsWith('shared')).to.deep.equal({ packed: true, alwaysShared: true });
    expect(await optionsWith('off')).to.deep.equal({ packed: false, alwaysShared: undefined });
    expect(await settingRefusal({ VERBATIM_WEIGHT_CACHE: '8G' })).to.contain('allowed: on, shared, off.');
  },
  VERBATIM_BATCH: async ({ batched }) => {
    await until(() => batched.stderr.includes('"windowsInFlight":3'));
    const unused = await settingRefusal({ VERBATIM_SPEECH_DECODER: 'whisper.cpp', VERBATIM_BATCH: '8' });
    expect(unused).to.contain('VERBATIM_BATCH is "8"; allowed: nothing, since the speech decoder is whisper.cpp.');
    expect(await settingRefusal({ VERBATIM_BATCH: '65' })).to.contain('an integer from 1 to 64');
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
    expect(await settingRefusal({ ...missing, VERBATIM_VAD: 'silero' })).to.contain(
      'npx verbatim models pull silero-vad',
    );
    expect(await settingRefusal({ VERBATIM_VAD: 'loud' })).to.contain(
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
    expect(await settingRefusal(named)).to.contain(
      `VERBATIM_SPEAKER_EMBEDDING is "${EMBEDDING}"; allowed: nothing, since VERBATIM_SPEAKERS is off.`,
    );
    expect(await settingRefusal({ VERBATIM_SPEAKERS: 'on' })).to.contain('allowed: auto, off.');
  },
  VERBATIM_SPEAKER_SEGMENTATION: async ({ batched }) => {
    await until(() => batched.stderr.includes(`"speakerModels":["segments","voices"]`));
    const missing = await settingRefusal({ VERBATIM_SPEAKER_SEGMENTATION: 'pyannote-segmentation-3.0' });
    expect(missing).to.contain('npx verbatim models pull pyannote-segmentation-3.0');
    const another = await settingRefusal({ VERBATIM_SPEAKER_SEGMENTATION: EMBEDDING });
    expect(another).to.contain(`"${EMBEDDING}" is a speaker embedding model; `);
    expect(another).to.contain('VERBATIM_SPEAKER_SEGMENTATION must name a speaker segmentation model.');
  },
  VERBATIM_SPEAKER_EMBEDDING: async ({ batched }) => {
    await until(() => batched.stderr.includes(`"speakerModels":["segments","voices"]`));
    expect(await settingRefusal({ VERBATIM_SPEAKER_EMBEDDING: 'nobody' })).to.contain('There is no model "nobody"');
    expect(await settingRefusal({ VERBATIM_SPEAKER_EMBEDDING: 'silero-vad' })).to.contain(
      '"silero-vad" is a voice activity model; VERBATIM_SPEAKER_EMBEDDING must name a speaker embedding model.',
    );
  },
  VERBATIM_FFMPEG: async ({ plain, set }) => {
    await until(() => plain.stderr.includes('"msg":"ready"'));
    expect(plain.stderr).to.match(/"ffmpeg":"\d/);
    const runs = join(set.directory, 'my-ffmpeg.runs');
    // It was asked for its version.
    await until(() => existsSync(runs));
    rmSync(runs);
    const recording = readFileSync(recordingOf(samplePath('en-wav16.wav'), join(set.directory, 'a.webm'), []));
    for (const served of [plain, set]) {
      const answer = await transcribe(served, { key: await served.key(), parts: [['audio', recording]] });
      expect(answer.body).to.include({ text: 'Hello Emma, this is Laura.' });
    }
    expect(readFileSync(runs, 'utf8')).to.equal('run\n');
    expect(await settingRefusal({ VERBATIM_FFMPEG: '/nowhere/ffmpeg' })).to.contain(
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
  VERBATIM_TRANSLATION_BACKEND: async ({ plain, set }) => {
    const backends = async (served: Served): Promise<unknown[]> => {
      await answerTo(served, 'en-wav16.wav', [['translate_to', 'es']]);
      return served.calls('loadTranslationModel').map(({ options }) => options['backend']);
    };
    expect(await backends(plain)).to.deep.equal(['auto']);
    expect(await backends(set)).to.deep.equal(['ggml']);
  },
} satisfies SettingRows;
