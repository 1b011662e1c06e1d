/** Transcribing and finding speakers side by side. */
import { expect } from 'chai';
import type { FileToTranscribe, OnWindow, Transcript, WindowUpdate } from '../../src/engine/types.js';
import { recogniseFile } from '../../src/transcription/recognition.js';
import { LanguageSupport } from '../../src/transcription/language-support.js';
import { ANY_SPEAKERS } from '../../src/transcription/options.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { FakeEngine } from '../support/fake-engine.js';

const OPTIONS = { diarize: true, language: null, ...ANY_SPEAKERS };
const UPDATE: WindowUpdate = { finished: null, seconds: 3, language: 'de', part: null };
const FILE: FileToTranscribe = { path: 'a', accountId: 'one', language: 'auto', seconds: 9 };

describe('recogniseFile', () => {
  it('refuses speech whose speakers cannot be found as soon as its language is known, and not at the end', async () => {
    const diarizer = new FakeDiarizer();
    diarizer.languages = ['en'];
    diarizer.holdAll();
    const transcribe = (file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> => {
      onWindow?.({ ...UPDATE, language: null });
      expect(file.signal?.aborted).to.equal(false);
      onWindow?.(UPDATE);
      return new Promise((_resolve, reject) => {
        if (file.signal?.aborted === true) reject(file.signal.reason as Error);
        else reject(new Error('It is transcribed to the end.'));
      });
    };
    const languages = new LanguageSupport(new FakeEngine().info, undefined, diarizer);
    const error = await recogniseFile(FILE, OPTIONS, { engine: { transcribe }, languages }).catch(
      (failure: unknown) => failure,
    );
    expect(error).to.include({ code: 'unsupported_diarization', param: 'diarize' });
    expect(diarizer.running).to.equal(0);
  });

  it('passes on each window, and has both at the end', async () => {
    const updates: WindowUpdate[] = [];
    const transcript = { language: 'de', durationSeconds: 9, text: 'Hallo.' } as Transcript;
    const transcribe = (_file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> => {
      onWindow?.(UPDATE);
      return Promise.resolve(transcript);
    };
    const languages = new LanguageSupport(new FakeEngine().info, undefined, new FakeDiarizer());
    const deps = { engine: { transcribe }, languages };
    const recognised = await recogniseFile(FILE, OPTIONS, deps, (update) => void updates.push(update));
    expect(recognised.transcript).to.equal(transcript);
    expect(recognised.timeline?.speakerOf({ startSeconds: 0, endSeconds: 0.5 })).to.equal('S1');
    expect(updates).to.deep.equal([UPDATE]);
  });
});
