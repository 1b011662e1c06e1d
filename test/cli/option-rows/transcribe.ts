import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { withoutPunctuation } from '../../../src/transcription/punctuation.js';
import { samplePath } from '../../native/support.js';
import { inWorkplace, type OptionRows } from './rows.js';

interface Answer {
  language: string;
  language_probability: number | null;
  text: string;
  translation?: { language: string; text: string; segments?: { text: string }[] };
  segments?: { text: string }[];
  words?: { word: string }[];
}

const ENGLISH = ['transcribe', samplePath('en-wav16.wav')];
const SPANISH = ['transcribe', samplePath('es-opus.ogg')];

export const transcribeRows: OptionRows = {
  'transcribe --language': () =>
    inWorkplace(async (place) => {
      const detected = await place.json<Answer>([...SPANISH, '--json']);
      expect(detected).to.include({ language: 'es' }).and.have.property('language_probability').above(0.5);
      const told = await place.json<Answer>([...SPANISH, '--json', '--language', 'eng']);
      expect(told).to.include({ language: 'en', language_probability: null });
    }),
  'transcribe --translate-to': () =>
    inWorkplace(async (place) => {
      const spoken = await place.printed(ENGLISH);
      const translated = await place.printed([...ENGLISH, '--translate-to', 'de']);
      expect(translated).not.to.equal(spoken);
      const answer = await place.json<Answer>([...ENGLISH, '--translate-to', 'de', '--json']);
      expect(answer.translation).to.deep.equal({ language: 'de', text: translated.trimEnd() });
      expect(answer.text).to.equal(spoken.trimEnd());
    }),
  'transcribe --no-punctuate': () =>
    inWorkplace(async (place) => {
      const [text, plain] = [
        await place.printed(ENGLISH),
        await place.printed([...ENGLISH, '--no-punctuate']),
      ];
      expect(text).to.match(/[A-Z].*[.?]/);
      expect(plain.trimEnd())
        .to.equal(withoutPunctuation(text.trimEnd(), 'en'))
        .and.not.match(/[A-Z.?]/);
      const { segments } = await place.json<Answer>([...ENGLISH, '--no-punctuate', '--json']);
      for (const segment of segments ?? []) expect(segment.text).not.to.match(/[A-Z.?]/);
    }),
  'transcribe --diarize': () =>
    inWorkplace(async (place) => {
      const { status, stdout, stderr } = await place.run([...ENGLISH, '--diarize']);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.match(/^verbatim: --diarize: No model/);
    }),
  'transcribe --prompt': () =>
    inWorkplace(async (place) => {
      const heard = await place.printed(SPANISH);
      // The bundled model never learnt what a prompt is, and a long one confuses it.
      const prompt = Array<string>(20).fill('Hello Emma, this is Laura.').join(' ');
      expect(await place.printed([...SPANISH, '--prompt', prompt])).not.to.equal(heard);
      expect(await place.printed([...SPANISH, '--prompt', ' '])).to.equal(heard);
      expect(await place.refusal([...ENGLISH, '--prompt', '🙂'.repeat(1001)])).to.contain(
        '--prompt has 1001 characters; allowed: at most 1000',
      );
    }),
  'transcribe --format': () =>
    inWorkplace(async (place) => {
      const text = await place.printed(ENGLISH);
      expect(await place.printed([...ENGLISH, '--format', 'text'])).to.equal(text);
      const answer = await place.json<Answer>([...ENGLISH, '--format', 'json']);
      expect(answer.text).to.equal(text.trimEnd());
      expect(answer).not.to.have.any.keys('segments', 'words');
      const spoken = new RegExp(text.trimEnd().replace(/\s+/g, '\\s+'));
      const [srt, vtt] = [
        await place.printed([...ENGLISH, '--format', 'srt']),
        await place.printed([...ENGLISH, '--format', 'vtt']),
      ];
      expect(srt)
        .to.match(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/)
        .and.match(spoken);
      expect(vtt)
        .to.match(/^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n/)
        .and.match(spoken);
      const german = (await place.printed([...ENGLISH, '--translate-to', 'de'])).trimEnd();
      const subtitles = await place.printed([...ENGLISH, '--translate-to', 'de', '--format', 'srt']);
      expect(subtitles.split('\n').slice(2).join(' ').trim()).to.equal(german);
      expect(await place.refusal([...ENGLISH, '--format', 'docx'])).to.contain('json, text, srt, vtt');
      expect(await place.refusal([...ENGLISH, '--json', '--format', 'srt'])).to.contain(
        '--json cannot be used with --format srt',
      );
    }),
  'transcribe --timestamps': () =>
    inWorkplace(async (place) => {
      const json = ['--format', 'json', '--timestamps'];
      const [none, segment, word] = [
        await place.json<Answer>([...ENGLISH, ...json, 'none']),
        await place.json<Answer>([...ENGLISH, ...json, 'segment']),
        await place.json<Answer>([...ENGLISH, ...json, 'word', '--translate-to', 'de']),
      ];
      expect(none).not.to.have.any.keys('segments', 'words');
      expect(segment.segments?.map(({ text }) => text).join(' ')).to.equal(segment.text);
      expect(segment).not.to.have.property('words');
      expect(word.words?.map((one) => one.word).join(' ')).to.equal(word.text);
      expect(word.translation?.segments?.map(({ text }) => text).join(' ')).to.equal(word.translation?.text);
      for (const format of ['text', 'srt', 'vtt']) {
        expect(await place.refusal([...ENGLISH, '--format', format, '--timestamps', 'word'])).to.contain(
          '--timestamps acts only with --format json',
        );
      }
    }),
  'transcribe --output': () =>
    inWorkplace(async (place) => {
      const text = await place.printed(ENGLISH);
      const output = join(place.directory, 'text');
      expect(await place.printed([...ENGLISH, '--output', output])).to.equal('');
      expect(readFileSync(output, 'utf8')).to.equal(text);
      expect(await place.refusal([...ENGLISH, '--output', place.directory])).to.contain('is a directory');
    }),
  'transcribe --output-dir': () =>
    inWorkplace(async (place) => {
      const directory = join(place.directory, 'texts');
      const [english, spanish] = [await place.printed(ENGLISH), await place.printed(SPANISH)];
      const files = [ENGLISH[1] ?? '', SPANISH[1] ?? ''];
      expect(await place.printed(['transcribe', ...files, '--output-dir', directory])).to.equal('');
      expect(readFileSync(join(directory, 'en-wav16.txt'), 'utf8')).to.equal(english);
      expect(readFileSync(join(directory, 'es-opus.txt'), 'utf8')).to.equal(spanish);
      expect(await place.refusal(['transcribe', ...files])).to.contain('--output-dir');
    }),
  'transcribe --json': () =>
    inWorkplace(async (place) => {
      const text = await place.printed(ENGLISH);
      const answer = await place.json<Answer>([...ENGLISH, '--json']);
      expect(answer.text).to.equal(text.trimEnd());
      expect(answer.segments).not.to.have.length(0);
    }),
};
