import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveAudio, LiveAudioOptions, LiveEvent } from '../../src/engine/binding.js';
import { writeVoiceModel } from '../support/voice-models.js';
import {
  binding,
  collectGarbage,
  decodeAlone,
  failure,
  firstWindow,
  inDirectory,
  MODEL,
  samplePath,
} from './support.js';

const PCM: LiveAudioOptions = { encoding: 's16le', sampleRate: 16_000, channels: 1 };

/** A sentence as s16le at 16 kHz, with a second of silence on either side. */
function sentence(): Uint8Array {
  const wav = readFileSync(samplePath('en-wav16.wav'));
  const second = Buffer.alloc(32_000);
  return Buffer.concat([second, wav.subarray(wav.indexOf('data') + 8), second]);
}

async function pushAll(live: LiveAudio, bytes: Uint8Array, piece = 3201): Promise<LiveEvent[]> {
  const events: LiveEvent[] = [];
  for (let at = 0; at < bytes.length; at += piece) events.push(...(await live.push(bytes.subarray(at, at + piece))));
  return events;
}

describe('Addon: LiveAudio', () => {
  it('finds a sentence, whose window is recognised as that of the file', async () => {
    const live = binding.openLiveAudio(PCM);
    const bytes = sentence();
    const events = await pushAll(live, bytes);
    expect(events.map(({ type }) => type)).to.deep.equal(['speech_started', 'speech_stopped']);
    const [start, stop] = events as [LiveEvent, Extract<LiveEvent, { type: 'speech_stopped' }>];
    expect(start.at / 16_000).to.be.within(0.6, 1.2);
    expect(stop.at - stop.speechEnd).to.be.within(8000, 8000 + 1024);
    expect(live.position * 2).to.equal(bytes.length);
    expect(live.keptFrom).to.be.at.most(start.at);
    expect(live.utteranceBegin).to.equal(null);
    const window = binding.createWindow(live.samples(start.at, stop.at), start.at);
    expect(window.startSeconds).to.equal(start.at / 16_000);
    expect(window.endSeconds).to.equal(stop.at / 16_000);
    expect(window.speech).to.deep.equal([]);
    expect(window.pieces).to.have.length(1);
    const model = await binding.loadRecogniser(MODEL, { device: 'cpu' });
    const text = async (audio: typeof window): Promise<string> =>
      (await decodeAlone(model, audio, { language: 'en' })).map((segment) => segment.text).join('');
    expect(await text(window)).to.equal(await text(await firstWindow(samplePath('en-wav16.wav'))));
    live.discardBefore(stop.at);
    expect(live.keptFrom).to.be.above(start.at);
    live.close();
  });

  it('ends utterances without detection, cuts long ones and abandons others', async () => {
    const live = binding.openLiveAudio({ ...PCM, detect: false, longestSeconds: 2, searchSeconds: 1 });
    const second = new Uint8Array(32_000);
    expect(await live.push(second)).to.deep.equal([]);
    expect(live.endUtterance()).to.deep.equal([{ type: 'speech_stopped', at: 16_000, speechEnd: 16_000 }]);
    expect(live.endUtterance()).to.deep.equal([]);
    await live.push(second);
    expect(live.utteranceBegin).to.equal(16_000);
    live.clear();
    expect(live.utteranceBegin).to.equal(32_000);
    expect(live.endUtterance()).to.deep.equal([]);
    const events = await pushAll(live, new Uint8Array(96_000));
    expect(events.map(({ type }) => type)).to.deep.equal(['cut']);
    live.configure({ longestSeconds: 30, searchSeconds: 5 });
    expect(await pushAll(live, new Uint8Array(320_000))).to.deep.equal([]);
    live.close();
  });

  it('takes pauses and silences as they are configured at any time', async () => {
    const live = binding.openLiveAudio({ ...PCM, silenceMs: 60_000 });
    const [first] = await pushAll(live, sentence());
    expect(first).to.include({ type: 'speech_started' });
    live.configure({ pauseMs: 200 });
    const [pause] = await live.push(new Uint8Array(3200));
    expect(pause).to.include({ type: 'pause' });
    live.configure({ silenceMs: 100 });
    const [stop] = await live.push(new Uint8Array(3200));
    expect(stop).to.include({ type: 'speech_stopped' });
    live.close();
  });

  it('detects what a voice activity model does, and keeps the model until it is closed', async () => {
    await collectGarbage();
    const before = binding.heldBytes();
    await inDirectory(async (directory) => {
      for (const [recognises, count] of [
        ['everything', 1],
        ['nothing', 0],
      ] as const) {
        const voice = await binding.loadVoiceActivityModel(writeVoiceModel(join(directory, 'vad.bin'), recognises));
        const live = binding.openLiveAudio({ ...PCM, voice });
        voice.close();
        expect(binding.heldBytes()).to.be.above(before + 800_000);
        expect((await pushAll(live, sentence())).filter(({ type }) => type === 'speech_started')).to.have.length(count);
        live.close();
        expect(binding.heldBytes()).to.equal(before);
      }
    });
  });

  it('reports its memory, which stays small in silence', async () => {
    const live = binding.openLiveAudio({ encoding: 'mulaw', sampleRate: 8000, channels: 1 });
    const silence = new Uint8Array(80_000).fill(0xff);
    for (let i = 0; i < 10; i++) await live.push(silence);
    expect(live.memoryBytes).to.be.within(100_000, 300_000);
    expect(live.position - live.keptFrom).to.be.below(16_000);
    live.close();
  });

  it('refuses calls that overlap, and all after it is closed', async () => {
    const live = binding.openLiveAudio(PCM);
    const bytes = new Uint8Array(32_000);
    const first = live.push(bytes);
    const overlapping = [
      await failure(live.push(bytes)),
      await failure(() => live.pushNow(bytes)),
      await failure(() => live.endUtterance()),
      await failure(() => live.configure({})),
      await failure(() => live.samples(0, 0)),
    ];
    for (const { message } of overlapping) expect(message).to.contain('must not overlap');
    expect(live.position).to.equal(0);
    live.close();
    expect(await first).to.deep.equal([]);
    expect(await failure(live.push(bytes))).to.include({ code: 'invalid_argument' });
    expect(await failure(() => live.pushNow(bytes))).to.include({ code: 'invalid_argument' });
    expect(await failure(() => live.endUtterance())).to.include({ code: 'invalid_argument' });
  });

  it('takes pieces at once as it takes them on a worker thread', async () => {
    const bytes = sentence();
    for (const rate of [16_000, 24_000]) {
      const [slow, quick] = [0, 1].map(() => binding.openLiveAudio({ ...PCM, sampleRate: rate })) as [
        LiveAudio,
        LiveAudio,
      ];
      const events = await pushAll(slow, bytes);
      const atOnce: LiveEvent[] = [];
      for (let at = 0; at < bytes.length; at += 3201) atOnce.push(...quick.pushNow(bytes.subarray(at, at + 3201)));
      expect(events.map(({ type }) => type)).to.deep.equal(['speech_started', 'speech_stopped']);
      expect(atOnce).to.deep.equal(events);
      expect(quick.position).to.equal(slow.position);
      const [begin, end] = [slow.keptFrom, slow.position];
      expect(quick.samples(begin, end)).to.deep.equal(slow.samples(begin, end));
      slow.close();
      quick.close();
    }
  });

  it('copies the bytes: the caller may change them', async () => {
    const live = binding.openLiveAudio({ ...PCM, detect: false });
    const bytes = new Uint8Array(3200);
    const running = live.push(bytes);
    bytes.fill(0x55);
    await running;
    expect(live.samples(0, 1600).every((sample) => sample === 0)).to.equal(true);
    live.close();
  });

  it('refuses arguments that are none or out of range by name', async () => {
    const refused = async (options: object): Promise<string> => {
      const error = await failure(() => binding.openLiveAudio(options as LiveAudioOptions));
      expect(error).to.include({ code: 'invalid_argument' });
      return error.message;
    };
    expect(await refused({ ...PCM, encoding: 'mp3' })).to.contain('options.encoding must be "s16le" or "f32le"');
    expect(await refused({ ...PCM, sampleRate: 7999 })).to.contain('sample_rate is 7999; 8000 to 48000');
    expect(await refused({ ...PCM, sampleRate: 16_000.5 })).to.contain('options.sampleRate must be an integer');
    expect(await refused({ ...PCM, channels: 0 })).to.contain('channels is 0; 1 to 32');
    expect(await refused({ ...PCM, silenceMs: 99 })).to.contain('silence_ms is 99; 100 to 60000');
    expect(await refused({ ...PCM, threshold: NaN })).to.contain('options.threshold');
    expect(await refused({ ...PCM, voice: {} })).to.contain('options.voice must be an object of the class');
    const live = binding.openLiveAudio(PCM);
    expect((await failure(() => live.configure({ pauseMs: -1 }))).message).to.contain('pause_ms is -1; 0 to 60000');
    expect((await failure(live.push('abc' as unknown as Uint8Array))).message).to.equal('bytes must be a Uint8Array.');
    expect((await failure(live.push(new Uint8Array(320_001)))).message).to.contain('up to 10 seconds (320000 bytes)');
    expect((await failure(() => live.pushNow(new Uint8Array(320_001)))).message).to.contain('up to 10 seconds');
    expect((await failure(() => live.pushNow('abc' as unknown as Uint8Array))).message).to.contain('bytes must be');
    expect((await failure(() => live.samples(0, 1))).message).to.contain('samples 0 to 1 are not kept');
    expect((await failure(() => live.samples(-1, 1))).message).to.contain('begin must be an integer from 0 on');
    expect((await failure(() => live.discardBefore(0.5))).message).to.contain('position must be an integer');
    live.close();
    const window = (samples: unknown, start?: number) =>
      failure(() => binding.createWindow(samples as Float32Array, start));
    expect((await window([1, 2])).message).to.equal('samples must be a Float32Array.');
    expect((await window(new Float32Array(0))).message).to.contain('samples has 0 values; 1 to 480000');
    expect((await window(new Float32Array(480_001))).message).to.contain('samples has 480001 values');
    expect((await window(new Float32Array(1), -1)).message).to.contain('startSample must be an integer from 0 on');
  });
});
