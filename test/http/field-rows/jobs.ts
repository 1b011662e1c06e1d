/** The fields of jobs. */
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, jobCall, postJob } from '../../support/jobs.js';
import { type Answer, type Part } from '../../support/requests.js';
import { until } from '../../support/until.js';
import { WebhookListener, type ReceivedMessage } from '../../support/webhook-listener.js';
import { AUDIO, type FieldFixture, type FieldRows } from './field-fixture.js';

export function jobRows(fixture: FieldFixture): FieldRows {
  const result = async (...parts: Part[]): Promise<Record<string, unknown>> => {
    const { body } = await postJob(fixture.server, fixture.customer.key, parts);
    return (await endedJob(fixture.server, fixture.customer.key, String(body['id'])))['result'] as Record<
      string,
      unknown
    >;
  };
  const jobs = (query = ''): Promise<Answer> => jobCall(fixture.server, fixture.customer.key, query);
  const idsOf = ({ body }: Answer): string[] => (body['jobs'] as { id: string }[]).map(({ id }) => id);
  /** The messages that report the end of a job. */
  const reported = async (...parts: Part[]): Promise<ReceivedMessage> => {
    const listener = await WebhookListener.start();
    try {
      await postJob(fixture.server, fixture.customer.key, [AUDIO, ['webhook_url', listener.url], ...parts]);
      await until(() => listener.received.length > 0);
      return listener.received[0]!;
    } finally {
      await listener.close();
    }
  };

  return {
    'POST /api/v1/jobs audio': async () => {
      expect(await result(AUDIO)).to.include({ text: 'Hello, World.', duration_sec: 3 });
      expect(await result(['audio', fakeAudio(4, { text: 'Other words.' })])).to.include({
        text: 'Other words.',
      });
    },
    'POST /api/v1/jobs model': async () => {
      const sent = (model: string): Promise<Answer> =>
        postJob(fixture.server, fixture.customer.key, [AUDIO, ['model', model]]);
      const { body } = await sent('fake');
      expect((await jobs(`/${String(body['id'])}`)).body).to.include({ model: 'fake' });
      expect((await sent('other')).error).to.include({ code: 'unsupported_model' });
    },
    'POST /api/v1/jobs language': async () => {
      expect(await result(AUDIO, ['language', 'deu'])).to.include({ language: 'de' });
    },
    'POST /api/v1/jobs translate_to': async () => {
      expect(await result(AUDIO)).not.to.have.property('translation');
      expect(await result(AUDIO, ['translate_to', 'en'])).to.have.property('translation');
    },
    'POST /api/v1/jobs punctuate': async () => {
      expect(await result(AUDIO, ['punctuate', 'off'])).to.include({ text: 'hello world' });
    },
    'POST /api/v1/jobs diarize': async () => {
      expect(await result(AUDIO)).not.to.have.property('words');
      expect(await result(AUDIO, ['diarize', '1'])).to.have.nested.property('words[0].speaker');
    },
    'POST /api/v1/jobs num_speakers': async () => {
      await result(AUDIO, ['diarize', '1'], ['num_speakers', '3']);
      expect(fixture.diarizer.asked.at(-1)).to.include({ minSpeakers: 3, maxSpeakers: 3 });
    },
    'POST /api/v1/jobs min_speakers': async () => {
      await result(AUDIO, ['diarize', '1'], ['min_speakers', '2']);
      expect(fixture.diarizer.asked.at(-1)).to.include({ minSpeakers: 2 });
    },
    'POST /api/v1/jobs max_speakers': async () => {
      await result(AUDIO, ['diarize', '1'], ['max_speakers', '4']);
      expect(fixture.diarizer.asked.at(-1)).to.include({ maxSpeakers: 4 });
    },
    'POST /api/v1/jobs timestamps': async () => {
      expect(await result(AUDIO)).not.to.have.any.keys('segments', 'words');
      expect(await result(AUDIO, ['timestamps', 'word'])).to.include.keys('segments', 'words');
    },
    'POST /api/v1/jobs format': async () => {
      expect(await result(AUDIO)).not.to.have.property('formatted');
      expect((await result(AUDIO, ['format', 'vtt']))['formatted']).to.match(/^WEBVTT\n/);
    },
    'POST /api/v1/jobs prompt': async () => {
      await result(AUDIO, ['prompt', 'Grace Hopper']);
      expect(fixture.server.engine.prompts.at(-1)).to.equal('Grace Hopper');
    },
    'POST /api/v1/jobs webhook_url': async () => {
      const event = await reported();
      expect(JSON.parse(event.body)).to.deep.include({ type: 'job.succeeded' });
    },
    'POST /api/v1/jobs webhook_secret': async () => {
      const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
      const { body, headers } = await reported(['webhook_secret', secret]);
      expect(new Webhook(secret).verify(body, headers)).to.deep.include({ type: 'job.succeeded' });
    },
    'POST /api/v1/jobs Idempotency-Key': async () => {
      const once = (): Promise<Answer> =>
        postJob(fixture.server, fixture.customer.key, [AUDIO], { 'idempotency-key': 'a job once' });
      const [first, again] = [await once(), await once()];
      expect(again.body).to.deep.equal(first.body);
      expect(again.headers.get('idempotency-replayed')).to.equal('true');
    },
    'GET /api/v1/jobs status': async () => {
      await result(AUDIO);
      expect(idsOf(await jobs('?status=succeeded'))).not.to.have.length(0);
      expect(idsOf(await jobs('?status=cancelled'))).to.have.length(0);
    },
    'GET /api/v1/jobs limit': async () => {
      await result(AUDIO);
      await result(AUDIO);
      expect(idsOf(await jobs('?limit=1'))).to.have.length(1);
      expect(idsOf(await jobs('?limit=2'))).to.have.length(2);
    },
    'GET /api/v1/jobs cursor': async () => {
      await result(AUDIO);
      await result(AUDIO);
      const [, second] = idsOf(await jobs());
      const { next_cursor: cursor } = (await jobs('?limit=1')).body;
      expect(idsOf(await jobs(`?limit=1&cursor=${String(cursor)}`))).to.deep.equal([second]);
    },
    'GET /api/v1/jobs/{id} id': async () => {
      await result(AUDIO);
      const [id] = idsOf(await jobs());
      expect((await jobs(`/${id}`)).body).to.include({ id });
      expect((await jobs(`/${id}x`)).status).to.equal(404);
    },
    'DELETE /api/v1/jobs/{id} id': async () => {
      await result(AUDIO);
      const [id, kept] = idsOf(await jobs());
      expect((await jobCall(fixture.server, fixture.customer.key, `/${id}`, { method: 'DELETE' })).body).to.include({
        id,
      });
      expect(idsOf(await jobs())[0]).to.equal(kept);
    },
  };
}
