/** What an answer says of a transcript whose speakers are known. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Word } from '../../src/engine/binding.js';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { answerText } from '../../src/transcription/answer-text.js';
import { speakerLines } from '../../src/transcription/diarized.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from '../../src/transcription/options.js';
import { answerPartsOf, type AnswerParts, type TimedTranscript } from '../../src/transcription/answer-parts.js';
import { SpeakerTimeline } from '../../src/transcription/speaker-timeline.js';
import type { TimedText } from '../../src/transcription/timed-text.js';
import { readSrt, readVtt } from '../support/strict-subtitles.js';

const DIARIZE: TranscriptionOptions = {
  ...{ language: null, translateTo: null, punctuate: true, diarize: true, ...ANY_SPEAKERS },
  ...{ model: null, timestamps: 'none', format: 'json', prompt: null, describe: false, temperature: 0 },
};

const turn = (speaker: string, startSeconds: number, endSeconds: number): SpeakerTurn => ({
  ...{ startSeconds, endSeconds, speaker },
});

/** A word at each of these places, of 0.4 s. */
function spokenWords(places: Record<string, number>, durationSeconds = 20): TimedTranscript {
  const words: Word[] = Object.entries(places).map(([word, startSeconds]) => ({
    ...{ text: ` ${word}`, startSeconds, endSeconds: startSeconds + 0.4, probability: 0.9 },
  }));
  const text = words.map((word) => word.text).join('');
  const segment = { startSeconds: 0, endSeconds: durationSeconds, text, words };
  return { text: text.trim(), language: 'en', durationSeconds, segments: words.length > 0 ? [segment] : [] };
}

const spokenBy = (
  turns: SpeakerTurn[],
  transcript: TimedTranscript,
  options: Partial<TranscriptionOptions> = {},
): Promise<AnswerParts> => {
  const timeline = new SpeakerTimeline(turns, transcript.durationSeconds);
  return answerPartsOf(transcript, { ...DIARIZE, ...options }, { timeline });
};

const shown = ({ segments }: AnswerParts): unknown[] =>
  (segments ?? []).map(({ startSeconds, endSeconds, speaker, text }) => [startSeconds, endSeconds, speaker, text]);

describe('an answer with speakers', () => {
  it('has a segment for each change of the speaker, within a sentence, too', async () => {
    const turns = [turn('S1', 0, 2), turn('S2', 2, 4)];
    const spoken = await spokenBy(turns, spokenWords({ Are: 0, you: 0.5, 'there?': 1.2, Yes: 2, I: 2.5, 'am.': 3 }));
    expect(shown(spoken)).to.deep.equal([
      [0, 1.6, 'S1', 'Are you there?'],
      [2, 3.4, 'S2', 'Yes I am.'],
    ]);
    expect(spoken.words?.map(({ text, speaker }) => [text, speaker])).to.deep.equal([
      ...[
        ['Are', 'S1'],
        ['you', 'S1'],
        ['there?', 'S1'],
      ],
      ...[
        ['Yes', 'S2'],
        ['I', 'S2'],
        ['am.', 'S2'],
      ],
    ]);
    expect(spoken.text).to.equal('Are you there? Yes I am.');
  });

  it('reports turns without a word as segments without a text', async () => {
    const turns = [turn('S1', 1, 3), turn('S2', 2, 2.8), turn('S3', 5, 9), turn('S1', 10, 11)];
    expect(shown(await spokenBy(turns, spokenWords({ Well: 1, then: 2.5 })))).to.deep.equal([
      [1, 2.9, 'S1', 'Well then'],
      [2, 2.8, 'S2', ''],
      [5, 9, 'S3', ''],
      [10, 11, 'S1', ''],
    ]);
    expect(shown(await spokenBy(turns, spokenWords({})))).to.deep.equal([
      [1, 3, 'S1', ''],
      [2, 2.8, 'S2', ''],
      [5, 9, 'S3', ''],
      [10, 11, 'S1', ''],
    ]);
  });

  it('reports a turn of which punctuate=false leaves nothing as of one without a word', async () => {
    const turns = [turn('S1', 0, 1), turn('S2', 1, 2)];
    const spoken = await spokenBy(turns, spokenWords({ Yes: 0, '…': 1.2 }), { punctuate: false });
    expect(shown(spoken)).to.deep.equal([
      [0, 0.4, 'S1', 'yes'],
      [1, 2, 'S2', ''],
    ]);
  });

  it('counts speakers in the order in which they are reported', async () => {
    const turns = [turn('S1', 1, 2), turn('S2', 2, 5)];
    const late = spokenWords({});
    const word: Word = { text: 'Sooner', startSeconds: 0, endSeconds: 5, probability: 1 };
    const spoken = await spokenBy(turns, { ...late, segments: [{ ...word, words: [word] }] });
    expect(shown(spoken)).to.deep.equal([
      [0, 5, 'S1', 'Sooner'],
      [1, 2, 'S2', ''],
    ]);
  });

  it('takes a text whose words are not aligned for one speaker’s: a translated sentence', async () => {
    const turns = [turn('S1', 0, 4), turn('S2', 4, 20)];
    const text = 'a sentence that is far too long to be shown as it is and therefore parted '.repeat(3).trim();
    const translated = { ...spokenWords({}), text, segments: [{ startSeconds: 0, endSeconds: 20, text }] };
    const { segments } = await spokenBy(turns, translated);
    const texts = segments?.filter((segment) => segment.text !== '') ?? [];
    expect(texts).to.have.length.above(2);
    expect(new Set(texts.map(({ speaker }) => speaker))).to.have.length(1);
  });

  it('names the same speakers in the translation', async () => {
    const transcript = spokenWords({ Ja: 0, Nein: 5 });
    const timeline = new SpeakerTimeline([turn('S1', 0, 1), turn('S2', 5, 6)], 20);
    await answerPartsOf(transcript, DIARIZE, { timeline });
    const segments = [{ startSeconds: 5, endSeconds: 5.4, text: 'No' }];
    const translation = await answerPartsOf({ ...transcript, text: 'No', segments }, DIARIZE, { timeline });
    expect(shown(translation)).to.deep.equal([
      [0, 1, 'S1', ''],
      [5, 5.4, 'S2', 'No'],
    ]);
  });

  it('has words in JSON alone, and segments of which text and subtitles are made', async () => {
    const turns = [turn('S1', 0, 2), turn('S2', 2, 5)];
    const transcript = spokenWords({ 'Hello.': 0, Hello: 2, 'you.': 2.5 });
    const written = async (format: 'text' | 'srt' | 'vtt'): Promise<string> => {
      const spoken = await spokenBy(turns, transcript, { format });
      expect(spoken.words).to.equal(null);
      return answerText({ language: 'en', durationSeconds: 20, translation: null, ...spoken }, format);
    };
    expect(await written('text')).to.equal('S1: Hello.\nS2: Hello you.');
    const [srt, vtt] = [await written('srt'), await written('vtt')];
    expect(readSrt(srt).map(({ lines }) => lines)).to.deep.equal([['S1: Hello.'], ['S2: Hello you.']]);
    expect(readVtt(vtt).map(({ lines, speaker }) => [speaker, lines])).to.deep.equal([
      ['S1', ['Hello.']],
      ['S2', ['Hello you.']],
    ]);
  });

  it('joins what a speaker says on one line, and begins another where the speaker changes', () => {
    const segment = (speaker: string, text: string): TimedText => ({
      startSeconds: 0,
      endSeconds: 1,
      text,
      speaker,
    });
    const segments = [
      segment('S1', 'a'),
      segment('S1', 'b'),
      segment('S2', ''),
      segment('S1', 'c'),
      segment('S2', 'd'),
    ];
    expect(speakerLines(segments, 'en')).to.deep.equal(['S1: a b c', 'S2: d']);
    expect(speakerLines([segment('S1', '今日は'), segment('S1', '晴れ')], 'ja')).to.deep.equal(['S1: 今日は晴れ']);
  });

  it('leaves room for who speaks in two lines', async () => {
    const words = Array.from({ length: 60 }, (_, index) => [`word${index}`, index * 0.3] as const);
    const turns = [turn('S1', 0, 100)];
    const spoken = await spokenBy(turns, spokenWords(Object.fromEntries(words), 30), { format: 'srt' });
    const srt = await answerText({ language: 'en', durationSeconds: 30, translation: null, ...spoken }, 'srt');
    for (const { lines } of readSrt(srt)) {
      expect(lines.length).to.be.at.most(2);
      for (const line of lines) expect(line.length).to.be.at.most(42);
    }
  });

  it('keeps its promises whatever is said and whoever speaks', async () => {
    const word = fc.record({
      text: fc.constantFrom(' a', ' word.', ' longer,', '…', ' ', ' 5'),
      gap: fc.constantFrom(0, 0, 0.01, 0.2, 0.7, 3, -0.3),
      seconds: fc.constantFrom(0, 0, 0.1, 0.33333, 0.5, 1.7, 9),
    });
    const anyTurn = fc
      .tuple(fc.constantFrom('S1', 'S2', 'S3', 'S12'), fc.nat(400), fc.integer({ min: 0, max: 60 }))
      .map(([speaker, start, length]) => turn(speaker, start / 10.01, (start + length) / 10.01));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(word, { minLength: 1, maxLength: 20 }), { maxLength: 4 }),
        fc.array(anyTurn, { maxLength: 20 }),
        fc.constantFrom('en', 'ja'),
        fc.boolean(),
        async (recipe, turns, language, punctuate) => {
          const transcript = transcriptOf(recipe, language);
          const spoken = await spokenBy(turns, transcript, { punctuate });
          expect(faultsOf(spoken, transcript, turns)).to.deep.equal([]);
        },
      ),
      { numRuns: 1500 },
    );
  });
});

const SECONDS = 30.0004;

function transcriptOf(recipe: { text: string; gap: number; seconds: number }[][], language: string): TimedTranscript {
  let at = 0;
  const segments = recipe.map((parts) => {
    const words = parts.map(({ text, gap, seconds }): Word => {
      const startSeconds = Math.max(0, at + gap);
      at = startSeconds + seconds;
      return { text, startSeconds, endSeconds: at, probability: 1 };
    });
    const [first, last] = [words[0]!, words.at(-1)!];
    const text = words.map((word) => word.text).join('');
    return { startSeconds: first.startSeconds, endSeconds: last.endSeconds, text, words };
  });
  const text = segments.map((segment) => segment.text.trim()).join(' ');
  return { text, language, durationSeconds: SECONDS, segments };
}

const spaceless = (text: string): string => text.replace(/\s/gu, '');

/** What the contract does not allow. */
function faultsOf(spoken: AnswerParts, transcript: TimedTranscript, turns: readonly SpeakerTurn[]): string[] {
  const [segments, words] = [spoken.segments ?? [], spoken.words ?? []];
  const faults: string[] = [];
  const fault = (isFault: boolean, what: string): void => {
    if (isFault) faults.push(what);
  };
  for (const texts of [segments, words]) {
    const ends = new Map<string, number>();
    let start = 0;
    for (const { startSeconds, endSeconds, speaker = 'nobody' } of texts) {
      fault(!/^S\d+$/.test(speaker), `spoken by ${speaker}`);
      fault(startSeconds < start, 'goes back');
      fault(endSeconds < startSeconds, 'ends before it starts');
      fault(endSeconds > 30, 'past the end');
      fault(startSeconds < (ends.get(speaker) ?? 0), `${speaker} overlaps`);
      fault(
        [startSeconds, endSeconds].some((time) => time !== Math.round(1000 * time) / 1000),
        'not rounded',
      );
      ends.set(speaker, endSeconds);
      start = startSeconds;
    }
  }
  const names = [...new Set(segments.map(({ speaker }) => speaker))];
  fault(
    names.some((name, index) => name !== `S${index + 1}`),
    `names in the order ${names.join()}`,
  );
  fault(
    words.some(({ speaker }) => !names.includes(speaker)),
    'a word of somebody who has no segment',
  );
  const written = (texts: readonly TimedText[]): string => spaceless(texts.map(({ text }) => text).join(''));
  fault(written(words) !== spaceless(spoken.text), 'words are not the text');
  fault(written(segments) !== spaceless(spoken.text), 'segments are not the text');
  const recognised = new Set(turns.filter((one) => isRecognised(one)).map(({ speaker }) => speaker)).size;
  fault(names.length < recognised, `${names.length} of ${recognised} people are reported`);
  fault(recognised > 0 && names.length > recognised, 'somebody who never spoke');
  fault(transcript.text.trim() === '' && words.length > 0, 'words of nothing');
  return faults;
}

/** Of what lies in the file, thousandths are left. */
function isRecognised({ startSeconds, endSeconds }: SpeakerTurn): boolean {
  return Math.round(1000 * Math.min(endSeconds, SECONDS)) > Math.round(1000 * startSeconds);
}
