/**
 * Files that name other files, in every way that ffmpeg knows: refused, and nothing of what they name is opened or
 * asked for.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { conversionsOf } from '../../support/child-processes.js';
import { outsideMov } from '../../support/outside-mov.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { recordingOf, runFfmpeg } from '../../support/recordings.js';
import { transcribe } from '../../support/requests.js';
import { measureAndTranscribe } from '../../support/transcribe.js';
import { TestServer, type Customer } from '../../support/server.js';

const WAV = join(__dirname, '..', '..', 'fixtures', 'audio', 'samples', 'en-wav16.wav');

describe('recordings that name other files', () => {
  let server: TestServer<SpeechEngine>;
  let customer: Customer;
  let directory: string;
  let canary: Server;
  /** What the canary was asked for. */
  const asked: string[] = [];
  /** A file with speech, by its path and as a URL of the canary. */
  let path: string;
  let url: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-hostile-'));
    path = recordingOf(WAV, join(directory, 'canary.mov'), ['-c:a', 'pcm_s16le']);
    canary = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.end(readFileSync(path));
    }).listen(0, '127.0.0.1');
    await once(canary, 'listening');
    url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/canary.mov`;
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }) });
    customer = await server.customer(100);
  });
  after(async () => {
    await server.dispose();
    canary.close();
    rmSync(directory, { recursive: true });
  });
  beforeEach(() => asked.splice(0));

  const send = async (bytes: Buffer | string): Promise<string> => {
    const { status, error, body } = await transcribe(server, {
      key: customer.key,
      parts: [['audio', Buffer.from(bytes)]],
    });
    expect(server.uploads()).to.deep.equal([]);
    expect(conversionsOf()).to.deep.equal([]);
    // The demonstration model recognises nothing in noise, which is free.
    const charged = status === 200 ? Number(body['credits_used']) : 0;
    expect(await server.balance(customer)).to.equal(100 - charged);
    customer = await server.customer(100);
    return `${status} ${error?.code}: ${error?.message}`;
  };

  /** For ffmpeg as it comes these are files to be opened. */
  const lists: Record<string, (target: string) => string> = {
    'an HLS list': (target) => `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:3,\n${target}\n#EXT-X-ENDLIST\n`,
    'a concat script': (target) => `ffconcat version 1.0\nfile '${target}'\n`,
    'a DASH manifest': (target) =>
      '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" ' +
      'mediaPresentationDuration="PT3S" minBufferTime="PT1S">' +
      `<Period><AdaptationSet mimeType="audio/mp4"><Representation id="0" bandwidth="1"><BaseURL>${target}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    'a session description': (target) => `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=${target}\r\nm=audio 5004 RTP/AVP 0\r\n`,
    'an ASX list': (target) => `[Reference]\r\nRef1=${target}\r\n`,
  };

  it('ffmpeg would read them', () => {
    const list = join(directory, 'list.m3u8');
    const wide = ['-protocol_whitelist', 'file,http,tcp', '-allowed_extensions', 'ALL'];
    writeFileSync(list, lists['an HLS list']!(path));
    runFfmpeg([...wide, '-i', list, join(directory, 'decoded.wav')]);
    const script = join(directory, 'script');
    writeFileSync(script, lists['a concat script']!(path));
    runFfmpeg(['-f', 'concat', '-safe', '0', '-i', script, join(directory, 'decoded.wav')]);
  });

  for (const [name, list] of Object.entries(lists)) {
    it(`${name}: 415, and nothing is opened`, async () => {
      for (const target of [url, path, `file:${path}`]) {
        expect(await send(list(target))).to.match(/^415 unsupported_audio_format: The file is not WAV/);
        expect(asked).to.deep.equal([]);
      }
    });

    it(`${name} behind the first bytes of a recording: no list any more`, async () => {
      for (const head of ['\0\0\0\x14ftypisom', '\x1a\x45\xdf\xa3', '#!AMR\n']) {
        const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(`\n${list(url)}`)]);
        // AMR is frames of any bytes: text may be noise in it.
        expect(await send(bytes)).to.match(head.startsWith('#!AMR') ? /^(200|422) / : /^(415|422) /);
        expect(asked).to.deep.equal([]);
      }
    });
  }

  for (const kind of ['absolute', 'relative'] as const) {
    it(`a movie whose samples lie in another file, by its ${kind} path: 422, and not opened`, async () => {
      const movie = outsideMov(readFileSync(path), kind === 'absolute' ? { path } : { sibling: basename(path) });
      const beside = join(directory, `${kind}.mov`);
      writeFileSync(beside, movie);
      const believing = ['-enable_drefs', '1', '-use_absolute_path', '1'];
      const recognised = join(directory, `${kind}.flac`);
      // ffmpeg reads it where it is allowed to: the speech is that of the other file.
      runFfmpeg([...believing, '-i', beside, recognised]);
      const { text } = await measureAndTranscribe(server.engine, { path: recognised, accountId: 'a', language: 'en' });
      expect(text).to.equal('Hello Emma, this is Laura.');
      expect(await send(movie)).to.equal(
        '422 invalid_audio: The sound of the MP4, MOV or 3GP file lies in another file, and none is ' +
          'opened but the one that was given.',
      );
      // As the command line would have it: beside the file that it names.
      const to = join(directory, 'to.flac');
      const refused = await server.engine
        .convert({ path: beside, to, accountId: 'a' })
        .catch((error: unknown) => error);
      expect(refused).to.include({ code: 'invalid_audio' });
    });
  }

  it('a movie with a URL for its samples asks nobody', async () => {
    await send(outsideMov(readFileSync(path), { url }));
    expect(asked).to.deep.equal([]);
  });
});
