/** Words, segments and subtitles of real recordings, through the native engine, the bundled model and real HTTP. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { packageRoot } from '../../../src/package-root.js';
import { timesByFfmpeg } from '../../support/ffmpeg-subtitles.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { transcribe, type Answer, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { samples } from '../../support/speech.js';
import { readSrt, readVtt } from '../../support/strict-subtitles.js';

interface Timed {
  start: number;
  end: number;
}
interface TimedAnswer {
  duration_sec: number;
  text: string;
  segments: (Timed & { text: string })[];
  words: (Timed & { word: string; probability: number })[];
}

const SAMPLES = join(packageRoot, 'test', 'fixtures', 'audio', 'samples');
const bytesOf = (file: string): Buffer => readFileSync(join(SAMPLES, file));

/** 16-bit mono at 16 kHz: the recording, so much silence, the recording, … */
function repeatedWithPauses(wav: Buffer, pauses: readonly number[]): Buffer {
  const start = wav.indexOf('data') + 8;
  const speech = wav.subarray(start, start + wav.readUInt32LE(start - 4));
  const parts = pauses.flatMap((seconds) => [speech, Buffer.alloc(Math.round(seconds * 16_000) * 2)]);
  const head = Buffer.from(wav.subarray(0, start));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  head.writeUInt32LE(length, start - 4);
  head.writeUInt32LE(head.length - 8 + length, 4);
  return Buffer.concat([head, ...parts]);
}

function expectInOrder(times: readonly Timed[], durationSeconds: number): void {
  let last = 0;
  for (const { start, end } of times) {
    for (const seconds of [start, end]) {
      expect(seconds).to.be.at.least(last).and.at.most(durationSeconds);
      expect(String(seconds)).to.match(/^\d+(\.\d{1,3})?$/);
      last = seconds;
    }
  }
}

const unspaced = (text: string): string => text.replace(/\s+/gu, '');

function expectTimed({ duration_sec: duration, text, segments, words }: TimedAnswer): void {
  expect(words).not.to.have.length(0);
  expect(unspaced(words.map(({ word }) => word).join(''))).to.equal(unspaced(text));
  expect(segments.map((segment) => segment.text).join(' ')).to.equal(text);
  expectInOrder(words, duration);
  expectInOrder(segments, duration);
  for (const { start, end, text } of segments) {
    expect(end - start).to.be.at.most(7);
    expect(text.length).to.be.at.most(84);
  }
  for (const { word, probability } of words) {
    expect(word).to.equal(word.trim()).and.not.to.equal('');
    expect(probability).to.be.within(0, 1);
  }
}

describe('times of real recordings', function () {
  this.timeout(60_000);
  let server: TestServer<SpeechEngine>;
  let customer: Customer;

  const start = async (decoder: 'batched' | 'whisper.cpp'): Promise<void> => {
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 2, decoder }) });
    customer = await server.customer(100);
  };
  const send = (...parts: Part[]): Promise<Answer> => transcribe(server, { key: customer.key, parts });
  const timed = async (...parts: Part[]): Promise<TimedAnswer> => {
    const { status, body, text } = await send(...parts);
    expect(status, text).to.equal(200);
    return body as unknown as TimedAnswer;
  };

  describe('by the engine’s own decoder', () => {
    before(() => start('batched'));
    after(() => server.dispose());

    for (const { file } of samples()) {
      it(`${file}: words, segments, and the same text as without`, async () => {
        const audio: Part = ['audio', bytesOf(file)];
        const answer = await timed(audio, ['timestamps', 'word']);
        expectTimed(answer);
        expect(answer.text).to.equal((await timed(audio)).text);
        expectTimed(await timed(audio, ['timestamps', 'word'], ['punctuate', 'no']));
      });
    }

    const PAUSES = [0.2, 3, 0, 12, 1, 0.5, 31, 2];
    const joined: Part = ['audio', repeatedWithPauses(bytesOf('en-wav16.wav'), PAUSES)];

    it('lie where the speech is, over windows and silences', async () => {
      const answer = await timed(joined, ['timestamps', 'word']);
      expectTimed(answer);
      const { seconds } = samples().find(({ file }) => file === 'en-wav16.wav')!;
      const starts = PAUSES.map((_, index) => PAUSES.slice(0, index).reduce((at, pause) => at + seconds + pause, 0));
      const repeatOf = ({ start, end }: Timed): number =>
        starts.findIndex((at) => start >= at - 0.1 && end <= at + seconds + 0.1);
      const repeats = answer.words.map(repeatOf);
      expect([...new Set(repeats)]).to.deep.equal(PAUSES.map((_, index) => index));
    });

    for (const [format, read] of [
      ['srt', readSrt],
      ['vtt', readVtt],
    ] as const) {
      it(`are ${format} that ffmpeg reads`, async () => {
        const { text } = await send(joined, ['format', format]);
        const cues = read(text);
        expect(cues).to.have.length.above(5);
        const path = join(server.directory, `subtitles.${format}`);
        writeFileSync(path, text);
        const times = cues.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
        expect(timesByFfmpeg(path)).to.deep.equal(times);
      });
    }

    it('are empty files where nothing is said', async () => {
      const silence: Part = ['audio', repeatedWithPauses(silent(bytesOf('en-wav16.wav')), [1])];
      expect(await timed(silence, ['timestamps', 'word'])).to.deep.include({
        text: '',
        segments: [],
        words: [],
      });
      expect(readSrt((await send(silence, ['format', 'srt'])).text)).to.deep.equal([]);
      expect((await send(silence, ['format', 'vtt'])).text).to.equal('WEBVTT\n');
      expect((await send(silence, ['format', 'text'])).text).to.equal('');
    });
  });

  describe('by whisper.cpp’s', () => {
    before(() => start('whisper.cpp'));
    after(() => server.dispose());

    it('gives words and segments, and the same text as without', async () => {
      const audio: Part = ['audio', bytesOf('en-wav16.wav')];
      const plain = await timed(audio);
      const answer = await timed(audio, ['timestamps', 'word']);
      expect(answer.text).to.equal(plain.text);
      expectTimed(answer);
    });
  });
});

function silent(wav: Buffer): Buffer {
  return Buffer.from(wav).fill(0, wav.indexOf('data') + 8);
}
