import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { UploadDirectory } from '../../src/http/upload-directory.js';

describe('UploadDirectory', () => {
  let base: string;
  beforeEach(() => (base = mkdtempSync(join(tmpdir(), 'verbatim-test-'))));
  afterEach(() => rmSync(base, { recursive: true }));

  const hostOf = (directory: UploadDirectory): string =>
    /^verbatim-upload-(.*)-\d+-\d+-\w+$/.exec(basename(directory.path))![1]!;

  function leftBy(owner: string): string {
    const path = join(base, `verbatim-upload-${owner}-abcdef`);
    mkdirSync(path);
    writeFileSync(join(path, 'audio'), 'x');
    return path;
  }

  it('removes what dead processes left, and nothing else', async () => {
    const first = await UploadDirectory.create(base);
    const host = hostOf(first);
    // Above the largest process id that Linux gives out.
    const ofTheDead = leftBy(`${host}-4194305-77`);
    const ofAReusedPid = leftBy(`${host}-${process.pid}-1`);
    const ofAnotherMachine = leftBy(`${host}x-4194305-77`);
    const unrelated = join(base, 'verbatim-upload-notes');
    writeFileSync(unrelated, 'x');
    await UploadDirectory.create(base);
    expect([ofTheDead, ofAReusedPid].filter((path) => existsSync(path))).to.deep.equal([]);
    expect([first.path, ofAnotherMachine, unrelated].filter((path) => !existsSync(path))).to.deep.equal([]);
  });

  it('removes itself with what is in it', async () => {
    const directory = await UploadDirectory.create(base);
    writeFileSync(directory.newPath(), 'x');
    await directory.remove();
    expect(readdirSync(base)).to.deep.equal([]);
  });
});
