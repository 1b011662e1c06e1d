/**
 * Who speaks, as reported by `verbatim serve` with the bundled models: over HTTP, in both dialects, and when their process is
 * killed.
 */
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { descendantsOf } from '../support/child-processes.js';
import { voiceAt, writeConversation, type MadeConversation } from '../support/conversation.js';
import { ENDLESS_COMMAND, RECORDING_TO_CONVERT, writeEndlessFfmpeg } from '../support/endless-ffmpeg.js';
import { call, form, transcribe, type Answer, type Part } from '../support/requests.js';
import { bearer } from '../support/server.js';
import { Served, workplace } from '../support/served.js';
import { until } from '../support/until.js';

interface SpokenSpan {
  speaker: string;
  start: number;
  text: string;
}

/** Of the process of the speaker models; null: there is none. */
function speakerProcess(parent: number): number | null {
  const children = readdirSync(`/proc/${parent}/task`).flatMap((task) =>
    readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  const isSpeakers = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('speaker-process');
  return children.find(isSpeakers) ?? null;
}

describe('verbatim serve, asked who speaks', function () {
  this.timeout(180_000);
  let served: Served;
  let conversation: MadeConversation;

  before(async () => {
    const directory = workplace();
    conversation = await writeConversation(join(directory, 'conversation.wav'));
    const environment = { VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1', VERBATIM_FFMPEG: writeEndlessFfmpeg(directory) };
    served = await Served.start(environment, directory).listening();
  });
  after(() => served.stop());

  const audio = (): Buffer => readFileSync(conversation.path);
  const ask = async (...parts: Part[]): Promise<Answer> =>
    transcribe(served, { key: await served.key(), parts: [['audio', audio()], ['diarize', '1'], ...parts] });
  const metric = async (name: string): Promise<number> => {
    const { text } = await call(served, '/metrics');
    return Number(new RegExp(`^verbatim_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  /** Of the words, so many are of the right one of two people. */
  const right = (spans: readonly { start: number; speaker: string }[], names: Record<'A' | 'B', string>): number =>
    spans.filter(({ start, speaker }) => speaker === names[voiceAt(conversation, start)]).length / spans.length;

  it('distinguishes two voices, word by word', async () => {
    const { status, body, text } = await ask(['num_speakers', '2']);
    expect(status, text).to.equal(200);
    const { words } = body as unknown as { words: SpokenSpan[] };
    expect(words).to.have.length.above(60);
    expect(right(words, { A: 'S1', B: 'S2' })).to.be.at.least(0.9);
    expect(await metric('diarized_audio_seconds_total')).to.be.closeTo(conversation.durationSeconds, 0.01);
  });

  for (const language of ['es', 'fr'])
    it(`distinguishes voices in speech that is called ${language}, too`, async () => {
      const { status, body, text } = await ask(['num_speakers', '2'], ['language', language]);
      expect(status, text).to.equal(200);
      const { segments } = body as unknown as { segments: SpokenSpan[] };
      expect(new Set(segments.map(({ speaker }) => speaker))).to.deep.equal(new Set(['S1', 'S2']));
    });

  it('refuses a language that they do not hold up on', async () => {
    const { status, body } = await ask(['language', 'de']);
    expect(status).to.equal(422);
    expect(body).to.have.nested.property('error.code', 'unsupported_diarization');
  });

  it('has the process of the speaker models beneath all else', () => {
    const pid = speakerProcess(served.child.pid!)!;
    const niceOf = (of: number): number => {
      const stat = readFileSync(`/proc/${of}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    };
    expect(niceOf(pid)).to.equal(19);
  });

  it('has in all of its processes what the kernel ends before the server when memory runs out', async () => {
    const server = served.child.pid!;
    const adjustmentOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
    const client = new AbortController();
    const converting = transcribe(served, {
      ...{ key: await served.key(), parts: [RECORDING_TO_CONVERT], signal: client.signal },
    }).catch((error: unknown) => error);
    const running = (): string[] => descendantsOf(server).map(({ command }) => command);
    await until(() => running().some((command) => command.startsWith(ENDLESS_COMMAND)));
    expect(running().join('\n')).to.include('engine-process').and.to.include('speaker-process');
    for (const { pid, command } of descendantsOf(server))
      expect(adjustmentOf(pid), command).to.equal(500).and.to.be.above(adjustmentOf(server));
    client.abort();
    await converting;
    await until(() => !running().some((command) => command.startsWith(ENDLESS_COMMAND)));
  });

  it('answers in the form of OpenAI, too', async () => {
    const parts: Part[] = [
      ['file', audio()],
      ['model', 'gpt-4o-transcribe-diarize'],
      ['response_format', 'diarized_json'],
      ['chunking_strategy', 'auto'],
    ];
    const { status, body } = await call(served, '/v1/audio/transcriptions', {
      ...{ method: 'POST', headers: bearer(await served.key()), body: form(parts) },
    });
    expect(status).to.equal(200);
    expect(body['text']).to.match(/^A: Do you speak/);
  });

  it('answers all the same when that process is killed, and reports its death', async () => {
    expect((await ask(['num_speakers', '2'])).status).to.equal(200);
    const killed = speakerProcess(served.child.pid!)!;
    // So that it is in the middle of the file.
    process.kill(killed, 'SIGSTOP');
    const answer = ask(['max_speakers', '2']);
    await until(async () => (await metric('diarizations_running')) === 1);
    process.kill(killed, 'SIGKILL');
    expect((await answer).status).to.equal(200);
    await until(async () => (await metric('speaker_process_deaths_total')) === 1);
    await until(() => served.stderr.includes('the speaker process died'));
    const { status } = await ask(['num_speakers', '1']);
    expect(status).to.equal(200);
    expect(speakerProcess(served.child.pid!)).not.to.equal(killed);
  });
});
