/** Which pieces of a session's audio are worked off at once, and which on a worker thread. */
import { expect } from 'chai';
import { loadBinding, type LiveAudio } from '../../src/engine/binding.js';
import { pushAudio } from '../../src/live/push-audio.js';
import { pieces, spokenPcm } from '../support/live-audio.js';

describe('a piece of a live session', () => {
  let audio: LiveAudio;

  beforeEach(() => (audio = loadBinding().openLiveAudio({ encoding: 's16le', sampleRate: 16_000, channels: 1 })));
  afterEach(() => audio.close());

  it('is worked off at once where it is short and nobody speaks, else on a worker thread', async () => {
    expect(pushAudio(audio, Buffer.alloc(3200), 0.1)).to.deep.equal([]);
    expect(audio.position).to.equal(1600);
    const longer = pushAudio(audio, Buffer.alloc(6400), 0.2);
    expect(longer).to.be.an.instanceof(Promise);
    await longer;
    for (const piece of pieces(spokenPcm({ silenceSeconds: 0 }), 3200)) {
      const isSpeaking = audio.utteranceBegin !== null;
      const pushed = pushAudio(audio, piece, piece.length / 32_000);
      expect(pushed instanceof Promise).to.equal(isSpeaking);
      await pushed;
    }
    expect(audio.utteranceBegin).to.be.a('number');
  });
});
