/** response_format=diarized_json, as OpenAI documents it. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { EventReader, joinedDeltas } from '../../support/event-reader.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { call, form, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

describe('diarized_json', () => {
  let server: TestServer;
  let customer: Customer;
  const diarizer = new FakeDiarizer();
  before(async () => {
    server = await TestServer.start({ diarizer });
    customer = await server.customer();
  });
  after(() => server.dispose());

  const ask = (text: string, ...parts: Part[]): Promise<Answer> => {
    const sent: Part[] = [
      ['file', fakeAudio(9, { text })],
      ['model', 'gpt-4o-transcribe-diarize'],
      ['response_format', 'diarized_json'],
    ];
    const body = form([...sent, ...parts]);
    return call(server, '/v1/audio/transcriptions', { method: 'POST', headers: bearer(customer.key), body });
  };

  it('labels speakers with letters', async () => {
    diarizer.turns = [
      { startSeconds: 0, endSeconds: 4.1, speaker: 'S1' },
      { startSeconds: 4.1, endSeconds: 8, speaker: 'S2' },
      { startSeconds: 8.5, endSeconds: 9, speaker: 'S1' },
    ];
    const { status, body } = await ask('Who is there? Nobody you know.', ['chunking_strategy', 'auto']);
    expect(status).to.equal(200);
    const type = 'transcript.text.segment';
    expect(body).to.deep.equal({
      task: 'transcribe',
      duration: 9,
      text: 'A: Who is there?\nB: Nobody you know.',
      segments: [
        { type, id: 'seg_001', start: 0, end: 2.85, text: 'Who is there?', speaker: 'A' },
        { type, id: 'seg_002', start: 3.9, end: 8.1, text: 'Nobody you know.', speaker: 'B' },
        { type, id: 'seg_003', start: 8.5, end: 9, text: '', speaker: 'A' },
      ],
      usage: { type: 'duration', seconds: 9 },
    });
  });

  it('streams it in events: every segment, before it what it adds to the text, and in the end all of it', async () => {
    diarizer.turns = [
      { startSeconds: 0, endSeconds: 4.1, speaker: 'S1' },
      { startSeconds: 4.1, endSeconds: 8, speaker: 'S2' },
      { startSeconds: 8.5, endSeconds: 9, speaker: 'S1' },
    ];
    const text = 'Who is there? Nobody you know.';
    const whole = (await ask(text)).body;
    const reader = await EventReader.open(server, '/v1/audio/transcriptions', {
      headers: bearer(customer.key),
      body: form([
        ...([
          ['file', fakeAudio(9, { text })],
          ['model', 'whisper-1'],
        ] as Part[]),
        ...([
          ['response_format', 'diarized_json'],
          ['stream', 'true'],
        ] as Part[]),
      ]),
    });
    const events = await reader.rest();
    const segments = whole['segments'] as { id: string }[];
    const type = 'transcript.text.delta';
    expect(events.slice(0, -1).map(({ data }) => data)).to.deep.equal([
      { type, delta: 'A: Who is there?', segment_id: 'seg_001' },
      segments[0],
      { type, delta: '\nB: Nobody you know.', segment_id: 'seg_002' },
      ...segments.slice(1),
    ]);
    expect(joinedDeltas(events)).to.equal(whole['text']);
    expect(events.at(-1)!.data).to.deep.include({ ...whole, type: 'transcript.text.done' });
  });

  it('goes on after Z', async () => {
    diarizer.turns = Array.from({ length: 28 }, (_, index) => ({
      ...{ startSeconds: index / 4, endSeconds: index / 4 + 0.25 },
      speaker: `S${index + 1}`,
    }));
    const { body } = await ask(' ');
    const letters = (body as unknown as { segments: { speaker: string }[] }).segments.map(({ speaker }) => speaker);
    expect(letters.slice(0, 3)).to.deep.equal(['A', 'B', 'C']);
    expect(letters.slice(19)).to.deep.equal(['T']);
  });

  it('asks for speakers and refuses those whose voices are sent along', async () => {
    expect(diarizer.asked.at(-1)).to.include({ minSpeakers: 1, maxSpeakers: 20 });
    const { status, body } = await ask('Hello.', ['known_speaker_names[]', 'Ada']);
    expect(status).to.equal(400);
    expect(body['error']).to.include({ param: 'known_speaker_names[]' });
  });
});
