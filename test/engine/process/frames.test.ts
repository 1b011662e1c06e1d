import { deepStrictEqual } from 'node:assert/strict';
import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { FrameReader, FrameWriter, frameOf } from '../../../src/engine/process/frames.js';

describe('frames', () => {
  const read = (bytes: Buffer, cuts: readonly number[], most = 1e6): { values: unknown[]; bytes: number } => {
    const values: unknown[] = [];
    let sum = 0;
    const reader = new FrameReader(most);
    const take = (piece: Buffer): void => {
      for (const frame of reader.push(piece)) {
        values.push(frame.value);
        sum += frame.bytes;
      }
    };
    const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
    places.sort((one, other) => one - other);
    for (const [index, place] of places.entries()) {
      if (index > 0) take(bytes.subarray(places[index - 1], place));
    }
    return { values, bytes: sum };
  };

  it('are put together again as they were, of pieces of any size', () => {
    const plain = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 8 }), fc.array(fc.nat()), (all, cuts) => {
        const bytes = Buffer.concat(all.map((value) => frameOf(value)));
        // JSON has no -0.
        const asText = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
        deepStrictEqual(read(bytes, cuts).values.map(asText), all.map(asText));
        expect(read(bytes, cuts).bytes).to.equal(bytes.length);
      }),
      { numRuns: 300 },
    );
    const { values } = read(frameOf({ none: undefined, odd: [NaN, -Infinity], text: 'ß€\ud800' }), [3, 9]);
    deepStrictEqual(values, [{ odd: [null, null], text: 'ß€\ud800' }]);
    expect(() => frameOf({ many: 1n })).to.throw('BigInt');
  });

  it('that are too long are refused by their first four bytes', () => {
    const header = Buffer.from([0xff, 0xff, 0xff, 0xff]);
    expect(() => read(header, [], 1000)).to.throw('a message of 4294967295 bytes; allowed: 1000');
    const [fits, long] = [frameOf('x'.repeat(90)), frameOf('x'.repeat(100))];
    expect(read(fits, [], 100).values).to.have.length(1);
    expect(() => read(long, [], 100)).to.throw('allowed: 100');
  });

  it('of bytes that are no value are refused', () => {
    for (const body of ['', 'x', '\0', '\xff\x0f', '{"a":', '\x021', 'undefined']) {
      const header = Buffer.alloc(4);
      header.writeUInt32LE(body.length);
      expect(() => read(Buffer.concat([header, Buffer.from(body, 'latin1')]), [])).to.throw();
    }
  });

  it('of one turn of the event loop go out in one write, with what promises add to them', async () => {
    const writes: unknown[][] = [];
    const reader = new FrameReader(1e6);
    const stream = new Writable({
      writev: (chunks, done) => {
        writes.push(chunks.flatMap(({ chunk }) => reader.push(chunk as Buffer).map(({ value }) => value)));
        done();
      },
    });
    const writer = new FrameWriter(stream);
    let taken = 0;
    const write = (value: unknown): void => writer.write(value, () => taken++);
    write('one');
    await Promise.resolve();
    write('two');
    await Promise.resolve().then(() => write('three'));
    expect(writes).to.have.length(0);
    await turn();
    expect(taken).to.equal(3);
    write('four');
    await turn();
    expect(writes).to.deep.equal([['one', 'two', 'three'], ['four']]);
    stream.destroy();
    write('lost');
    expect(taken).to.equal(5);
  });
});
