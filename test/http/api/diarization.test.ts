/** diarize over real HTTP: who speaks, in every form, what it costs, and what is refused. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { endedJob, jobCall, postJob } from '../../support/jobs.js';
import { transcribe, type Answer, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { readSrt, readVtt } from '../../support/strict-subtitles.js';
import { until } from '../../support/until.js';

interface DiarizedBody {
  text: string;
  segments: { start: number; end: number; text: string; speaker: string }[];
  words: { word: string; speaker: string }[];
  translation: { segments: DiarizedBody['segments'] };
}

const TEXT = 'Who is there? Nobody you know.';

describe('answers with speakers', () => {
  let server: TestServer;
  let customer: Customer;
  const diarizer = new FakeDiarizer();

  before(async () => {
    server = await TestServer.start({ diarizer, settings: { diarizationCreditsPerMinute: 4 } });
    customer = await server.customer(10_000);
  });
  after(() => server.dispose());
  beforeEach(() => {
    diarizer.languages = 'any';
    // A word's second half is a pause.
    diarizer.turns = [
      { startSeconds: 0, endSeconds: 4.1, speaker: 'S1' },
      { startSeconds: 4.1, endSeconds: 8, speaker: 'S2' },
      { startSeconds: 8.9, endSeconds: 9, speaker: 'S3' },
    ];
  });
  afterEach(async () => {
    expect(server.uploads()).to.deep.equal([]);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  const audio: Part = ['audio', fakeAudio(9, { text: TEXT })];
  const send = (parts: Part[], headers: Record<string, string> = {}): Promise<Answer> =>
    transcribe(server, { key: customer.key, parts: [['diarize', 'true'], audio, ...parts], headers });
  const diarized = async (...parts: Part[]): Promise<DiarizedBody> => {
    const { status, body, text } = await send(parts);
    expect(status, text).to.equal(200);
    return body as unknown as DiarizedBody;
  };

  it('say whose every word and segment is', async () => {
    const body = await diarized();
    expect(body.text).to.equal(TEXT);
    expect(body.segments.map(({ speaker, text }) => [speaker, text])).to.deep.equal([
      ['S1', 'Who is there?'],
      ['S2', 'Nobody you know.'],
      ['S3', ''],
    ]);
    expect(body.segments[2]).to.deep.equal({ start: 8.9, end: 9, text: '', speaker: 'S3' });
    expect(body.words.map(({ word, speaker }) => `${speaker} ${word}`)).to.deep.equal([
      ...['S1 Who', 'S1 is', 'S1 there?', 'S2 Nobody', 'S2 you', 'S2 know.'],
    ]);
  });

  it('do so of the translation, too', async () => {
    const { translation } = await diarized(['translate_to', 'en']);
    expect(translation.segments.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2', 'S3']);
  });

  it('are text with a line for each turn', async () => {
    expect((await send([['format', 'text']])).text).to.equal('S1: Who is there?\nS2: Nobody you know.');
  });

  it('are subtitles with names, or with voices', async () => {
    const [srt, vtt] = [await send([['format', 'srt']]), await send([['format', 'vtt']])];
    expect(readSrt(srt.text).map(({ lines }) => lines)).to.deep.equal([
      ['S1: Who is there?'],
      ['S2: Nobody you know.'],
    ]);
    expect(readVtt(vtt.text).map(({ speaker, lines }) => [speaker, lines])).to.deep.equal([
      ['S1', ['Who is there?']],
      ['S2', ['Nobody you know.']],
    ]);
  });

  it('cost what diarization costs, and usage shows it', async () => {
    const payer = await server.customer(100);
    const pay = (...parts: Part[]): Promise<Answer> => transcribe(server, { key: payer.key, parts: [audio, ...parts] });
    expect((await pay()).body).to.include({ credits_used: 1 });
    expect((await pay(['diarize', '1'])).body).to.include({ credits_used: 5, credits_remaining: 94 });
    expect(await server.ledger.history.report(payer.account.id, 1)).to.include({ totalCredits: 6, totalMinutes: 2 });
  });

  it('are given by jobs, too, and at the same price', async () => {
    const payer = await server.customer(100);
    const parts: Part[] = [['diarize', 'true'], ['max_speakers', '3'], ['format', 'srt'], audio];
    const { status, body } = await postJob(server, payer.key, parts);
    expect(status).to.equal(202);
    const { result, ...job } = await endedJob(server, payer.key, String(body['id']));
    expect(job).to.include({ status: 'succeeded' });
    const direct = await transcribe(server, { key: payer.key, parts });
    expect(result).to.deep.include({ formatted: direct.text, credits_used: 5, credits_remaining: 95 });
    expect(diarizer.asked.slice(-2).map(({ background, maxSpeakers }) => [background, maxSpeakers])).to.deep.equal([
      [true, 3],
      [false, 3],
    ]);
    expect(await server.ledger.history.report(payer.account.id, 1)).to.deep.include({
      totalCredits: 10,
      byEndpoint: [
        { endpoint: '/api/v1/jobs', minutes: 1 },
        { endpoint: '/api/v1/transcribe', minutes: 1 },
      ],
    });
  });

  it('hold their price while a job waits, and release it when the job ends without them', async () => {
    const payer = await server.customer(100);
    diarizer.holdAll();
    const parts: Part[] = [['diarize', 'true'], audio];
    const { body } = await postJob(server, payer.key, parts);
    expect(await server.balance(payer)).to.equal(95);
    await until(() => diarizer.running === 1);
    await jobCall(server, payer.key, `/${String(body['id'])}`, { method: 'DELETE' });
    await until(() => diarizer.running === 0);
    diarizer.release();
    expect(await server.balance(payer)).to.equal(100);
    const german: Part[] = [
      ['diarize', 'true'],
      ['audio', fakeAudio(9, { language: 'de', text: 'Wer ist da?' })],
    ];
    diarizer.languages = ['en'];
    const refused = await postJob(server, payer.key, german);
    const job = await endedJob(server, payer.key, String(refused.body['id']));
    expect(job).to.include({ status: 'failed' });
    expect(job['error']).to.include({ code: 'unsupported_diarization', param: 'diarize' });
    expect(await server.balance(payer)).to.equal(100);
  });

  it('are the same for a repeat, which is not charged', async () => {
    const headers = { 'idempotency-key': 'who' };
    const [first, again] = [await send([], headers), await send([], headers)];
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    expect(again.text).to.equal(first.text);
  });

  it('keep to the given number of speakers', async () => {
    expect((await diarized(['num_speakers', '1'])).segments.map(({ speaker }) => speaker)).not.to.include('S2');
    await diarized(['min_speakers', '2'], ['max_speakers', '3']);
    await diarized(['min_speakers', '20']);
    await diarized(['max_speakers', '20']);
    const counts = diarizer.asked.slice(-4).map(({ minSpeakers, maxSpeakers }) => [minSpeakers, maxSpeakers]);
    expect(counts).to.deep.equal([
      [1, 1],
      [2, 3],
      [20, 20],
      [1, 20],
    ]);
  });

  describe('are refused, uncharged,', () => {
    const refused = async (parts: Part[], status: number, code: string, param: string): Promise<string> => {
      const before = await server.balance(customer);
      const { status: reported, error, text } = await send(parts);
      expect(reported, text).to.equal(status);
      expect(error).to.include({ code, param });
      expect(await server.balance(customer)).to.equal(before);
      return error!.message;
    };

    for (const name of ['num_speakers', 'min_speakers', 'max_speakers']) {
      for (const value of ['0', '21', '-1', '1.5', 'two', '', '1e1', '99999999999']) {
        it(`with ${name} ${JSON.stringify(value)}`, async () => {
          const message = await refused([[name, value]], 400, 'invalid_request', name);
          expect(message).to.equal(`${name} must be an integer from 1 to 20.`);
        });
      }

      it(`with ${name} and without diarize`, async () => {
        const parts: Part[] = [audio, [name, '2']];
        for (const more of [[], [['diarize', 'no']]] as Part[][]) {
          const answer = await transcribe(server, { key: customer.key, parts: [...parts, ...more] });
          expect(answer.status).to.equal(400);
          expect(answer.error).to.include({ code: 'invalid_request', param: name });
          expect(answer.error?.message).to.equal(`${name} needs diarize=true.`);
        }
      });
    }

    it('with a number and its bounds', async () => {
      for (const other of ['min_speakers', 'max_speakers']) {
        const parts: Part[] = [
          ['num_speakers', '2'],
          [other, '2'],
        ];
        await refused(parts, 400, 'invalid_request', 'num_speakers');
      }
    });

    it('with bounds that nothing lies between', async () => {
      const parts: Part[] = [
        ['min_speakers', '3'],
        ['max_speakers', '2'],
      ];
      await refused(parts, 400, 'invalid_request', 'min_speakers');
    });

    it('of speech that the models do not serve, given or detected', async () => {
      diarizer.languages = ['en'];
      await refused([['language', 'de']], 422, 'unsupported_diarization', 'diarize');
      const german = fakeAudio(9, { language: 'de', text: 'Wer ist da?' });
      const parts: Part[] = [
        ['diarize', '1'],
        ['audio', german],
      ];
      const answer = await transcribe(server, { key: customer.key, parts });
      expect(answer.error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
    });

    it('when diarization fails', async () => {
      diarizer.failWith = new Error('a bug');
      const before = await server.balance(customer);
      expect((await send([])).error).to.include({ code: 'internal_error', param: null });
      expect(await server.balance(customer)).to.equal(before);
    });
  });
});
