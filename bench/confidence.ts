/**
 * How sure a model is of clips that it knows and of clips that it does not: what its trait minAverageLogProbability is
 * chosen by.
 *
 *   npm run bench:confidence -- --known DIR --unknown DIR [--model NAME] [--accel auto|float32|off]
 *
 * Each DIR holds audio files and a refs.json: [{file, language, text}]. Known are the evaluator's clips (those with a text
 * count; see models/train/README.md), unknown are recordings of people. Every file goes through the engine as `serve` runs
 * it, without a floor. For each floor the table says what part of the unknown clips would get any text, what part of the
 * known ones would lose some, and how many points their word error rate would move by.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadBinding, type NativeBinding, type WindowResult } from '../src/engine/binding.js';
import { confidentResults } from '../src/engine/speech/confidence.js';
import { createSpeechEngine } from '../src/engine/speech/transcriber.js';
import { findModel, readManifest, windowPolicy } from '../src/models/manifest.js';
import { modelPath } from '../src/models/store.js';
import { WordErrorRate, wordErrors } from './reports/wer.js';

const packageRoot = resolve(__dirname, '..');
const FLOORS = [-0.15, -0.2, -0.22, -0.24, -0.25, -0.26, -0.27, -0.28, -0.29, -0.3, -0.32, -0.35, -0.4];

interface Reference {
  file: string;
  language: string;
  text: string;
}

interface Decoded extends Reference {
  /** Of its windows, in their order. */
  results: WindowResult[];
}

/** The addon with every window's result kept in `results`, by the window's start. */
function recording(binding: NativeBinding, results: Map<number, WindowResult>): NativeBinding {
  return Object.assign(Object.create(binding) as NativeBinding, {
    loadSpeechModel: async (...load: Parameters<NativeBinding['loadSpeechModel']>) => {
      const model = await binding.loadSpeechModel(...load);
      return {
        info: model.info,
        close: () => model.close(),
        createSlot: async (options: { threads: number }) => {
          const slot = await model.createSlot(options);
          return {
            close: () => slot.close(),
            transcribe: async (...call: Parameters<typeof slot.transcribe>) => {
              const { startSeconds } = call[0];
              const result = await slot.transcribe(...call);
              results.set(startSeconds, result);
              return result;
            },
          };
        },
      };
    },
  });
}

async function decodeAll(
  folders: readonly string[],
  name: string | undefined,
  accelerator: 'auto' | 'float32' | 'off',
) {
  const modelsDir = resolve(process.env['VERBATIM_MODELS_DIR'] ?? join(packageRoot, 'models'));
  const manifest = readManifest(packageRoot, modelsDir);
  const entry = findModel(manifest, name ?? manifest.defaultSpeechModel);
  if (entry.kind !== 'speech') throw new Error(`"${entry.name}" is a translation model.`);
  const results = new Map<number, WindowResult>();
  const engine = await createSpeechEngine({
    binding: recording(loadBinding(), results),
    modelPath: modelPath({ packageRoot, modelsDir }, entry),
    modelName: entry.name,
    policy: windowPolicy(manifest, entry),
    ...(entry.languages === 'whisper' ? {} : { languages: entry.languages }),
    ...{ devices: ['cpu'], slots: 1, threads: 1, accelerator, maxBacklogSeconds: Number.MAX_SAFE_INTEGER },
  });
  try {
    const sets: Decoded[][] = [];
    for (const folder of folders) {
      const clips = JSON.parse(readFileSync(join(folder, 'refs.json'), 'utf8')) as Reference[];
      const decoded: Decoded[] = [];
      for (const clip of clips.filter(({ text }) => text !== '')) {
        results.clear();
        await engine.transcribeFile({ path: join(folder, clip.file), accountId: 'bench', language: 'auto' });
        const ordered = [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
        decoded.push({ ...clip, results: ordered });
      }
      sets.push(decoded);
    }
    return sets;
  } finally {
    await engine.close();
  }
}

function textAt({ results }: Decoded, floor: number | null): string {
  const segments = confidentResults(results, floor).flatMap((result) => result.segments);
  return segments
    .map(({ text }) => text.trim())
    .join(' ')
    .trim();
}

function errorRate(clips: readonly Decoded[], floor: number | null): number {
  const rate = new WordErrorRate();
  for (const clip of clips) rate.add(wordErrors(clip.text, textAt(clip, floor)));
  return rate.percent;
}

const percent = (part: number, whole: number): string =>
  `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      known: { type: 'string' },
      unknown: { type: 'string' },
      model: { type: 'string' },
      accel: { type: 'string', default: 'auto' },
    },
  });
  const { known: knownFolder, unknown: unknownFolder, accel } = values;
  if (knownFolder === undefined || unknownFolder === undefined)
    throw new Error('Give --known DIR and --unknown DIR.');
  if (accel !== 'auto' && accel !== 'float32' && accel !== 'off')
    throw new Error('--accel is auto, float32 or off.');
  const sets = await decodeAll([knownFolder, unknownFolder], values.model, accel);
  const [known = [], unknown = []] = sets;
  const before = errorRate(known, null);
  console.log(
    `${known.length} known clips, word error rate ${before.toFixed(2)} %; ${unknown.length} unknown clips`,
  );
  const rows = [null, ...FLOORS].map((floor) => ({
    floor: floor ?? 'none',
    'unknown with text': percent(unknown.filter((clip) => textAt(clip, floor) !== '').length, unknown.length),
    'known that lose text': percent(
      known.filter((clip) => textAt(clip, floor) !== textAt(clip, null)).length,
      known.length,
    ),
    'points of word error rate': (errorRate(known, floor) - before).toFixed(2),
  }));
  console.table(rows);
}

void main();
