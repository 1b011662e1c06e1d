/**
 * The engine's process as it is shipped, but for files that kill it, that it reports what it sees, and waits at a gate.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { loadBinding } from '../../src/engine/binding.js';
import { serveEngine } from '../../src/engine/remote/serve-engine.js';
import { DEADLY_VARIABLE, GATE_VARIABLE, VISIBLE_VARIABLE } from './deadly-files.js';
import { loadEngines, type EngineSettings } from '../../src/service/engines.js';
import { until } from './until.js';

const visible = process.env[VISIBLE_VARIABLE];
if (visible !== undefined) appendFileSync(visible, `${process.env['CUDA_VISIBLE_DEVICES'] ?? ''}\n`);

const gate = process.env[GATE_VARIABLE] ?? '';

serveEngine(async (settings, { observer, watch }) => {
  await until(() => !existsSync(gate), 'the gate is open');
  const binding = watch.watch(loadBinding());
  const { speech, translation, info } = await loadEngines(settings as EngineSettings, { observer, binding });
  return {
    speech: {
      convert: (file) => speech.convert(file),
      measure: (file) => speech.measure(file),
      transcribe: (file, onWindow) => {
        dieOf(readFileSync(file.path));
        return speech.transcribe(file, onWindow);
      },
      recognise: (utterance) => {
        dieOf(Buffer.from(utterance.samples.buffer));
        return speech.recognise(utterance);
      },
      stats: () => speech.stats(),
      limitLanes: (lanes) => speech.limitLanes(lanes),
    },
    translation,
    info,
  };
});

function dieOf(audio: Buffer): void {
  const deadly = process.env[DEADLY_VARIABLE];
  if (deadly === undefined) return;
  const signals = JSON.parse(readFileSync(deadly, 'utf8')) as Record<string, NodeJS.Signals>;
  const signal = signals[createHash('sha256').update(audio).digest('hex')];
  if (signal !== undefined) process.kill(process.pid, signal);
}
