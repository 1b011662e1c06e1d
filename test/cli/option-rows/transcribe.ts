import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { withoutPunctuation } from '../../../src/transcription/punctuation.js';
import { samplePath } from '../../native/support.js';
import { voiceAt, writeConversation } from '../../support/conversation.js';
import { inWorkplace, type OptionRows, type Workplace } from './rows.js';

interface Answer {
  language: string;
  language_probability: number | null;
  text: string;
  translation?: { language: string; text: string; segments?: { text: string }[] };
  segments?: { text: string; start: number; end: number; speaker?: string }[];
  words?: { word: string; start: number; speaker?: string }[];
}

const ENGLISH = ['transcribe', samplePath('en-wav16.wav')];
const SPANISH = ['transcribe', samplePath('es-opus.ogg')];

/** How many speakers are reported with that option's value. */
function speakersReported(place: Workplace, path: string, option: string): (value: string) => Promise<number> {
  return async (value) => {
    const { segments = [] } = await place.json<Answer>(['transcribe', path, '--json', '--diarize', option, value]);
    return new Set(segments.map(({ speaker }) => speaker)).size;
  };
}

export const transcribeRows: OptionRows = {
  'transcribe --language': () =>
    inWorkplace(async (place) => {
      const detected = await place.json<Answer>([...SPANISH, '--json']);
      expect(detected).to.include({ language: 'es' }).and.have.property('language_probability').above(0.5);
      const reported = await place.json<Answer>([...SPANISH, '--json', '--language', 'eng']);
      expect(reported).to.include({ language: 'en', language_probability: null });
      expect(await place.json([...SPANISH, '--json', '--language', 'English'])).to.include({ language: 'en' });
      expect(await place.refusal([...SPANISH, '--language', 'Elvish'])).to.contain('--language is "Elvish"');
    }),
  'transcribe --task': () =>
    inWorkplace(async (place) => {
      const spoken = await place.printed(SPANISH);
      const english = await place.printed([...SPANISH, '--translate-to', 'English']);
      expect(english).not.to.equal(spoken);
      expect(await place.printed([...SPANISH, '--task', 'translate'])).to.equal(english);
      expect(await place.printed([...SPANISH, '--task', 'transcribe'])).to.equal(spoken);
      expect(await place.refusal([...SPANISH, '--task', 'summarize'])).to.contain('transcribe, translate');
      expect(await place.refusal([...SPANISH, '--task', 'translate', '--translate-to', 'de'])).to.contain(
        '--task translate cannot be used with --translate-to',
      );
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
      const [text, plain] = [await place.printed(ENGLISH), await place.printed([...ENGLISH, '--no-punctuate'])];
      expect(text).to.match(/[A-Z].*[.?]/);
      expect(plain.trimEnd())
        .to.equal(withoutPunctuation(text.trimEnd(), 'en'))
        .and.not.match(/[A-Z.?]/);
      const { segments } = await place.json<Answer>([...ENGLISH, '--no-punctuate', '--json']);
      for (const segment of segments ?? []) expect(segment.text).not.to.match(/[A-Z.?]/);
    }),
  'transcribe --diarize': () =>
    inWorkplace(async (place) => {
      const conversation = await writeConversation(join(place.directory, 'conversation.wav'));
      const asked = ['transcribe', conversation.path, '--diarize', '--speakers', '2'];
      const { words = [], segments = [] } = await place.json<Answer>([...asked, '--json']);
      const right = words.filter(({ start, speaker }) => {
        return speaker === (voiceAt(conversation, start) === 'A' ? 'S1' : 'S2');
      });
      expect(right.length).to.be.at.least(0.9 * words.length);
      expect(words).to.have.length.above(60);
      expect(segments[0]).to.include({ speaker: 'S1' });
      expect(await place.printed(asked)).to.match(/^S1: Do you speak .*\nS2: .*\n/);
      expect(await place.printed([...asked, '--format', 'srt'])).to.match(/^1\n.* --> .*\nS1: Do you speak/);
      expect(await place.printed([...asked, '--format', 'vtt'])).to.contain('\n<v S1>Do you speak');
      const off = await place.run([...ENGLISH, '--diarize'], { VERBATIM_SPEAKERS: 'off' });
      expect(off).to.include({ status: 1, stdout: '' });
      expect(off.stderr).to.equal('verbatim: --diarize: VERBATIM_SPEAKERS is off.\n');
    }),
  'transcribe --model': () =>
    inWorkplace(async (place) => {
      const wrong = { VERBATIM_MODEL: 'bsae' };
      const printed = await place.printed(ENGLISH);
      for (const name of ['verbatim-small', 'bundled'])
        expect(await place.printed([...ENGLISH, '--model', name], wrong)).to.equal(printed);
      const { status, stderr } = await place.run([...ENGLISH, '--model', 'base']);
      expect(status).to.equal(1);
      expect(stderr).to.contain('The model "base" is not installed').and.contain('models pull base');
    }),
  'transcribe --num-speakers': () =>
    inWorkplace(async (place) => {
      const conversation = await writeConversation(join(place.directory, 'conversation.wav'));
      const speakers = speakersReported(place, conversation.path, '--num-speakers');
      expect([await speakers('1'), await speakers('2')]).to.deep.equal([1, 2]);
      const both = [...ENGLISH, '--diarize', '--num-speakers', '2'];
      expect(await place.refusal([...both, '--speakers', '2'])).to.contain('--num-speakers cannot be used with --spe');
      expect(await place.refusal([...both, '--max-speakers', '2'])).to.contain('--num-speakers cannot be used with');
      expect(await place.refusal([...ENGLISH, '--num-speakers', '2'])).to.contain('--num-speakers needs');
    }),
  'transcribe --speakers': () =>
    inWorkplace(async (place) => {
      const conversation = await writeConversation(join(place.directory, 'conversation.wav'));
      const speakers = speakersReported(place, conversation.path, '--speakers');
      expect([await speakers('1'), await speakers('2')]).to.deep.equal([1, 2]);
      expect(await place.refusal([...ENGLISH, '--speakers', '2'])).to.contain('--speakers needs --diarize.');
      for (const wrong of ['0', '21', 'two']) {
        expect(await place.refusal([...ENGLISH, '--diarize', '--speakers', wrong])).to.contain(
          'an integer from 1 to 20',
        );
      }
    }),
  'transcribe --min-speakers': () =>
    inWorkplace(async (place) => {
      const conversation = await writeConversation(join(place.directory, 'conversation.wav'));
      const speakers = speakersReported(place, conversation.path, '--min-speakers');
      expect(await speakers('2')).to.be.at.least(2);
      expect(await place.refusal([...ENGLISH, '--min-speakers', '2'])).to.contain('--min-speakers needs');
      const both = ['--diarize', '--speakers', '2', '--min-speakers', '2'];
      expect(await place.refusal([...ENGLISH, ...both])).to.contain('--speakers cannot be used with');
    }),
  'transcribe --max-speakers': () =>
    inWorkplace(async (place) => {
      const conversation = await writeConversation(join(place.directory, 'conversation.wav'));
      const speakers = speakersReported(place, conversation.path, '--max-speakers');
      expect(await speakers('1')).to.equal(1);
      expect(await place.refusal([...ENGLISH, '--max-speakers', '2'])).to.contain('--max-speakers needs');
      const crossed = ['--diarize', '--min-speakers', '3', '--max-speakers', '2'];
      expect(await place.refusal([...ENGLISH, ...crossed])).to.contain('--min-speakers is 3, which is more than');
    }),
  'transcribe --prompt': () =>
    inWorkplace(async (place) => {
      const recognised = await place.printed(SPANISH);
      // The bundled model never learnt what a prompt is, and a long one confuses it.
      const prompt = Array<string>(20).fill('Hello Emma, this is Laura.').join(' ');
      expect(await place.printed([...SPANISH, '--prompt', prompt])).not.to.equal(recognised);
      expect(await place.printed([...SPANISH, '--prompt', ' '])).to.equal(recognised);
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
          '--timestamps needs --format json',
        );
      }
    }),
  'transcribe --word-timestamps': () =>
    inWorkplace(async (place) => {
      const json = [...ENGLISH, '--format', 'json', '--word-timestamps'];
      expect(await place.json<Answer>([...json, 'True'])).to.have.property('words');
      expect(await place.json<Answer>([...json, 'False'])).not.to.have.property('words');
      expect(await place.refusal([...json, 'yes'])).to.contain('True, False');
      expect(await place.refusal([...ENGLISH, '--word-timestamps', 'True'])).to.contain('--word-timestamps needs JSON');
      expect(await place.refusal([...json, 'True', '--timestamps', 'word'])).to.contain(
        '--word-timestamps cannot be used with --timestamps',
      );
    }),
  'transcribe --output-format': () =>
    inWorkplace(async (place) => {
      const directory = join(place.directory, 'out');
      const into = [...ENGLISH, '--output-dir', directory];
      expect(await place.printed([...into, '--output-format', 'all', '--word-timestamps', 'True'])).to.equal('');
      const names = ['json', 'srt', 'tsv', 'txt', 'vtt'].map((extension) => `en-wav16.${extension}`);
      expect(readdirSync(directory).sort()).to.deep.equal(names);
      const [json, srt, tsv, text, vtt] = names.map((name) => readFileSync(join(directory, name), 'utf8'));
      expect(text).to.equal(await place.printed(ENGLISH));
      expect(srt).to.equal(await place.printed([...ENGLISH, '--format', 'srt']));
      expect(vtt).to.equal(await place.printed([...ENGLISH, '--format', 'vtt']));
      const { segments = [], words = [] } = JSON.parse(json ?? '') as Answer;
      expect(words.map(({ word }) => word).join(' ')).to.equal(text?.trimEnd());
      const rows = segments.map((segment) => `${segment.start * 1000}\t${segment.end * 1000}\t${segment.text}\n`);
      expect(tsv).to.equal(`start\tend\ttext\n${rows.join('')}`);

      expect(await place.printed([...into, '--output-format', 'srt'])).to.equal('');
      expect(readFileSync(join(directory, 'en-wav16.srt'), 'utf8')).to.equal(srt);
      for (const other of [['--json'], ['--format', 'srt'], ['--timestamps', 'word']]) {
        expect(await place.refusal([...into, '--output-format', 'srt', ...other])).to.contain(
          `--output-format cannot be used with ${other[0]}`,
        );
      }
      expect(await place.refusal([...into, '--output-format', 'docx'])).to.contain('txt, srt, vtt, json, tsv, all');
      expect(await place.refusal([...ENGLISH, '--output', 'a', '--output-format', 'all'])).to.contain(
        'Several formats need --output-dir',
      );
      expect(await place.refusal([...into, '--output-format', 'txt', '--word-timestamps', 'True'])).to.contain(
        '--word-timestamps cannot be used with',
      );
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
