/**
 * `speak.mjs URL KEY SAMPLES`: LiveKit's plugin for Deepgram with its defaults, once with the whole recording and once
 * as a stream at the speed of speech. Samples: 16 bits, 16 kHz, mono. It runs where the packages are installed.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { initializeLogger, stt } from '@livekit/agents';
import { STT } from '@livekit/agents-plugin-deepgram';
import { AudioFrame } from '@livekit/rtc-node';

const RATE = 16_000;
const FRAME = RATE / 100;

initializeLogger({ pretty: false, level: 'silent' });
const [, , url, apiKey, file] = process.argv;
const bytes = readFileSync(file);
const samples = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const frames = [];
for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
  frames.push(new AudioFrame(samples.slice(at, at + FRAME), RATE, 1, FRAME));
}

const engine = new STT({ apiKey, baseUrl: url.replace(/^http/, 'ws') });
const whole = await engine.recognize(frames);

const stream = engine.stream();
async function speak() {
  for (const frame of frames) {
    stream.pushFrame(frame);
    await setTimeout(10);
  }
  stream.endInput();
}
void speak();
const events = [];
for await (const { type, alternatives } of stream) {
  events.push({ type: stt.SpeechEventType[type], text: alternatives?.[0]?.text ?? null });
}
process.stdout.write(`${JSON.stringify({ whole: whole.alternatives[0].text, events })}\n`);
process.exit(0);
