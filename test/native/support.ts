/** What the tests of the addon share: the real addon, the bundled model, the sample clips. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  loadBinding,
  type AudioReader,
  type AudioWindow,
  type DecodeOptions,
  type NativeError,
  type Recogniser,
  type Segment,
  type SpeechModel,
} from '../../src/engine/binding.js';
import { POLICY } from '../support/window-policy.js';

export { POLICY };

const ROOT = join(__dirname, '..', '..');

/** The one that the tests judge, which `npm run test:asan` exchanges. */
export const ADDON = require.resolve(join(ROOT, 'build', 'Release', 'verbatim.node'));
export const MODEL = join(ROOT, 'models', 'bundled', 'ggml-verbatim-small-q5_1.bin');

/** No decoding is likely enough: a pass for each of 100,000 temperatures takes hours, and only an abort ends it. */
export const ENDLESS_WORK: DecodeOptions = {
  language: 'en',
  beamSize: 8,
  temperatureIncrement: 1e-5,
  logProbThreshold: 1000,
  ownLength: true,
};

export const binding = loadBinding();

const SAMPLES = join(ROOT, 'test', 'fixtures', 'audio', 'samples');

export function samplePath(file: string): string {
  return join(SAMPLES, file);
}

/** Of a clip of which it is known when its words are said; '' for their folder. */
export function wordEventsPath(file: string): string {
  return join(ROOT, 'test', 'fixtures', 'audio', 'word-events', file);
}

export function loadModel(): Promise<SpeechModel> {
  return binding.loadSpeechModel(MODEL, { device: 'cpu' });
}

export async function measure(reader: AudioReader): Promise<number> {
  for (;;) {
    const seconds = await reader.measure();
    if (seconds !== null) return seconds;
  }
}

export async function firstWindow(path: string, policy = POLICY): Promise<AudioWindow> {
  const reader = await binding.openAudio(path, policy);
  const window = await windowOf(reader);
  reader.close();
  return window;
}

/** The next window, past any silence; there must be one. */
export async function windowOf(reader: AudioReader): Promise<AudioWindow> {
  const window = await nextSound(reader);
  if (window === null) throw new Error('There is no window left.');
  return window;
}

export async function windowsOf(reader: AudioReader): Promise<AudioWindow[]> {
  const windows: AudioWindow[] = [];
  for (;;) {
    const window = await nextSound(reader);
    if (window === null) return windows;
    windows.push(window);
  }
}

async function nextSound(reader: AudioReader): Promise<AudioWindow | null> {
  for (;;) {
    const step = await reader.nextWindow();
    if (typeof step !== 'string') return step;
  }
}

/** What a promise was rejected with, or a function threw. */
export async function failure(call: Promise<unknown> | (() => unknown)): Promise<NativeError> {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    return error as NativeError;
  }
  throw new Error('The call succeeded.');
}

/** Runs the body with a directory that is gone afterwards. */
export async function inDirectory<T>(body: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'verbatim-native-'));
  try {
    return await body(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes a 16 kHz WAV file that says a sample's sentence over and over. */
export function writeLongWav(path: string, seconds: number): void {
  const sample = readFileSync(samplePath('en-wav16.wav'));
  writeWav(path, Buffer.alloc(seconds * 32000, sample.subarray(sample.indexOf('data') + 8)));
}

/** Writes a 16 kHz WAV file of 440 Hz, in which there is nothing to recognise. */
export function writeTone(path: string, seconds: number): void {
  const data = Buffer.alloc(seconds * 32000);
  for (let i = 0; i < seconds * 16000; i++)
    data.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / 16000)), 2 * i);
  writeWav(path, data);
}

function writeWav(path: string, data: Buffer): void {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(16000, 24);
  header.writeUInt32LE(32000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(data.length, 40);
  writeFileSync(path, Buffer.concat([header, data]));
}

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Collects garbage until the finalizers of what was garbage have run. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A window decoded by a recogniser that has nothing else to do. */
export async function decodeAlone(model: Recogniser, audio: AudioWindow, options: DecodeOptions): Promise<Segment[]> {
  const encoder = await model.createEncoder({ threads: 1 });
  const batch = await model.createBatch();
  const window = model.openWindow(audio, options);
  while (window.stage === 'encode') await encoder.advance(window);
  batch.add(window);
  while (batch.size > 0) await batch.advance({ steps: 8, threads: 1 });
  const { segments } = window.result();
  for (const handle of [encoder, batch]) handle.close();
  window.release();
  return segments;
}
