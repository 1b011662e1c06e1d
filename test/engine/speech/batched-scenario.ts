/**
 * Scenes with the decoder that takes the windows of all requests in one batch, and what their work costs in the fake.
 */
import type { SpeechDecoder } from '../../../src/engine/speech/speech-models.js';
import type { SpeechEngineOptions } from '../../../src/engine/speech/transcriber.js';
import type { FakeSettings } from '../fake-tally.js';
import { Scenario } from './scenario.js';

export const BATCHED = {
  kind: 'batched',
  compute: 'auto',
  windowsInFlight: 8,
} as const satisfies SpeechDecoder;
/** Of the fake's encoder: six units of 50 ms. */
export const ENCODER_MS = 300;
/** As many tokens a window as speech has. */
export const TALKATIVE = { tokens: 96 };

export function startBatched(
  options: Partial<SpeechEngineOptions> = {},
  settings: Partial<FakeSettings> = {},
): Promise<Scenario> {
  return Scenario.start({ decoder: BATCHED, slots: 2, ...options }, settings);
}

/** From its sending to its text, of a clip alone. */
export async function aloneMs(seconds: number, settings: Partial<FakeSettings> = {}): Promise<number> {
  const scene = await startBatched({}, settings);
  scene.file('clip', seconds);
  void scene.send({ path: 'clip' });
  await scene.finish();
  return scene.outcome('clip').endMs;
}
