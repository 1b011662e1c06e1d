import { expect } from 'chai';
import { fingerprint } from '../../src/transcription/fingerprint.js';
import type { TranscriptionOptions } from '../../src/transcription/options.js';
import { PLAIN } from './transcription-fixture.js';

const of = (options: Partial<TranscriptionOptions>): string =>
  fingerprint({
    endpoint: '/api/v1/transcribe',
    audio: { sha256: 'abc' },
    options: { ...PLAIN, ...options },
  });

describe('fingerprint', () => {
  it('is what it always was of a request that asks for nothing newer', () => {
    // sha256 of ["/api/v1/transcribe",null,null,true,false,"abc"], which is what version 0.1.0 stored.
    expect(of({})).to.equal('db0bf2de5e7bb43aa7ad90c933fb9923378a8efd112b68e7e2a45c99a1244382');
  });

  it('distinguishes every field', () => {
    const all = [
      ...[of({}), of({ language: 'en' }), of({ translateTo: 'en' }), of({ punctuate: false }), of({ diarize: true })],
      ...[of({ timestamps: 'segment' }), of({ timestamps: 'word' })],
      ...[of({ format: 'text' }), of({ format: 'srt' }), of({ format: 'vtt' })],
      ...[of({ prompt: 'srt' }), of({ prompt: 'word' })],
      ...[of({ diarize: true, minSpeakers: 2 }), of({ diarize: true, maxSpeakers: 2 })],
      of({ diarize: true, minSpeakers: 2, maxSpeakers: 2 }),
      ...[of({ model: 'base' }), of({ model: 'small' }), of({ prompt: 'base' })],
      ...[of({ describe: true }), of({ temperature: 0.2 }), of({ temperature: 0.4 })],
    ];
    expect(new Set(all).size).to.equal(all.length);
  });
});
