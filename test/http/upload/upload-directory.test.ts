import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { UploadDirectory } from '../../../src/http/upload/upload-directory.js';
import { transcribe } from '../../support/requests.js';
import { TestServer } from '../../support/server.js';

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
    expect(statSync(first.path).mode & 0o777).to.equal(0o700);
    expect([first.path, ofAnotherMachine, unrelated].filter((path) => !existsSync(path))).to.deep.equal([]);
  });

  it('leaves alone what it may not remove', async () => {
    // The superuser may remove anything.
    const user = process.geteuid!();
    if (user === 0) process.seteuid!(65_534);
    const own = mkdtempSync(join(tmpdir(), 'verbatim-test-'));
    try {
      const host = hostOf(await UploadDirectory.create(own));
      const locked = join(own, `verbatim-upload-${host}-4194305-77-abcdef`);
      mkdirSync(locked);
      writeFileSync(join(locked, 'audio'), 'x');
      chmodSync(locked, 0o500);
      const directory = await UploadDirectory.create(own);
      await directory.checkWritable();
      expect(existsSync(join(locked, 'audio'))).to.equal(true);
      chmodSync(locked, 0o700);
    } finally {
      if (user === 0) process.seteuid!(0);
      rmSync(own, { recursive: true });
    }
  });

  it('is made where nothing is yet, and again when something has removed it', async () => {
    const directory = await UploadDirectory.create(join(base, 'data', 'uploads'));
    await directory.checkWritable();
    expect(readdirSync(directory.path)).to.deep.equal([]);
    rmSync(join(base, 'data'), { recursive: true });
    await directory.ensure();
    writeFileSync(directory.newPath(), 'x');
    rmSync(join(base, 'data'), { recursive: true });
    await directory.checkWritable();
  });

  it('serves on when a cleaner has removed it', async () => {
    const server = await TestServer.start();
    const [name] = readdirSync(server.directory).filter((entry) => entry.startsWith('verbatim-upload'));
    rmSync(join(server.directory, name!), { recursive: true });
    expect((await transcribe(server, { key: (await server.customer()).key })).status).to.equal(200);
    await server.dispose();
  });

  it('asks to try again when a file is in its place', async () => {
    const server = await TestServer.start();
    const [name] = readdirSync(server.directory).filter((entry) => entry.startsWith('verbatim-upload'));
    const path = join(server.directory, name!);
    rmSync(path, { recursive: true });
    writeFileSync(path, '');
    const { key } = await server.customer();
    const { status, error, headers } = await transcribe(server, { key });
    expect({ status, code: error?.code }).to.deep.equal({ status: 503, code: 'overloaded' });
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
    rmSync(path);
    expect((await transcribe(server, { key })).status).to.equal(200);
    await server.dispose();
  });

  it('removes itself with what is in it', async () => {
    const directory = await UploadDirectory.create(base);
    writeFileSync(directory.newPath(), 'x');
    await directory.remove();
    expect(readdirSync(base)).to.deep.equal([]);
  });
});
