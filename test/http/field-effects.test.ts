/** Every field that the document lets a request have changes something; one without a row here fails. */
import { expect } from 'chai';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { Webhook } from 'standardwebhooks';
import { fakeAudio } from '../support/fake-engine.js';
import { endedJob, jobCall, postJob } from '../support/jobs.js';
import { call, form, transcribe, type Answer, type Part } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';
import { WebhookListener, type HeardMessage } from '../support/webhook-listener.js';

interface Named {
  $ref: string;
}
interface Operation {
  parameters?: Named[];
  requestBody?: { content: Record<string, { schema: Named }> };
}
type Item = Partial<Record<'get' | 'post' | 'delete', Operation>> & { parameters?: Named[] };

const document = openApiDocument('test') as unknown as {
  paths: Record<string, Item>;
  components: {
    parameters: Record<string, { name: string }>;
    schemas: Record<string, { properties: object }>;
  };
};
const nameOf = ({ $ref }: Named): string => $ref.split('/').at(-1)!;

interface Field {
  method: string;
  path: string;
  name: string;
}

function fieldsOf(path: string, method: string, operation: Operation, item: Item): Field[] {
  const { parameters, schemas } = document.components;
  const named = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(
    (parameter) => parameters[nameOf(parameter)]!.name,
  );
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const members = bodies.flatMap(({ schema }) => Object.keys(schemas[nameOf(schema)]!.properties));
  return [...named, ...members].map((name) => ({ method: method.toUpperCase(), path, name }));
}

const fields = Object.entries(document.paths).flatMap(([path, item]) =>
  (['get', 'post', 'delete'] as const).flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : fieldsOf(path, method, operation, item);
  }),
);

describe('every field of a request acts', () => {
  let server: TestServer;
  let customer: Customer;
  const diarizer = new FakeDiarizer();
  before(async () => {
    server = await TestServer.start({ diarizer, settings: { webhookAllow: ['127.0.0.1'] } });
    customer = await server.customer();
  });
  after(() => server.dispose());

  const audio: Part = ['audio', fakeAudio(3)];
  const send = (...parts: Part[]): Promise<Answer> => transcribe(server, { key: customer.key, parts });
  const manage = (path: string, init: { method?: string; body?: string } = {}): Promise<Answer> =>
    call(server, path, {
      ...init,
      headers: { ...bearer(customer.managementKey), 'content-type': 'application/json' },
    });
  const makeKey = async (name: string): Promise<string> =>
    String((await manage('/api/v1/keys', { method: 'POST', body: JSON.stringify({ name }) })).body['id']);
  const namesOf = async (): Promise<Map<string, unknown>> => {
    const { keys } = (await manage('/api/v1/keys')).body as { keys: Record<string, string>[] };
    return new Map(keys.map((key) => [key['name']!, key['revoked_at']]));
  };

  /** Of operators, by the ends of their paths. */
  function adminRows(): Record<string, () => Promise<void>> {
    const ask = async (path: string, method = 'GET', body?: object): Promise<Answer> => {
      const { account } = await server.customer(0);
      const key = await server.ledger.createKey({ accountId: account.id, name: 'admin', scopes: ['admin'] });
      const headers = { ...bearer(key), 'content-type': 'application/json' };
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      return call(server, `/api/v1/admin${path}`, init);
    };
    const somebody = async (): Promise<string> => (await server.customer(5)).account.id;
    const grant = async (body: object): Promise<Answer> =>
      ask(`/accounts/${await somebody()}/credits`, 'POST', { amount: 1, ...body });
    const byId = (method: string, end: string, body?: object) => async (): Promise<void> => {
      const id = await somebody();
      expect((await ask(`/accounts/${id}${end}`, method, body)).text).to.contain(id);
      expect((await ask(`/accounts/acc_none${end}`, method, body)).error?.code).to.equal('account_not_found');
    };
    const usedBy = async (count: number): Promise<Customer[]> => {
      const used = [];
      for (let n = 0; n < count; n++) used.push(await server.customer(5));
      for (const { key } of used) await transcribe(server, { key, parts: [['audio', fakeAudio(3)]] });
      return used;
    };
    const usage = async (query: string): Promise<Record<string, unknown>[]> =>
      (await ask(`/usage?${query}`)).body['usage'] as Record<string, unknown>[];
    const later = 'from=2999-01-01&to=2999-01-02';
    const ACCOUNTS = '/api/v1/admin/accounts';
    return {
      [`GET ${ACCOUNTS} limit`]: async () => {
        await somebody();
        for (const limit of [1, 2]) {
          expect((await ask(`/accounts?limit=${limit}`)).body['accounts']).to.have.length(limit);
        }
      },
      [`GET ${ACCOUNTS} cursor`]: async () => {
        await somebody();
        const first = (await ask('/accounts?limit=1')).body;
        const second = (await ask(`/accounts?limit=1&cursor=${String(first['next_cursor'])}`)).body;
        expect(second['accounts']).not.to.deep.equal(first['accounts']);
      },
      [`POST ${ACCOUNTS} email`]: async () => {
        expect((await ask('/accounts', 'POST', { email: 'f@example.org' })).body['email']).to.equal(
          'f@example.org',
        );
      },
      [`POST ${ACCOUNTS} name`]: async () => {
        const made = await ask('/accounts', 'POST', { email: 'g@example.org', name: 'G' });
        expect(made.body['name']).to.equal('G');
      },
      [`GET ${ACCOUNTS}/{id} id`]: byId('GET', ''),
      [`DELETE ${ACCOUNTS}/{id} id`]: byId('DELETE', ''),
      [`POST ${ACCOUNTS}/{id}/suspend id`]: byId('POST', '/suspend'),
      [`POST ${ACCOUNTS}/{id}/resume id`]: byId('POST', '/resume'),
      [`GET ${ACCOUNTS}/{id}/export id`]: byId('GET', '/export'),
      [`POST ${ACCOUNTS}/{id}/credits id`]: byId('POST', '/credits', { amount: 1 }),
      [`POST ${ACCOUNTS}/{id}/credits amount`]: async () => {
        for (const amount of [1, 7]) expect((await grant({ amount })).body['purchased']).to.equal(amount);
      },
      [`POST ${ACCOUNTS}/{id}/credits expires_at`]: async () => {
        const { body } = await grant({ expires_at: '2999-12-31' });
        expect(body['expires_at']).to.equal('2999-12-31T00:00:00.000Z');
      },
      [`POST ${ACCOUNTS}/{id}/credits payment_id`]: async () => {
        expect((await grant({ payment_id: 'pay_9' })).status).to.equal(201);
        expect((await grant({ payment_id: 'pay_9' })).error?.code).to.equal('idempotency_conflict');
      },
      'GET /api/v1/admin/usage from': async () => {
        await usedBy(1);
        expect(await usage('')).not.to.have.length(0);
        expect(await usage(later)).to.have.length(0);
        expect((await ask(`/usage?${later}`)).body['from']).to.equal('2999-01-01');
      },
      'GET /api/v1/admin/usage to': async () => {
        await usedBy(1);
        expect(await usage('to=2020-01-01')).to.have.length(0);
      },
      'GET /api/v1/admin/usage account_id': async () => {
        const [one] = await usedBy(2);
        const rows = await usage(`account_id=${one!.account.id}`);
        expect(rows.map((row) => row['email'])).to.deep.equal([one!.account.email]);
      },
      'GET /api/v1/admin/usage format': async () => {
        expect((await ask('/usage?format=csv')).text).to.match(/^date,account_id,/);
      },
      'GET /api/v1/admin/usage limit': async () => {
        await usedBy(2);
        for (const limit of [1, 2]) expect(await usage(`limit=${limit}`)).to.have.length(limit);
      },
      'GET /api/v1/admin/usage cursor': async () => {
        await usedBy(2);
        const { body } = await ask('/usage?limit=1');
        const next = await usage(`limit=1&cursor=${String(body['next_cursor'])}`);
        expect(next).to.have.length(1).and.not.to.deep.equal(body['usage']);
      },
    };
  }

  const openAi = (path: string, parts: Part[], headers: Record<string, string> = {}): Promise<Answer> => {
    const body = form(parts);
    return call(server, path, { method: 'POST', headers: { ...bearer(customer.key), ...headers }, body });
  };
  /** Both endpoints take these, and show them alike. */
  const sharedRows = (path: string): Record<string, () => Promise<void>> => {
    const file: Part = ['file', fakeAudio(3)];
    const model: Part = ['model', 'whisper-1'];
    const ask = (...parts: Part[]): Promise<Answer> => openAi(path, [file, model, ...parts]);
    return {
      file: async () => {
        expect((await ask()).body['text']).to.equal('Hello, World.');
        const other = await openAi(path, [['file', fakeAudio(4, { text: 'Other words.' })], model]);
        expect(other.body['text']).to.equal('Other words.');
      },
      model: async () => {
        expect((await openAi(path, [file, ['model', 'fake']])).status).to.equal(200);
        expect((await openAi(path, [file, ['model', 'other']])).status).to.equal(404);
      },
      prompt: async () => {
        await ask(['prompt', 'Ada']);
        expect(server.engine.prompts.at(-1)).to.equal('Ada');
      },
      temperature: async () => {
        await ask(['temperature', '0.3']);
        expect(server.engine.temperatures.at(-1)).to.equal(0.3);
      },
      response_format: async () => {
        expect((await ask(['response_format', 'text'])).text).to.equal('Hello, World.\n');
        expect((await ask(['response_format', 'srt'])).text).to.match(/^1\n00:00:00,000 --> /);
        expect((await ask(['response_format', 'vtt'])).text).to.match(/^WEBVTT\n/);
        expect((await ask(['response_format', 'verbose_json'])).body).to.include({ language: 'english' });
        const { status, body } = await ask(['response_format', 'diarized_json']);
        if (path.endsWith('/translations')) expect(status).to.equal(400);
        else expect(body['text']).to.match(/^A: Hello,\nB: World\.$/);
      },
      stream: async () => {
        const { headers, text } = await ask(['stream', 'true']);
        expect(headers.get('content-type')).to.contain('text/event-stream');
        expect(text).to.contain('"delta":"Hello, World."');
        expect((await ask(['stream', 'false'])).body['text']).to.equal('Hello, World.');
      },
      'Idempotency-Key': async () => {
        const once = (): Promise<Answer> =>
          openAi(path, [file, model], { 'idempotency-key': `${path} once` });
        expect((await once()).headers.get('idempotency-replayed')).to.equal(null);
        expect((await once()).headers.get('idempotency-replayed')).to.equal('true');
      },
      'X-Stainless-Retry-Count': async () => {
        const sent = [file, model, ['prompt', 'sent once']] as Part[];
        const replayed = async (count: string): Promise<string | null> =>
          (await openAi(path, sent, { 'x-stainless-retry-count': count })).headers.get(
            'idempotency-replayed',
          );
        expect([await replayed('0'), await replayed('0'), await replayed('1')]).to.deep.equal([
          ...[null, null],
          'true',
        ]);
      },
    };
  };
  const refusedRow = (name: string, value: string) => async (): Promise<void> => {
    const parts: Part[] = [
      ['file', fakeAudio(3)],
      ['model', 'fake'],
      [name, value],
    ];
    const { status, body } = await openAi('/v1/audio/transcriptions', parts);
    expect(status).to.equal(400);
    expect(body['error']).to.include({ param: name });
  };
  const transcriptionRows: Record<string, () => Promise<void>> = {
    ...sharedRows('/v1/audio/transcriptions'),
    language: async () => {
      const parts: Part[] = [
        ['file', fakeAudio(3)],
        ['model', 'fake'],
        ['response_format', 'verbose_json'],
      ];
      const { body } = await openAi('/v1/audio/transcriptions', [...parts, ['language', 'de']]);
      expect(body['language']).to.equal('german');
    },
    'timestamp_granularities[]': async () => {
      const parts: Part[] = [
        ['file', fakeAudio(3)],
        ['model', 'fake'],
        ['response_format', 'verbose_json'],
      ];
      const { body } = await openAi('/v1/audio/transcriptions', [
        ...parts,
        ['timestamp_granularities[]', 'word'],
      ]);
      expect(body).to.include.keys('words').and.not.to.include.keys('segments');
    },
    chunking_strategy: refusedRow('chunking_strategy', 'server_vad'),
    'include[]': refusedRow('include[]', 'logprobs'),
    'known_speaker_names[]': refusedRow('known_speaker_names[]', 'Ada'),
    'known_speaker_references[]': refusedRow('known_speaker_references[]', 'data:audio/wav;base64,UklGRg=='),
  };
  const named = (path: string, own: Record<string, () => Promise<void>>) =>
    Object.fromEntries(Object.entries(own).map(([name, show]) => [`POST ${path} ${name}`, show]));
  const openAiRows = {
    ...named('/v1/audio/transcriptions', transcriptionRows),
    ...named('/v1/audio/translations', sharedRows('/v1/audio/translations')),
  };

  const showCount = async (name: string, value: string, { min, max }: { min: number; max: number }) => {
    expect((await send(audio, ['diarize', '1'], [name, value])).status).to.equal(200);
    expect(diarizer.asked.at(-1)).to.include({ minSpeakers: min, maxSpeakers: max });
    expect((await send(audio, [name, value])).error).to.include({ code: 'invalid_request', param: name });
  };
  const result = async (...parts: Part[]): Promise<Record<string, unknown>> => {
    const { body } = await postJob(server, customer.key, parts);
    return (await endedJob(server, customer.key, String(body['id'])))['result'] as Record<string, unknown>;
  };
  const jobs = (query = ''): Promise<Answer> => jobCall(server, customer.key, query);
  const idsOf = ({ body }: Answer): string[] => (body['jobs'] as { id: string }[]).map(({ id }) => id);
  const jobRows: Readonly<Record<string, () => Promise<void>>> = {
    'POST /api/v1/jobs audio': async () => {
      expect(await result(audio)).to.include({ text: 'Hello, World.', duration_sec: 3 });
      expect(await result(['audio', fakeAudio(4, { text: 'Other words.' })])).to.include({
        text: 'Other words.',
      });
    },
    'POST /api/v1/jobs language': async () => {
      expect(await result(audio, ['language', 'deu'])).to.include({ language: 'de' });
    },
    'POST /api/v1/jobs translate_to': async () => {
      expect(await result(audio)).not.to.have.property('translation');
      expect(await result(audio, ['translate_to', 'en'])).to.have.property('translation');
    },
    'POST /api/v1/jobs punctuate': async () => {
      expect(await result(audio, ['punctuate', 'off'])).to.include({ text: 'hello world' });
    },
    'POST /api/v1/jobs diarize': async () => {
      expect(await result(audio)).not.to.have.property('words');
      expect(await result(audio, ['diarize', '1'])).to.have.nested.property('words[0].speaker');
    },
    'POST /api/v1/jobs num_speakers': async () => {
      await result(audio, ['diarize', '1'], ['num_speakers', '3']);
      expect(diarizer.asked.at(-1)).to.include({ minSpeakers: 3, maxSpeakers: 3 });
    },
    'POST /api/v1/jobs min_speakers': async () => {
      await result(audio, ['diarize', '1'], ['min_speakers', '2']);
      expect(diarizer.asked.at(-1)).to.include({ minSpeakers: 2 });
    },
    'POST /api/v1/jobs max_speakers': async () => {
      await result(audio, ['diarize', '1'], ['max_speakers', '4']);
      expect(diarizer.asked.at(-1)).to.include({ maxSpeakers: 4 });
    },
    'POST /api/v1/jobs timestamps': async () => {
      expect(await result(audio)).not.to.have.any.keys('segments', 'words');
      expect(await result(audio, ['timestamps', 'word'])).to.include.keys('segments', 'words');
    },
    'POST /api/v1/jobs format': async () => {
      expect(await result(audio)).not.to.have.property('formatted');
      expect((await result(audio, ['format', 'vtt']))['formatted']).to.match(/^WEBVTT\n/);
    },
    'POST /api/v1/jobs prompt': async () => {
      await result(audio, ['prompt', 'Grace Hopper']);
      expect(server.engine.prompts.at(-1)).to.equal('Grace Hopper');
    },
    'POST /api/v1/jobs webhook_url': async () => {
      const event = await told();
      expect(JSON.parse(event.body)).to.deep.include({ type: 'job.succeeded' });
    },
    'POST /api/v1/jobs webhook_secret': async () => {
      const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
      const { body, headers } = await told(['webhook_secret', secret]);
      expect(new Webhook(secret).verify(body, headers)).to.deep.include({ type: 'job.succeeded' });
    },
    'POST /api/v1/jobs Idempotency-Key': async () => {
      const once = (): Promise<Answer> =>
        postJob(server, customer.key, [audio], { 'idempotency-key': 'a job once' });
      const [first, again] = [await once(), await once()];
      expect(again.body).to.deep.equal(first.body);
      expect(again.headers.get('idempotency-replayed')).to.equal('true');
    },
    'GET /api/v1/jobs status': async () => {
      await result(audio);
      expect(idsOf(await jobs('?status=succeeded'))).not.to.have.length(0);
      expect(idsOf(await jobs('?status=cancelled'))).to.have.length(0);
    },
    'GET /api/v1/jobs limit': async () => {
      await result(audio);
      await result(audio);
      expect(idsOf(await jobs('?limit=1'))).to.have.length(1);
      expect(idsOf(await jobs('?limit=2'))).to.have.length(2);
    },
    'GET /api/v1/jobs cursor': async () => {
      await result(audio);
      await result(audio);
      const [, second] = idsOf(await jobs());
      const { next_cursor: cursor } = (await jobs('?limit=1')).body;
      expect(idsOf(await jobs(`?limit=1&cursor=${String(cursor)}`))).to.deep.equal([second]);
    },
    'GET /api/v1/jobs/{id} id': async () => {
      await result(audio);
      const [id] = idsOf(await jobs());
      expect((await jobs(`/${id}`)).body).to.include({ id });
      expect((await jobs(`/${id}x`)).status).to.equal(404);
    },
    'DELETE /api/v1/jobs/{id} id': async () => {
      await result(audio);
      const [id, kept] = idsOf(await jobs());
      expect((await jobCall(server, customer.key, `/${id}`, { method: 'DELETE' })).body).to.include({ id });
      expect(idsOf(await jobs())[0]).to.equal(kept);
    },
  };
  /** What the end of a job is told with. */
  const told = async (...parts: Part[]): Promise<HeardMessage> => {
    const listener = await WebhookListener.start();
    try {
      await postJob(server, customer.key, [audio, ['webhook_url', listener.url], ...parts]);
      await until(() => listener.heard.length > 0);
      return listener.heard[0]!;
    } finally {
      await listener.close();
    }
  };

  const rows: Readonly<Record<string, () => Promise<void>>> = {
    'POST /api/v1/transcribe audio': async () => {
      const longer: Part = ['audio', fakeAudio(4, { text: 'Other words.' })];
      const [one, other] = [await send(audio), await send(longer)];
      expect([one.body['text'], one.body['duration_sec']]).to.deep.equal(['Hello, World.', 3]);
      expect([other.body['text'], other.body['duration_sec']]).to.deep.equal(['Other words.', 4]);
    },
    'POST /api/v1/transcribe language': async () => {
      expect((await send(audio)).body['language']).to.equal('en');
      expect((await send(audio, ['language', 'deu'])).body['language']).to.equal('de');
    },
    'POST /api/v1/transcribe translate_to': async () => {
      expect((await send(audio)).body).not.to.have.property('translation');
      const { body } = await send(audio, ['translate_to', 'en-GB']);
      expect(body['translation']).to.deep.equal({ language: 'en', text: 'Hello, World.' });
    },
    'POST /api/v1/transcribe punctuate': async () => {
      expect((await send(audio, ['punctuate', 'YES'])).body['text']).to.equal('Hello, World.');
      expect((await send(audio, ['punctuate', 'off'])).body['text']).to.equal('hello world');
    },
    'POST /api/v1/transcribe diarize': async () => {
      expect((await send(audio, ['diarize', '0'])).body).not.to.have.any.keys('segments', 'words');
      const { words } = (await send(audio, ['diarize', '1'])).body as { words?: { speaker: string }[] };
      expect(words?.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2']);
    },
    'POST /api/v1/transcribe num_speakers': () => showCount('num_speakers', '1', { min: 1, max: 1 }),
    'POST /api/v1/transcribe min_speakers': () => showCount('min_speakers', '3', { min: 3, max: 20 }),
    'POST /api/v1/transcribe max_speakers': () => showCount('max_speakers', '2', { min: 1, max: 2 }),
    'POST /api/v1/transcribe timestamps': async () => {
      const timesOf = async (...parts: Part[]): Promise<string[]> =>
        Object.keys((await send(audio, ...parts)).body).filter((key) => /segments|words/.test(key));
      expect(await timesOf(['timestamps', 'NONE'])).to.deep.equal([]);
      expect(await timesOf(['timestamps', 'Segment'])).to.deep.equal(['segments']);
      expect(await timesOf(['timestamps', 'word'])).to.deep.equal(['segments', 'words']);
    },
    'POST /api/v1/transcribe format': async () => {
      const { body } = await send(audio, ['format', 'JSON']);
      expect(body['text']).to.equal('Hello, World.');
      const written = async (format: string): Promise<string> => (await send(audio, ['format', format])).text;
      expect(await written('text')).to.equal('Hello, World.');
      expect(await written('Srt')).to.match(/^1\n00:00:00,000 --> .*\nHello, World\.\n$/);
      expect(await written('vtt')).to.match(/^WEBVTT\n\n00:00:00\.000 --> .*\nHello, World\.\n$/);
    },
    'POST /api/v1/transcribe prompt': async () => {
      await send(audio, ['prompt', ' Ada Lovelace ']);
      await send(audio, ['prompt', ' ']);
      const longest = '👩'.repeat(1000);
      await send(audio, ['prompt', longest]);
      expect(server.engine.prompts.slice(-3)).to.deep.equal(['Ada Lovelace', undefined, longest]);
    },
    'POST /api/v1/transcribe Idempotency-Key': async () => {
      const once = (key: string): Promise<Answer> =>
        transcribe(server, { key: customer.key, headers: { 'idempotency-key': key } });
      const [first, again, other] = [await once('a'), await once('a'), await once('b')];
      expect(again.body['id']).to.equal(first.body['id']);
      expect(again.headers.get('idempotency-replayed')).to.equal('true');
      expect(other.body['id']).not.to.equal(first.body['id']);
    },
    ...jobRows,
    ...openAiRows,
    'GET /v1/models/{model} model': async () => {
      expect((await manage('/v1/models/fake')).body).to.include({ id: 'fake' });
      expect((await manage('/v1/models/other')).status).to.equal(404);
    },
    'GET /api/v1/usage days': async () => {
      for (const days of [1, 7, 90]) {
        const { body } = await manage(`/api/v1/usage?days=${days}`);
        expect(body['window_days']).to.equal(days);
        expect(body['by_day']).to.have.length(days);
      }
    },
    ...adminRows(),
    'POST /api/v1/keys name': async () => {
      await makeKey('laptop');
      await makeKey('telephone');
      expect([...(await namesOf()).keys()]).to.include.members(['laptop', 'telephone']);
    },
    'DELETE /api/v1/keys/{id} id': async () => {
      const [, id] = [await makeKey('kept'), await makeKey('revoked')];
      expect((await manage(`/api/v1/keys/${id}`, { method: 'DELETE' })).body['id']).to.equal(id);
      const revokedAt = await namesOf();
      expect(revokedAt.get('kept')).to.equal(null);
      expect(revokedAt.get('revoked')).to.be.a('string');
    },
  };

  for (const { method, path, name } of fields) {
    const field = `${method} ${path} ${name}`;
    it(field, async () => {
      if (name === 'X-Request-Id') {
        const { headers } = await call(server, path, {
          method,
          headers: { 'x-request-id': `${field.length}.me` },
        });
        expect(headers.get('x-request-id')).to.equal(`${field.length}.me`);
        return;
      }
      expect(rows, 'a row of its own').to.have.property(field);
      await rows[field]!();
    });
  }

  it('has no row for a field that is none', () => {
    const known = fields.map(({ method, path, name }) => `${method} ${path} ${name}`);
    expect(known).to.include.members(Object.keys(rows));
    expect(known).to.include('POST /api/v1/transcribe punctuate');
  });
});
