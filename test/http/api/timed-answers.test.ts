/**
 * timestamps and format over real HTTP: what answers then hold, that players read them, and that repeats are the same.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { timesByFfmpeg } from '../../support/ffmpeg-subtitles.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { transcribe, type Answer, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { readSrt, readVtt, type ReadCue } from '../../support/strict-subtitles.js';

const translator = fakeTranslator(
  (text, { to }) => `${to}: ${text}`,
  (from, to) => from === 'de' && to === 'en',
);

interface TimedBody {
  duration_sec: number;
  text: string;
  segments: { start: number; end: number; text: string }[];
  words: { word: string; start: number; end: number; probability: number }[];
  translation: { text: string; segments: TimedBody['segments'] };
}

const SENTENCES = 'Hello, World! It’s 3.5 °C — or less. Ask for Dr. Brown, please.';

describe('answers with times', () => {
  let server: TestServer;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start({ translator });
    customer = await server.customer(10_000);
  });
  after(() => server.dispose());
  afterEach(() => (server.engine.info.alignsWords = true));

  const audio = (text = SENTENCES, seconds = 9.1234, language = 'en'): Part => [
    'audio',
    fakeAudio(seconds, { text, language }),
  ];
  const send = (parts: Part[], headers: Record<string, string> = {}): Promise<Answer> =>
    transcribe(server, { key: customer.key, parts, headers });
  const timed = async (...parts: Part[]): Promise<TimedBody> => {
    const { status, body, text } = await send(parts);
    expect(status, text).to.equal(200);
    return body as unknown as TimedBody;
  };

  describe('in JSON', () => {
    it('have segments, each a sentence', async () => {
      const body = await timed(audio(), ['timestamps', 'segment']);
      expect(Object.keys(body).slice(2, 6)).to.deep.equal(['language', 'text', 'segments', 'credits_used']);
      expect(body.segments.map(({ text }) => text)).to.deep.equal([
        'Hello, World!',
        'It’s 3.5 °C — or less.',
        'Ask for Dr. Brown, please.',
      ]);
      expect(body.segments[0]).to.have.all.keys('start', 'end', 'text').and.to.include({ start: 0 });
    });

    it('have segments and words, which joined are the text', async () => {
      const body = await timed(audio(), ['timestamps', 'word']);
      expect(Object.keys(body).slice(3, 6)).to.deep.equal(['text', 'segments', 'words']);
      expect(body.words.map(({ word }) => word).join(' ')).to.equal(SENTENCES);
      expect(body.segments.map(({ text }) => text).join(' ')).to.equal(SENTENCES);
      expect(body.words[0]).to.deep.equal({ word: 'Hello,', start: 0, end: 0.434, probability: 0.9 });
      expect(body.words.at(-1)!.end).to.be.at.most(body.duration_sec);
    });

    it('have neither without being asked', async () => {
      expect(await timed(audio())).not.to.have.any.keys('segments', 'words');
    });

    it('have words without marks, with punctuate=false, of which those that were nothing else are gone', async () => {
      const body = await timed(audio(), ['timestamps', 'word'], ['punctuate', 'false']);
      expect(body.text).to.equal('hello world it’s 3.5 °c or less ask for dr brown please');
      expect(body.words.map(({ word }) => word).join(' ')).to.equal(body.text);
      expect(body.segments.map(({ text }) => text)).to.deep.equal([
        'hello world',
        'it’s 3.5 °c or less',
        'ask for dr brown please',
      ]);
    });

    it('repeat the segments for a translation into the language that is spoken', async () => {
      const body = await timed(audio(), ['timestamps', 'segment'], ['translate_to', 'en']);
      expect(body.translation.segments).to.deep.equal(body.segments);
    });

    it('are empty where nothing was said', async () => {
      expect(await timed(audio(' ', 3), ['timestamps', 'word'])).to.deep.include({ segments: [], words: [] });
      const silent = audio(' ', 3, 'de');
      const { translation } = await timed(silent, ['timestamps', 'segment'], ['translate_to', 'en']);
      expect(translation).to.deep.equal({ language: 'en', text: '', segments: [] });
    });
  });

  describe('of a decoder that aligns no words', () => {
    beforeEach(() => (server.engine.info.alignsWords = false));

    it('have its segments', async () => {
      const body = await timed(audio('Hello, World.', 3), ['timestamps', 'segment']);
      expect(body.segments).to.deep.equal([{ start: 0, end: 3, text: 'Hello, World.' }]);
    });

    it('are refused words by name, uncharged', async () => {
      const before = await server.balance(customer);
      const { status, error } = await send([audio(), ['timestamps', 'word']]);
      expect([status, error?.code, error?.param]).to.deep.equal([400, 'invalid_request', 'timestamps']);
      expect(error?.message).to.include('none, segment');
      expect(await server.balance(customer)).to.equal(before);
    });
  });

  const TYPES = {
    text: 'text/plain; charset=utf-8',
    srt: 'application/x-subrip; charset=utf-8',
    vtt: 'text/vtt; charset=utf-8',
  };

  for (const [format, type] of Object.entries(TYPES)) {
    describe(`as ${format}`, () => {
      it('report what they cost in headers', async () => {
        const before = await server.balance(customer);
        const { status, headers } = await send([audio(), ['format', format]]);
        expect(status).to.equal(200);
        expect(headers.get('content-type')).to.equal(type);
        expect(headers.get('x-transcription-id')).to.match(/^tr_[A-Za-z0-9_-]{22}$/);
        expect(headers.get('x-credits-used')).to.equal('1');
        expect(headers.get('x-credits-remaining')).to.equal(String(before - 1));
      });

      it('name the warnings of a demonstration model in a header', async () => {
        const plain = await send([audio(), ['format', format]]);
        expect(plain.headers.get('x-verbatim-warning')).to.equal(null);
        server.engine.info.isDemonstration = true;
        try {
          const { headers } = await send([audio(), ['format', format]]);
          expect(headers.get('x-verbatim-warning')).to.equal('demonstration_model');
        } finally {
          server.engine.info.isDemonstration = false;
        }
      });

      it('are the same when the request is repeated', async () => {
        const parts: Part[] = [audio(), ['format', format]];
        const key = { 'idempotency-key': `repeated as ${format}` };
        const [first, again] = [await send(parts, key), await send(parts, key)];
        expect(again.text).to.equal(first.text);
        expect(again.headers.get('idempotency-replayed')).to.equal('true');
        for (const name of ['content-type', 'x-transcription-id', 'x-credits-used', 'x-credits-remaining'])
          expect(again.headers.get(name), name).to.equal(first.headers.get(name));
        expect((await send([audio()], key)).error?.code).to.equal('idempotency_conflict');
      });

      it('say errors in JSON', async () => {
        const { status, error } = await send([audio(), ['format', format], ['language', 'it']]);
        expect([status, error?.code]).to.deep.equal([422, 'unsupported_language']);
      });
    });
  }

  it('give the translation as text', async () => {
    const parts: Part[] = [audio('Hallo.', 3, 'de'), ['translate_to', 'en'], ['format', 'text']];
    expect((await send(parts)).text).to.equal('en: Hallo.');
  });

  describe('as subtitles', () => {
    const LONG = `${'The train to Hamburg leaves at nine, and stops in Berlin and Hanover. '.repeat(20)}End.`;
    const given: [string, Part, (cues: ReadCue[]) => void][] = [
      ['of sentences', audio(), (cues) => expect(cues).to.have.length(3)],
      [
        'of an hour and more',
        audio(LONG, 4000),
        (cues) => expect(cues.at(-1)!.endSeconds).to.be.above(3600).and.at.most(4000),
      ],
      ['of nothing', audio(' ', 3), (cues) => expect(cues).to.deep.equal([])],
      ['of an arrow', audio('a --> b', 3), (cues) => expect(cues[0]!.lines[0]).to.match(/^a --?> b$/)],
      ['of markup', audio('R&D <i>', 3), (cues) => expect(cues[0]!.lines).to.deep.equal(['R&D <i>'])],
      ['of Arabic', audio('مرحبا بالعالم؟', 3), (cues) => expect(cues[0]!.lines).to.deep.equal(['مرحبا بالعالم؟'])],
      ['of Hebrew', audio('שלום, עולם.', 3), (cues) => expect(cues[0]!.lines).to.deep.equal(['שלום, עולם.'])],
      ['of Chinese', audio('你好，世界。', 3), (cues) => expect(cues[0]!.lines).to.deep.equal(['你好，世界。'])],
      ['of an astronaut', audio('Go 👩‍🚀!', 3), (cues) => expect(cues[0]!.lines).to.deep.equal(['Go 👩‍🚀!'])],
    ];
    for (const [what, part, check] of given) {
      for (const [format, read] of [
        ['srt', readSrt],
        ['vtt', readVtt],
      ] as const) {
        it(`${what}, ${format}: are read by the letter, and by ffmpeg`, async () => {
          const { text } = await send([part, ['format', format]]);
          const cues = read(text);
          check(cues);
          const path = join(server.directory, `subtitles.${format}`);
          writeFileSync(path, text);
          expect(timesByFfmpeg(path)).to.deep.equal(read(text).map(timesOf));
        });
      }
    }
  });
});

const timesOf = ({ startSeconds, endSeconds }: ReadCue): number[] => [startSeconds, endSeconds];
