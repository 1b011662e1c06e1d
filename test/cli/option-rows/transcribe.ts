import { expect } from 'chai';
import { withoutPunctuation } from '../../../src/transcription/punctuation.js';
import { samplePath } from '../../native/support.js';
import { inWorkplace, type OptionRows } from './rows.js';

interface Answer {
  language: string;
  language_probability: number | null;
  text: string;
  translation?: { language: string; text: string };
  segments: { text: string }[];
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
      for (const segment of segments) expect(segment.text).not.to.match(/[A-Z.?]/);
    }),
  'transcribe --diarize': () =>
    inWorkplace(async (place) => {
      const { status, stdout, stderr } = await place.run([...ENGLISH, '--diarize']);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.match(/^verbatim: --diarize: No model/);
    }),
  'transcribe --json': () =>
    inWorkplace(async (place) => {
      const text = await place.printed(ENGLISH);
      const answer = await place.json<Answer>([...ENGLISH, '--json']);
      expect(answer.text).to.equal(text.trimEnd());
      expect(answer.segments).not.to.have.length(0);
    }),
};
