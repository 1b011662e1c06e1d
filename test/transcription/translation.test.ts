/** Translations with the times of what was said: by sentences, and by a second pass over the audio. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { placesOf, splitSentences } from '../../src/engine/translation/sentences.js';
import type { FileToTranscribe, Transcript } from '../../src/engine/types.js';
import { LanguageSupport, type TextTranslator } from '../../src/transcription/language-support.js';
import { answerPartsOf } from '../../src/transcription/answer-parts.js';
import { translationOf } from '../../src/transcription/translation.js';
import { NO_DIARIZER } from '../support/fake-diarizer.js';
import { fakeAudio, FakeEngine } from '../support/fake-engine.js';

/** Shouts each sentence, the long ones at length. */
const shouting: TextTranslator = {
  supports: (_from, to) => to === 'de',
  translate: async ({ text, from }) => {
    const sources = await splitSentences(text, from);
    const texts = sources.map((source) => (source.length > 20 ? `${source} `.repeat(6).trim() : source).toUpperCase());
    const sentences = placesOf(sources, text).map((place, index) => ({ ...place, text: texts[index] ?? '' }));
    return { text: texts.join(' '), sentences };
  },
};

const TEXT = 'Good morning. This is a sentence of ten words, more or less. Bye!';

describe('translationOf', () => {
  let directory: string;
  let engine: FakeEngine;
  let asked: FileToTranscribe[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-translation-'));
    engine = new FakeEngine();
    asked = [];
    const transcribe = engine.transcribe.bind(engine);
    engine.transcribe = (file) => {
      asked.push(file);
      return transcribe(file);
    };
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const fileOf = (text: string, align = true) => {
    const path = join(directory, 'audio');
    writeFileSync(path, fakeAudio(20, { text }));
    const { signal } = new AbortController();
    return { path, accountId: 'one', prompt: 'Emma', align, signal };
  };
  const translated = async (to: string, text = TEXT, align = true) => {
    const file = fileOf(text, align);
    const transcript: Transcript = await engine.transcribe({ ...file, seconds: 20, language: 'en' });
    const languages = new LanguageSupport(engine.info, shouting, NO_DIARIZER);
    const { translation, isTranslated } = await translationOf(transcript, { to, file }, { engine, languages });
    const { segments } = await answerPartsOf(translation, {
      punctuate: true,
      timestamps: 'segment',
      format: 'json',
      ...{ describe: false, diarize: false },
    });
    return { transcript, translation, isTranslated, segments: segments ?? [] };
  };

  for (const align of [true, false]) {
    it(`has captions in the time of each sentence, ${align ? 'by words' : 'by letters'}`, async () => {
      const { transcript, translation, segments } = await translated('de', TEXT, align);
      expect(translation.language).to.equal('de');
      expect(segments.map(({ text }) => text).join(' ')).to.equal(translation.text);
      expect(segments[0]).to.deep.include({ text: 'GOOD MORNING.', startSeconds: 0 });
      expect(segments.at(-1)).to.deep.include({ text: 'BYE!' });
      for (const { startSeconds, endSeconds, text } of segments) {
        expect(text.length).to.be.at.most(84);
        expect(endSeconds - startSeconds).to.be.at.most(7);
      }
      const perLetter = align ? 20 / TEXT.length : 20 / TEXT.replace(/ /g, '').length;
      const first = align ? 'Good'.length + ' morning.'.length / 2 : 'Goodmorning.'.length;
      expect(segments[0]!.endSeconds).to.be.closeTo(first * perLetter, 0.001);
      const [second] = segments.filter(({ text }) => text.startsWith('THIS'));
      const start = align ? TEXT.indexOf(' This') : 'Goodmorning.'.length;
      expect(second!.startSeconds).to.be.closeTo(start * perLetter, 0.001);
      expect(segments.at(-1)!.endSeconds).to.be.at.most(transcript.durationSeconds);
    });
  }

  it('runs the file once more for the speech model’s own task, with words and with what to expect', async () => {
    engine.info.translatesToEnglish = true;
    engine.info.languages = ['en', 'es'];
    const file = fileOf('Hola. Adiós.');
    const transcript = await engine.transcribe({ ...file, seconds: 20, language: 'es' });
    const languages = new LanguageSupport(engine.info, undefined, NO_DIARIZER);
    const { translation, isTranslated } = await translationOf(transcript, { to: 'en', file }, { engine, languages });
    expect(isTranslated).to.equal(true);
    expect(translation).to.include({
      text: 'into English: Hola. Adiós.',
      language: 'en',
      durationSeconds: 20,
    });
    expect(translation.segments.flatMap(({ words = [] }) => words)).to.have.length(4);
    expect(asked[1]).to.include({ task: 'translate', language: 'es', prompt: 'Emma', align: true });
    expect(asked[1]!.seconds).to.equal(20);
  });

  it('is the transcript itself where that is the language, and nothing where nothing was said', async () => {
    const same = await translated('en');
    expect(same.isTranslated).to.equal(false);
    expect(same.translation).to.equal(same.transcript);
    const silent = await translated('de', ' ');
    expect(silent.isTranslated).to.equal(false);
    expect(silent.translation).to.deep.equal({ text: '', language: 'de', durationSeconds: 20, segments: [] });
    expect(asked).to.have.length(2);
  });
});
