/** The end of an upload: what is on the disk, and when its memory is free. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect } from 'chai';
import { HEAD_BYTES } from '../../../src/engine/media/containers.js';
import { FileSink, type FileSinkOptions } from '../../../src/http/upload/file-sink.js';

const CHUNK = 65_536;

describe('The end of an upload', () => {
  let directory: string;
  let path: string;
  const takesAll: FileSinkOptions = {
    refuse: () => null,
    ensureDirectory: () => Promise.reject(new Error('asked for a directory')),
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-sink-'));
    path = join(directory, 'file');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** A buffer of its own, as the parser makes them. */
  const chunkOf = (bytes: number): Buffer => Buffer.from(new Uint8Array(randomBytes(bytes)).buffer);

  const write = (sink: FileSink, chunk: Buffer): Promise<unknown> =>
    new Promise((resolve) => sink.write(chunk, resolve));

  it('writes and hashes every byte, and frees each chunk once it is on the disk', async () => {
    const sink = new FileSink(path, takesAll);
    const chunks = [CHUNK, CHUNK, 20_000].map(chunkOf);
    const all = Buffer.concat(chunks);
    for (const chunk of chunks) {
      await write(sink, chunk);
      expect(chunk.buffer.byteLength).to.equal(0);
    }
    sink.end();
    await once(sink, 'close');
    expect(readFileSync(path).equals(all)).to.equal(true);
    expect(sink.bytes).to.equal(all.length);
    expect(sink.sha256()).to.equal(createHash('sha256').update(all).digest('hex'));
    expect(sink.head.text).to.equal(all.toString('latin1', 0, HEAD_BYTES));
  });

  it('knows the first bytes, in however small pieces they come', async () => {
    const sink = new FileSink(path, takesAll);
    for (const piece of ['R', 'IFF....WAV', 'Efmt and what follows']) await write(sink, Buffer.from(piece));
    expect(sink.head.text).to.equal('RIFF....WAVEfmt ');
    sink.end();
    await once(sink, 'close');
  });

  it('leaves a buffer alone that goes on behind the chunk, and one that may be shared', async () => {
    const sink = new FileSink(path, takesAll);
    const whole = chunkOf(CHUNK);
    const small = Buffer.from('small');
    await write(sink, whole.subarray(0, CHUNK - 1));
    await write(sink, small);
    expect(whole).to.have.lengthOf(CHUNK);
    expect(small.toString()).to.equal('small');
    await write(sink, whole.subarray(CHUNK - 20_000));
    expect(whole.buffer.byteLength).to.equal(0);
    sink.destroy();
    await once(sink, 'close');
  });

  it('reports when nothing waits, at the end of the file too, where "drain" is silent', async () => {
    const sink = new FileSink(path, takesAll);
    let idle = 0;
    sink.whenIdle(() => idle++);
    expect(idle).to.equal(1);
    sink.write(chunkOf(CHUNK));
    sink.whenIdle(() => idle++);
    sink.end();
    expect(idle).to.equal(1);
    await once(sink, 'close');
    expect(idle).to.equal(2);
  });

  it('has the directory made where it is not there, and fails as that does', async () => {
    const missing = join(directory, 'missing', 'file');
    const without = new FileSink(missing, takesAll);
    without.write(chunkOf(1));
    expect(await once(without, 'error')).to.have.nested.property('[0].message', 'asked for a directory');
    let made = 0;
    const ensureDirectory = (): Promise<void> => {
      made += 1;
      mkdirSync(join(directory, 'missing'));
      return Promise.resolve();
    };
    const chunk = chunkOf(CHUNK);
    const all = Buffer.from(chunk);
    const sink = new FileSink(missing, { ...takesAll, ensureDirectory });
    sink.end(chunk);
    await once(sink, 'close');
    expect(made).to.equal(1);
    expect(readFileSync(missing).equals(all)).to.equal(true);
  });

  it('refuses what its caller refuses, and a file that is there already; then it is never idle', async () => {
    const refusal = new Error('too much');
    const tooMuch = new FileSink(path, { ...takesAll, refuse: (bytes) => (bytes > CHUNK ? refusal : null) });
    expect(await write(tooMuch, chunkOf(CHUNK))).not.to.be.instanceOf(Error);
    tooMuch.once('error', () => undefined);
    expect(await write(tooMuch, chunkOf(1))).to.equal(refusal);
    writeFileSync(join(directory, 'there'), 'before');
    const taken = new FileSink(join(directory, 'there'), takesAll);
    taken.write(chunkOf(CHUNK));
    taken.whenIdle(() => expect.fail('idle'));
    expect(await once(taken, 'error')).to.have.nested.property('[0].code', 'EEXIST');
    expect(readFileSync(join(directory, 'there'), 'utf8')).to.equal('before');
  });
});
