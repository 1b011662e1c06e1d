/**
 * An answer of thirty thousand words is written in many turns of the event loop, whatever its form, and is the same as
 * of one.
 */
import { expect } from 'chai';
import type { AnswerFormat } from '../../src/transcription/options.js';
import { answerText } from '../../src/transcription/answer-text.js';
import { resultOf, resultText, storedResult, type TranscriptionResult } from '../../src/transcription/result.js';
import { srtOf, vttOf } from '../../src/transcription/subtitles.js';
import { transcriptionBody } from '../../src/transcription/transcription-body.js';
import { writtenAnswer } from '../../src/http/api/written-answer.js';
import { eventBytes } from '../../src/http/app/event-stream.js';
import { turnsDuring } from '../support/turns.js';

const WORDS = 30_000;
const MOST_WORDS_A_TURN = 1000;
const TIMINGS = { queueMs: 0, readMs: 0, speechMs: 0, inferenceMs: 0, translateMs: 0 };

function resultOfWords(count: number): TranscriptionResult {
  const words = Array.from({ length: count }, (_, word) => ({
    ...{ startSeconds: word / 2, endSeconds: (word + 1) / 2, text: `word${word}`, probability: 0.5 },
    ...(word % 2 === 0 ? { speaker: 'S1' } : {}),
  }));
  const segments = words
    .filter((_, word) => word % 10 === 0)
    .map(({ startSeconds, text }) => ({ startSeconds, endSeconds: startSeconds + 5, text, speaker: 'S2' }));
  return {
    ...{
      id: 'tr_1',
      durationSeconds: count / 2,
      language: 'en',
      words,
      segments,
      described: null,
      warnings: [],
      model: 'base',
    },
    ...{ text: words.map(({ text }) => text).join(' '), creditsUsed: 1, creditsRemaining: 2 },
    translation: { language: 'de', text: 'Wörter', segments, described: null },
  };
}

describe('A long answer', () => {
  const result = resultOfWords(WORDS);
  const turns = WORDS / MOST_WORDS_A_TURN;

  it('leaves others their turns, and is the same as of one piece', async () => {
    const { language, segments } = result.translation!;
    const subtitled = { language, segments: segments!, durationSeconds: result.durationSeconds };
    const wholes: Record<AnswerFormat, string> = {
      json: JSON.stringify(transcriptionBody(result)),
      text: 'Wörter',
      srt: srtOf(subtitled),
      vtt: vttOf(subtitled),
    };
    for (const format of ['json', 'srt', 'vtt'] as const) {
      let body: unknown;
      const write = async (): Promise<void> => {
        ({ body } = await writtenAnswer({ replayed: false, result, timings: TIMINGS }, format));
      };
      expect(await turnsDuring(write), format).to.be.at.least(turns);
      expect(String(body)).to.equal(wholes[format]);
    }
    expect(await answerText({ ...result, translation: null, segments: null }, 'text')).to.equal(result.text);
  });

  it('in an event does, too', async () => {
    const data = transcriptionBody(result);
    let bytes: Buffer = Buffer.alloc(0);
    expect(await turnsDuring(async () => (bytes = await eventBytes([{ event: 'done', data }])))).to.be.at.least(turns);
    expect(bytes.toString()).to.equal(`event: done\ndata: ${JSON.stringify(data)}\n\n`);
  });

  it('is kept in the same words, and comes back', async () => {
    let text = '';
    expect(await turnsDuring(async () => ({ text } = await resultText(result)))).to.be.at.least(turns);
    const { creditsUsed, creditsRemaining, ...uncharged } = result;
    const kept = await resultText(uncharged);
    expect(kept.text).to.equal(JSON.stringify(storedResult(uncharged)));
    expect(text).to.include('"version":5');
    const back = resultOf(JSON.parse(kept.text) as never, { creditsUsed, creditsRemaining });
    expect(back).to.deep.equal(result);
  });
});
