/** What a client may count on whatever the family of the speech model, on the real addon behind HTTP. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { describeEachFamily } from '../../support/families.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { GatedBinding } from '../../support/gated-binding.js';
import { startEngineProcess, strike } from '../../support/engine-process.js';
import { EventReader, joinedDeltas } from '../../support/event-reader.js';
import { form, transcribe, type Answer, type Part } from '../../support/requests.js';
import { loadConfigured } from '../../support/real-engine.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { pause, pcmOfSample, sample, wavOf } from '../../support/speech.js';
import { readSrt, readVtt } from '../../support/strict-subtitles.js';
import { until } from '../../support/until.js';

const CLIP = readFileSync(sample('en-wav16.wav').path);
const CREDITS = 1000;

/** Windows enough that one is always left. */
const LONG = wavOf(Buffer.concat(Array.from({ length: 30 }, () => [pcmOfSample(), pause(0.6)]).flat()));

describeEachFamily('HTTP', ({ environment }) => {
  describe('with the engine in the process', () => {
    const gate = new GatedBinding();
    const diarizer = new FakeDiarizer();
    let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
    let customer: Customer;

    const send = (parts: Part[], who = customer, signal?: AbortSignal): Promise<Answer> =>
      transcribe(server, { key: who.key, parts, ...(signal === undefined ? {} : { signal }) });

    before(async () => {
      const engine = await loadConfigured(environment(), gate.binding);
      server = await TestServer.start({ engine, diarizer });
    });
    after(() => server.dispose());
    beforeEach(async () => {
      gate.open();
      customer = await server.customer(CREDITS);
    });
    afterEach(async () => {
      gate.open();
      expect(await server.ledger.audit()).to.deep.equal([]);
      expect(server.uploads()).to.deep.equal([]);
      expect(server.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
    });

    it('streams words in the order of the text', async () => {
      const { status, body } = await send([
        ['audio', CLIP],
        ['timestamps', 'word'],
        ['punctuate', 'false'],
      ]);
      expect(status).to.equal(200);
      const words = body['words'] as { word: string; start: number; end: number }[];
      expect(words).to.not.be.empty;
      expect(words.map(({ word }) => word).join(' ')).to.equal(body['text']);
      for (const { start, end } of words) expect(start).to.be.at.most(end);
      expect(words.map(({ start }) => start)).to.deep.equal(words.map(({ start }) => start).sort((a, b) => a - b));
    });

    it('writes subtitles that say the text', async () => {
      const plainText = ({ text }: { text: string }): string => text.replace(/\s+/g, ' ').trim();
      const { body } = await send([['audio', CLIP]]);
      for (const [format, read] of [['srt', readSrt] as const, ['vtt', readVtt] as const]) {
        const { status, text } = await send([
          ['audio', CLIP],
          ['format', format],
        ]);
        expect(status).to.equal(200);
        const cues = read(text);
        expect(cues).to.not.be.empty;
        const shown = cues.flatMap(({ lines }) => lines).join(' ');
        expect(shown).to.equal(plainText({ text: String(body['text']) }));
      }
    });

    it('reports who said it, or says that nobody can', async () => {
      const parts: Part[] = [
        ['audio', CLIP],
        ['language', 'en'],
        ['diarize', 'true'],
      ];
      diarizer.languages = 'any';
      const { status, body } = await send(parts);
      expect(status).to.equal(200);
      const speakers = (body['segments'] as { speaker?: string }[]).map(({ speaker }) => speaker);
      expect([...new Set(speakers)]).to.deep.equal(['S1', 'S2']);
      diarizer.languages = ['fi'];
      const refused = await send(parts);
      expect([refused.status, refused.error?.code]).to.deep.equal([422, 'unsupported_diarization']);
    });

    it('lets go of a window whose client hung up, uncharged', async () => {
      gate.allow(0);
      const controller = new AbortController();
      const gone = send([['audio', LONG]], customer, controller.signal).catch(() => null);
      await until(() => gate.waiting === 1);
      controller.abort();
      await gone;
      await until(() => gate.signals.at(-1)?.aborted === true);
      gate.open();
      await until(() => server.engine.stats().busySlots === 0 && server.uploads().length === 0);
      await until(async () => (await server.balance(customer)) === CREDITS);
      expect((await send([['audio', CLIP]])).status).to.equal(200);
    });

    it('gives another account its turn, however much the first has queued', async () => {
      const other = await server.customer(CREDITS);
      gate.allow(0);
      let isLongDone = false;
      const long = send([['audio', LONG]]).then((answer) => {
        isLongDone = true;
        return answer;
      });
      await until(() => gate.waiting === 1);
      const files = gate.files.size;
      const short = send([['audio', CLIP]], other);
      // Whose turn it is, of those that have a window to begin.
      await until(() => gate.files.size > files);
      // The one that runs, another that was ready before, and the newcomer's.
      gate.allow(3);
      expect((await short).status).to.equal(200);
      expect(isLongDone).to.equal(false);
      gate.open();
      expect((await long).status).to.equal(200);
    });
  });

  it('answers the same after its process was killed amid a stream', async () => {
    const process_ = await startEngineProcess(environment());
    const { engines } = process_;
    const server = await TestServer.start({ engine: engines.speech, engines });
    try {
      const { key } = await server.customer(CREDITS);
      const alone = await transcribe(server, { key, parts: [['audio', LONG]] });
      const body = form([
        ['file', LONG],
        ['model', 'whisper-1'],
        ['stream', 'true'],
      ]);
      const reader = await EventReader.open(server, '/v1/audio/transcriptions', {
        headers: bearer(key),
        body,
      });
      const first = await reader.next();
      await strike(process_, 'SIGKILL');
      const events = [first!, ...(await reader.rest())];
      expect(joinedDeltas(events)).to.equal(alone.body['text']);
      const after = await transcribe(server, { key, parts: [['audio', LONG]] });
      expect(after.body['text']).to.equal(alone.body['text']);
      expect(process_.deaths).to.deep.equal(['SIGKILL']);
      expect(await server.ledger.audit()).to.deep.equal([]);
    } finally {
      await server.dispose();
    }
  });
});
