/** OpenAI's own client, unmodified, in two versions: every method of its audio, over real HTTP with the real engine. */
/* eslint @typescript-eslint/no-deprecated: 'off' -- clients go on calling what the SDK deprecates. */
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import OpenAiYearOld from 'openai-year-old';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { packageRoot } from '../../../src/package-root.js';
import { compressionRatio } from '../../../src/transcription/described.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { loadTranslator, type RealTranslator } from '../../support/real-translator.js';
import { TestServer, type Customer } from '../../support/server.js';
import { pcmOfSample, wavOf } from '../../support/speech.js';
import { until } from '../../support/until.js';
import { withoutEnd } from '../../support/without-end.js';

const SAMPLES = join(packageRoot, 'test', 'fixtures', 'audio', 'samples');
const ENGLISH = join(SAMPLES, 'en-wav16.wav');
const TEXT = 'Hello Emma, this is Laura.';

describe("OpenAI's client", () => {
  let server: TestServer<SpeechEngine>;
  let translator: RealTranslator;
  let customer: Customer;

  before(async () => {
    translator = loadTranslator();
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }), translator });
  });
  after(async () => {
    await server.dispose();
    await translator.close();
  });
  beforeEach(async () => {
    customer = await server.customer(100);
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
  });

  for (const [version, Client] of [
    ['a recent one', OpenAI],
    ['a year old', OpenAiYearOld as unknown as typeof OpenAI],
  ] as const) {
    describe(version, () => {
      let openai: OpenAI;
      beforeEach(() => {
        openai = new Client({ apiKey: customer.key.rawKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
      });
      const file = () => createReadStream(ENGLISH);
      const model = 'whisper-1';

      it('json, of a stream and of a buffer without a name', async () => {
        const recognised = await openai.audio.transcriptions.create({ file: file(), model });
        expect(recognised.text).to.equal(TEXT);
        expect((recognised as unknown as { usage: object }).usage).to.deep.equal({ type: 'duration', seconds: 3 });
        const unnamed = await toFile(readFileSync(ENGLISH), 'blob', { type: 'application/x-nothing' });
        const again = await openai.audio.transcriptions.create({ file: unnamed, model: 'gpt-4o-transcribe' });
        expect(again.text).to.equal(TEXT);
        expect(await server.balance(customer)).to.equal(98);
      });

      it('text, srt and vtt are strings', async () => {
        const as = (response_format: 'text' | 'srt' | 'vtt') =>
          openai.audio.transcriptions.create({ file: file(), model, response_format });
        expect(await as('text')).to.equal(`${TEXT}\n`);
        expect(await as('srt')).to.match(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nHello Emma, this is Laura\.\n/);
        expect(await as('vtt')).to.match(/^WEBVTT\n\n00:00:0\d\.\d{3} --> /);
      });

      it('verbose_json has segments with all that they were decoded to', async () => {
        const recognised = await openai.audio.transcriptions.create({
          ...{ file: file(), model, language: 'en' },
          ...{ response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
        });
        expect(recognised).to.include({ language: 'english', text: TEXT });
        const segments = recognised.segments!;
        expect(
          segments
            .map(({ text }) => text)
            .join('')
            .trim(),
        ).to.equal(TEXT);
        for (const [index, segment] of segments.entries()) {
          expect(Object.keys(segment)).to.have.members([
            ...['id', 'seek', 'start', 'end', 'text', 'tokens', 'temperature'],
            ...['avg_logprob', 'compression_ratio', 'no_speech_prob'],
          ]);
          expect(segment).to.include({ id: index, temperature: 0 });
          expect(segment.seek)
            .to.be.at.least(0)
            .and.at.most(segment.start * 100);
          expect(segment.avg_logprob).to.be.below(0).and.above(-1);
          expect(segment.no_speech_prob).to.be.above(0).and.below(0.6);
          expect(segment.compression_ratio).to.equal(compressionRatio(segment.text));
          expect(segment.tokens.filter((id) => id < 50257)).to.have.length.above(3);
          expect(segment.start).to.be.below(segment.end);
        }
        expect(recognised.words!.map(({ word }) => word)).to.deep.equal(['Hello', 'Emma', 'this', 'is', 'Laura']);
        for (const { start, end } of recognised.words!) expect(start).to.be.at.most(end);
      });

      it('verbose_json has what was asked for only', async () => {
        const as = (timestamp_granularities?: ('word' | 'segment')[]) =>
          openai.audio.transcriptions.create({
            ...{ file: file(), model, response_format: 'verbose_json' as const },
            ...(timestamp_granularities ? { timestamp_granularities } : {}),
          });
        expect(await as())
          .to.include.keys('segments')
          .and.not.to.include.keys('words');
        expect(await as(['word']))
          .to.include.keys('words')
          .and.not.to.include.keys('segments');
      });

      it('stream: pieces that joined are the text, then the whole', async () => {
        const audio = [file(), createReadStream(join(packageRoot, 'models', 'bundled', 'sample-es.flac'))];
        for (const [index, expected] of [TEXT, 'Hoy es domingo, dieciocho de mayo.'].entries()) {
          const stream = await openai.audio.transcriptions.create({
            ...{ file: audio[index]!, model, stream: true },
          });
          const events: OpenAI.Audio.TranscriptionStreamEvent[] = [];
          for await (const event of stream) events.push(event);
          const deltas = events.flatMap((event) => ('delta' in event ? event.delta : []));
          expect(deltas.join('')).to.equal(expected);
          expect(events.at(-1)).to.include({ type: 'transcript.text.done', text: expected, credits_used: 1 });
        }
      });

      it('translates into English', async () => {
        const spanish = () => createReadStream(join(packageRoot, 'models', 'bundled', 'sample-es.flac'));
        const plain = await openai.audio.translations.create({ file: spanish(), model });
        expect(plain.text).to.equal('Today is Sunday, the eighteenth of May.');
        const response_format = 'verbose_json';
        const verbose = await openai.audio.translations.create({ file: spanish(), model, response_format });
        expect(verbose).to.include({ language: 'english', text: plain.text, task: 'translate' });
        const [segment] = (verbose as OpenAI.Audio.TranslationVerbose).segments!;
        expect(segment).to.deep.include({ text: plain.text, tokens: [] });
        expect(segment!.avg_logprob).to.be.below(0);
        const srt = await openai.audio.translations.create({
          file: spanish(),
          model,
          response_format: 'srt',
        });
        expect(srt).to.contain(plain.text);
      });

      it('lists and knows the model that is served', async () => {
        const ids = (await openai.models.list()).data.map(({ id }) => id);
        expect(ids).to.deep.equal(['verbatim-small']);
        expect(await openai.models.retrieve('verbatim-small')).to.include({
          object: 'model',
          owned_by: 'verbatim',
        });
        expect((await openai.models.retrieve('whisper-1')).id).to.equal('verbatim-small');
      });

      it('raises its typed errors, and repeats none that are final', async () => {
        const failure = async (work: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> =>
          Promise.resolve(work).then(
            () => expect.fail('answered'),
            (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
          );
        const patient = new Client({ apiKey: customer.key.rawKey, baseURL: `${server.url}/v1` });
        const before = server.logs.length;
        const broken = await failure(
          patient.audio.transcriptions.create({
            file: await toFile(Buffer.from('no audio'), 'a.wav'),
            model,
          }),
        );
        expect(broken).to.be.instanceOf(Client.BadRequestError);
        expect(broken).to.include({ status: 400, code: 'invalid_file_format', param: 'file' });
        expect(broken).to.include({ type: 'invalid_request_error' });
        expect(broken.requestID).to.match(/^req_/);
        const other = await failure(patient.audio.transcriptions.create({ file: file(), model: 'large-v3' }));
        expect(other).to.be.instanceOf(Client.NotFoundError);
        expect(other).to.include({ code: 'model_not_found', param: 'model' });
        expect(other.message).to.contain('There is no speech model "large-v3"; installed: verbatim-small.');
        expect(await failure(patient.models.retrieve('none/such'))).to.be.instanceOf(Client.NotFoundError);
        const stranger = new Client({ apiKey: 'vb_nobody', baseURL: `${server.url}/v1` });
        expect(await failure(stranger.models.list())).to.be.instanceOf(Client.AuthenticationError);
        const poor = await server.customer(0);
        const unpaid = new Client({ apiKey: poor.key.rawKey, baseURL: `${server.url}/v1` });
        const upload = await toFile(readFileSync(ENGLISH), 'a.wav');
        const refused = await failure(unpaid.audio.transcriptions.create({ file: upload, model }));
        expect(refused).to.be.instanceOf(Client.RateLimitError);
        expect(refused).to.include({ code: 'insufficient_quota', type: 'insufficient_quota' });
        expect(server.logs.slice(before).filter(({ status }) => status !== undefined)).to.have.length(5);
        expect(await server.balance(customer)).to.equal(100);
      });

      it('an abort frees the slot, uncharged', async () => {
        const bounded = withoutEnd(server.engine);
        try {
          const controller = new AbortController();
          // So long that it is at work whenever somebody looks.
          const long = wavOf(Buffer.concat(Array<Buffer>(250).fill(pcmOfSample())));
          const gone = openai.audio.transcriptions
            .create({ file: await toFile(long, 'long.wav'), model }, { signal: controller.signal })
            .then(
              () => null,
              (error: unknown) => error,
            );
          await until(() => server.engine.stats().busySlots === 1);
          controller.abort();
          expect(await gone).to.be.instanceOf(Client.APIUserAbortError);
          await until(() => server.engine.stats().busySlots === 0 && server.uploads().length === 0);
          expect(await server.balance(customer)).to.equal(100);
        } finally {
          bounded();
        }
      });
    });
  }
});
