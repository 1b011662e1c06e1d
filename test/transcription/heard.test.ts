/** Transcribing and telling who speaks side by side. */
import { expect } from 'chai';
import type { FileToTranscribe, HeardPart, Transcript } from '../../src/engine/types.js';
import { heardIn } from '../../src/transcription/heard.js';
import { LanguageSupport } from '../../src/transcription/language-support.js';
import { ANY_SPEAKERS } from '../../src/transcription/options.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { FakeEngine } from '../support/fake-engine.js';

const OPTIONS = { diarize: true, language: null, ...ANY_SPEAKERS };
const PART: HeardPart = { language: 'de', text: 'Hallo.', segments: [] };
const FILE: FileToTranscribe = { path: 'a', accountId: 'one', language: 'auto' };

describe('heardIn', () => {
  it('refuses speech whose speakers cannot be told as soon as its language is known, and not at the end', async () => {
    const diarizer = new FakeDiarizer();
    diarizer.languages = ['en'];
    diarizer.holdAll();
    let ended = false;
    const transcribeFile = async (file: FileToTranscribe): Promise<Transcript> => {
      await file.measured?.(3600);
      file.heard?.(PART);
      ended = true;
      throw new Error('It has been transcribed to the end.');
    };
    const languages = new LanguageSupport(new FakeEngine(), undefined, diarizer);
    const error = await heardIn(FILE, OPTIONS, { engine: { transcribeFile }, languages }).catch(
      (failure: unknown) => failure,
    );
    expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
    expect(ended).to.equal(false);
    expect(diarizer.running).to.equal(0);
  });

  it('tells of each part that is heard, and leaves the file’s own hooks as they are', async () => {
    const told: unknown[] = [];
    const transcript = { language: 'de', durationSeconds: 9, text: 'Hallo.' } as Transcript;
    const transcribeFile = async (file: FileToTranscribe): Promise<Transcript> => {
      await file.measured?.(9);
      file.heard?.(PART);
      return transcript;
    };
    const languages = new LanguageSupport(new FakeEngine(), undefined, new FakeDiarizer());
    const file = {
      ...FILE,
      measured: (s: number) => void told.push(s),
      heard: (part: HeardPart) => told.push(part),
    };
    const heard = await heardIn(file, OPTIONS, { engine: { transcribeFile }, languages });
    expect(heard.transcript).to.equal(transcript);
    expect(heard.timeline?.speakerOf({ startSeconds: 0, endSeconds: 0.5 })).to.equal('S1');
    expect(told).to.deep.equal([9, PART]);
  });
});
