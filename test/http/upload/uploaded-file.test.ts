import { expect } from 'chai';
import { storableName } from '../../../src/http/upload/uploaded-file.js';

describe('the name of an uploaded file', () => {
  it('is the last part of a path, of either kind', () => {
    expect(storableName('talk.wav')).to.equal('talk.wav');
    expect(storableName('/home/ann/talk.wav')).to.equal('talk.wav');
    expect(storableName('C:\\Users\\Ann\\talk.wav')).to.equal('talk.wav');
    expect(storableName('../../etc/passwd')).to.equal('passwd');
  });

  it('has no controls, no halves of characters and no marks that turn its direction', () => {
    expect(storableName('a\r\nb\0c\u202e3pm.exe')).to.equal('abc3pm.exe');
    expect(storableName('x\ud800y')).to.equal('xy');
    expect(storableName('会議 – Élan 🎙.m4a')).to.equal('会議 – Élan 🎙.m4a');
  });

  it('has at most 255 characters, and is none where nothing is left', () => {
    expect(Array.from(storableName('🎙'.repeat(300)) ?? '')).to.have.length(255);
    for (const nothing of [undefined, '', '  ', '/', 'folder/', '\u0007']) expect(storableName(nothing)).to.equal(null);
  });
});
