/**
 * What the accelerator does to the text: the same clips through the engine with and without it, cut as the model's window policy
 * has it, in one slot, the language detected.
 *
 *   npm run bench:accelerator -- [--clips DIR] [--model NAME] [--accelerator auto|float32]
 *
 * DIR holds audio files and a refs.json: [{file, language, text}]. Exit code 1 when a language's word error rate differs by more
 * than 0.2 points, in either direction.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median, sum } from './reports/statistics.js';
import { readContext } from '../src/service/context.js';
import { loadEngine } from '../src/service/speech-engine.js';
import type { AcceleratorMode } from '../src/engine/binding.js';
import type { Transcript } from '../src/engine/types.js';
import { WordErrorRate, wordErrors } from './reports/wer.js';

const TOLERANCE_POINTS = 0.2;

interface Clip {
  file: string;
  language: string;
  text: string;
}

interface Heard extends Pick<Transcript, 'text' | 'language'> {
  /** Time in the encoder, of each window. */
  encodeMs: number[];
}

const { values } = parseArgs({
  options: {
    clips: { type: 'string', default: resolve(__dirname, '..', 'test', 'fixtures', 'audio', 'clips') },
    model: { type: 'string' },
    accelerator: { type: 'string', default: 'auto' },
  },
});

async function transcribeAll(clips: readonly Clip[], accelerator: AcceleratorMode): Promise<Heard[]> {
  const { config, roots, manifest } = readContext();
  const settings = { ...config, model: values.model ?? config.model, device: 'cpu', slots: 1, threads: 1 };
  let encodeMs: number[] = [];
  const observer = { windowDone: (window: { encodeMs: number }) => encodeMs.push(window.encodeMs) };
  const engine = await loadEngine({ ...settings, accelerator }, roots, manifest, observer);
  try {
    const heard: Heard[] = [];
    for (const clip of clips) {
      encodeMs = [];
      const path = join(values.clips, clip.file);
      const { text, language } = await engine.transcribeFile({ path, accountId: 'bench', language: 'auto' });
      heard.push({ text, language, encodeMs });
    }
    return heard;
  } finally {
    await engine.close();
  }
}

class Tally {
  readonly off = new WordErrorRate();
  readonly on = new WordErrorRate();
  clips = 0;
  same = 0;
  languageOff = 0;
  languageOn = 0;
  /** Encoder time without the accelerator by that with it, of each clip. */
  readonly ratios: number[] = [];

  add(clip: Clip, off: Heard, on: Heard): void {
    this.clips += 1;
    this.same += off.text === on.text ? 1 : 0;
    this.off.add(wordErrors(clip.text, off.text));
    this.on.add(wordErrors(clip.text, on.text));
    this.languageOff += off.language === clip.language ? 1 : 0;
    this.languageOn += on.language === clip.language ? 1 : 0;
    if (off.encodeMs.length === on.encodeMs.length) this.ratios.push(sum(off.encodeMs) / sum(on.encodeMs));
  }

  get difference(): number {
    return this.on.percent - this.off.percent;
  }

  row(name: string): string {
    const rates = [this.off.percent, this.on.percent, this.difference].map((rate) => rate.toFixed(2));
    const counts = [this.same, this.languageOff, this.languageOn].map((count) => `${count}/${this.clips}`);
    const ratio = this.ratios.length === 0 ? '-' : median(this.ratios).toFixed(2);
    return `| ${[name, ...rates, ...counts, ratio].join(' | ')} |`;
  }
}

async function main(): Promise<void> {
  const clips = JSON.parse(readFileSync(join(values.clips, 'refs.json'), 'utf8')) as Clip[];
  const off = await transcribeAll(clips, 'off');
  const on = await transcribeAll(clips, values.accelerator === 'float32' ? 'float32' : 'auto');
  const tallies = new Map<string, Tally>();
  const all = new Tally();
  for (const [index, clip] of clips.entries()) {
    const [without, accelerated] = [off[index], on[index]];
    if (without === undefined || accelerated === undefined) throw new Error(`no answer for ${clip.file}`);
    const tally = tallies.get(clip.language) ?? new Tally();
    tallies.set(clip.language, tally);
    for (const one of [tally, all]) one.add(clip, without, accelerated);
    if (without.text !== accelerated.text)
      console.log(`${clip.file}\n  off ${without.text}\n  on  ${accelerated.text}`);
  }
  console.log(
    '| language | WER % off | WER % on | difference | same text | language right, off | on | encoder, off / on |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|--:|');
  const languages = [...tallies].sort(([a], [b]) => a.localeCompare(b));
  for (const [language, tally] of [...languages, ['all', all] as const]) console.log(tally.row(language));
  const within = languages.every(([, tally]) => Math.abs(tally.difference) <= TOLERANCE_POINTS);
  process.exitCode = within ? 0 : 1;
}

void main();
