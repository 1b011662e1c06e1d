import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { pcmOfSample, pcmOfSilence } from '../../support/speech.js';
import { at24kHz, spokenPcm } from '../../support/live-audio.js';
import { samplePath } from '../../native/support.js';
import { pcmOf } from '../../support/conversation.js';
import { inWorkplace, type OptionRows, type Workplace } from './rows.js';

const TEXT = 'Hello Emma, this is Laura.';
const LIVE = ['live', '-'];

interface Result {
  type: 'final' | 'partial' | 'translated';
  start: number;
  end: number;
  language: string;
  text: string;
  speaker?: string;
}

function piecesOf(pcm: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(pcm.length / 3200) }, (_, i) => pcm.subarray(3200 * i, 3200 * (i + 1)));
}

/** Runs the command with this on standard input. */
async function withInput<T>(input: Iterable<Buffer> | AsyncIterable<Buffer>, work: () => Promise<T>): Promise<T> {
  const before = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  Object.defineProperty(process, 'stdin', { ...before, get: () => Readable.from(input) });
  try {
    return await work();
  } finally {
    Object.defineProperty(process, 'stdin', before);
  }
}

/** Speaks until a partial result is printed, and then comes to an end. */
async function* untilPartial(): AsyncGenerator<Buffer> {
  const output = { hasPartial: false };
  const write = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean;
  process.stdout.write = (...given: unknown[]) => {
    output.hasPartial ||= String(given[0]).includes('"partial"');
    return write(...given);
  };
  const speech = piecesOf(pcmOfSample());
  for (let piece = 0; !output.hasPartial && piece < 600; piece++) {
    yield speech[piece % speech.length]!;
    await setTimeout(50);
  }
  yield pcmOfSilence(1);
}

function printedOf(place: Workplace, pcm: Buffer, ...options: string[]): Promise<string> {
  return withInput(piecesOf(pcm), () => place.printed([...LIVE, ...options]));
}

async function resultsOf(place: Workplace, pcm: Buffer, ...options: string[]): Promise<Result[]> {
  const printed = await printedOf(place, pcm, '--json', ...options);
  const lines = printed.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Result);
}

function toFloats(pcm: Buffer): Buffer {
  const floats = Buffer.alloc(2 * pcm.length);
  for (let i = 0; i < pcm.length / 2; i++) floats.writeFloatLE(pcm.readInt16LE(2 * i) / 32_768, 4 * i);
  return floats;
}

export const liveCommandRows: OptionRows = {
  'live --rate': () =>
    inWorkplace(async (place) => {
      expect(await printedOf(place, spokenPcm())).to.equal(`${TEXT}\n`);
      expect(await printedOf(place, at24kHz(spokenPcm()), '--rate', '24000')).to.equal(`${TEXT}\n`);
      expect(await place.refusal([...LIVE, '--rate', '7999'])).to.contain('an integer from 8000 to 48000');
      expect(await place.refusal(['live'])).to.contain('- for standard input, or --device');
      expect(await place.refusal(['live', 'file.wav'])).to.contain('"file.wav" is no source');
    }),
  'live --encoding': () =>
    inWorkplace(async (place) => {
      expect(await printedOf(place, toFloats(spokenPcm()), '--encoding', 'f32le')).to.equal(`${TEXT}\n`);
      expect(await place.refusal([...LIVE, '--encoding', 'opus'])).to.contain('s16le, f32le, mulaw, alaw');
    }),
  'live --language': () =>
    inWorkplace(async (place) => {
      const [detected] = await resultsOf(place, spokenPcm());
      expect(detected).to.include({ language: 'en', text: TEXT });
      const [given] = await resultsOf(place, spokenPcm(), '--language', 'German');
      expect(given).to.include({ language: 'de' });
      expect(await place.refusal([...LIVE, '--language', 'Elvish'])).to.contain('--language is "Elvish"');
    }),
  'live --translate-to': () =>
    inWorkplace(async (place) => {
      const [spoken, translated] = await resultsOf(place, spokenPcm(), '--translate-to', 'German');
      expect(spoken).to.include({ type: 'final', language: 'en', text: TEXT });
      expect(translated).to.include({ type: 'translated', language: 'de' });
      expect(translated!.text).not.to.equal(TEXT);
      expect(await printedOf(place, spokenPcm(), '--translate-to', 'de')).to.equal(`${translated!.text}\n`);
      expect(await place.refusal([...LIVE, '--translate-to', 'Elvish'])).to.contain('--translate-to is "Elvish"');
      const none = await withInput([], () => place.run([...LIVE, '--translate-to', 'ja']));
      expect(none).to.include({ status: 1, stdout: '' });
      expect(none.stderr).to.contain('Live text cannot be translated into "ja"; there are: ');
    }),
  'live --diarize': () =>
    inWorkplace(async (place) => {
      const [one, other] = [await pcmOf(samplePath('es-opus.ogg')), await pcmOf(samplePath('fr-cbr-stereo.mp3'))];
      const pcm = Buffer.concat([one, other, one].flatMap((speech) => [speech, pcmOfSilence(1)]));
      const results = await resultsOf(place, pcm, '--diarize');
      expect(results.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2', 'S1']);
      const printed = await printedOf(place, pcm, '--diarize');
      expect(printed).to.equal(results.map(({ speaker, text }) => `${speaker}: ${text}\n`).join(''));
      const off = await withInput([], () => place.run([...LIVE, '--diarize'], { VERBATIM_SPEAKERS: 'off' }));
      expect(off).to.include({ status: 1, stdout: '' });
      expect(off.stderr).to.contain('verbatim: --diarize: VERBATIM_SPEAKERS is off.');
    }),
  'live --model': () =>
    inWorkplace(async (place) => {
      expect(await printedOf(place, spokenPcm(), '--model', 'bundled')).to.equal(`${TEXT}\n`);
      const { status, stderr } = await withInput(piecesOf(spokenPcm()), () => place.run([...LIVE, '--model', 'base']));
      expect(status).to.equal(1);
      expect(stderr).to.contain('The model "base" is not installed');
    }),
  'live --json': () =>
    inWorkplace(async (place) => {
      const twice = Buffer.concat([spokenPcm(), spokenPcm(), pcmOfSilence(0.5)]);
      const results = await resultsOf(place, twice);
      expect(results.map(({ type, text }) => [type, text])).to.deep.equal([
        ['final', TEXT],
        ['final', TEXT],
      ]);
      expect(results[1]!.start).to.be.above(results[0]!.end);
    }),
  'live --interim': () =>
    inWorkplace(async (place) => {
      const printed = await withInput(untilPartial(), () => place.printed([...LIVE, '--json', '--interim']));
      const types = printed
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as Result).type);
      expect(types).to.include('partial').and.include('final');
      expect(types.at(-1)).to.equal('final');
      // Where nobody sees it on a terminal, text that changes is left out.
      expect(await printedOf(place, spokenPcm(), '--interim')).to.equal(`${TEXT}\n`);
    }),
  'live --device': () =>
    inWorkplace(async (place) => {
      const [ffmpeg, seen] = [join(place.directory, 'ffmpeg'), join(place.directory, 'words')];
      writeFileSync(join(place.directory, 'pcm'), spokenPcm());
      writeFileSync(ffmpeg, `#!/bin/sh\necho "$*" > ${seen}\ncat ${join(place.directory, 'pcm')}\n`);
      chmodSync(ffmpeg, 0o755);
      const recording = ['live', '--device', 'pulse:headset'];
      expect(await place.printed(recording, { VERBATIM_FFMPEG: ffmpeg })).to.equal(`${TEXT}\n`);
      expect(readFileSync(seen, 'utf8')).to.contain('-f pulse -i headset -f s16le -ac 1 -ar 16000');
      writeFileSync(ffmpeg, '#!/bin/sh\necho "headset: no such device" >&2\nexit 1\n');
      const failed = await place.run(recording, { VERBATIM_FFMPEG: ffmpeg });
      expect(failed).to.include({ status: 1, stdout: '' });
      expect(failed.stderr).to.contain('ffmpeg cannot record "pulse:headset": headset: no such device');
      expect(await place.refusal(['live', '--device', 'headset'])).to.contain('allowed: pulse:NAME, alsa:NAME');
      expect(await place.refusal([...recording, '-'])).to.contain('--device cannot be used with -');
      expect(await place.refusal([...recording, '--rate', '8000'])).to.contain('--rate is for standard input');
    }),
};
