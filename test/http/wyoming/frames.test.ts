/** Wyoming's frames, as its documentation shows them and as no client should send them. */
import { expect } from 'chai';
import { frameBytes, WyomingReader, type WyomingFrame } from '../../../src/http/wyoming/frames.js';

function read(bytes: Buffer, size = bytes.length): WyomingFrame[] {
  const reader = new WyomingReader();
  const frames: WyomingFrame[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(...reader.push(bytes.subarray(at, at + size)));
  return frames;
}

const problem = (text: string | Buffer): (() => WyomingFrame[]) => {
  return () => read(Buffer.from(text as string));
};

describe("Wyoming's frames", () => {
  const payload = Buffer.from([1, 2, 10, 3]);
  const chunk = Buffer.concat([
    Buffer.from('{"type": "audio-chunk", "data": {"rate": 1}, "data_length": 31, "payload_length": 4}\n'),
    Buffer.from('{"rate": 16000, "width": 2    }'),
    payload,
  ]);

  it('are read whatever the pieces that they come in', () => {
    const bytes = Buffer.concat([frameBytes('describe'), chunk, chunk, frameBytes('ping', { text: 'Hé' })]);
    for (const size of [1, 3, 64, 1000]) {
      const frames = read(bytes, size);
      expect(frames.map(({ type }) => type)).to.deep.equal(['describe', 'audio-chunk', 'audio-chunk', 'ping']);
      // What lies behind the header takes precedence over what is in it.
      expect(frames[1]!.data).to.deep.equal({ rate: 16_000, width: 2 });
      expect(frames[2]!.payload.equals(payload)).to.equal(true);
      expect(frames[3]!.data).to.deep.equal({ text: 'Hé' });
    }
  });

  it('are none before they have come whole', () => {
    const reader = new WyomingReader();
    expect([...reader.push(chunk.subarray(0, -1))]).to.deep.equal([]);
    expect([...reader.push(chunk.subarray(-1))]).to.have.length(1);
  });

  it('are refused where they are none, or too long', () => {
    expect(problem('no json\n')).to.throw('The header of a frame is no JSON object');
    expect(problem('[]\n')).to.throw('no JSON object');
    expect(problem('{"data": {}}\n')).to.throw('no "type"');
    expect(problem('{"type": "ping", "data": 3}\n')).to.throw('"data" is no object');
    expect(problem('{"type": "ping", "data_length": 3}\n123')).to.throw('The data of a frame is no JSON object');
    for (const wrong of ['-1', '1.5', '"3"', '1e400']) {
      expect(problem(`{"type": "ping", "payload_length": ${wrong}}\n`), wrong).to.throw('no number of bytes');
    }
    expect(problem('{"type": "ping", "data_length": 1048577}\n')).to.throw('data_length is too long');
    expect(problem('{"type": "ping", "payload_length": 1048577}\n')).to.throw('payload_length is too long');
    expect(problem(`{"type": "${'x'.repeat(65_536)}`)).to.throw('header is too long');
    expect(problem(`{"type": "${'x'.repeat(65_536)}"}\n`)).to.throw('header is too long');
  });
});
