/**
 * The table of the bench's options: each row shows what an option does to the report, or to what is asked of the parts
 * of a command that take long. Every option of every command has one, but for --json, which is in all of them.
 */
import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DEFAULT_CLIPS } from '../../bench/commands/setup.js';
import type { EngineCell } from '../../bench/engine/engine-cells.js';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { readConfig } from '../../src/service/config.js';
import { speechDecoder } from '../../src/service/speech-decoder.js';
import type { Report } from '../../bench/reports/report.js';
import { MODEL, samplePath } from '../native/support.js';
import { translationCalls } from '../support/translation-calls.js';
import { writePrograms } from './built-programs.js';
import {
  benchProgram,
  failureText,
  withDirectory,
  showOutput,
  recorded,
  refusalOf,
  reportOf,
  run as runWith,
  type Recorded,
  type Rows,
} from './options/running.js';
import { compareRows } from './options/compare-rows.js';
import { drawRows } from './options/draw-rows.js';
import { tuneRows, throughputRows } from './options/search-rows.js';
import { accuracyRows, parityRows } from './options/spoken-rows.js';
import { speakersRows } from './options/speakers-rows.js';
import { wordRows } from './options/word-rows.js';
import { segmentsRows } from './options/segments-rows.js';
import { httpRows } from './options/http-rows.js';
import { ledgerRows, libraryRows, nodesRows } from './options/ledger-rows.js';
import { liveBenchRows } from './options/live-rows.js';
import { memoryRows, overheadRows } from './options/server-rows.js';

const CLIP = samplePath('de-wav24-stereo.wav');
const CLIP_SECONDS = 1.872;

const run = (...words: string[]): ReturnType<typeof runWith> => runWith(words);
const report = (...words: string[]): Promise<Report> => reportOf(words);

/** The smallest measurement: what is given later counts. */
const ENGINE = ['engine', ...['--clips', CLIP, '--slots', '1', '--threads', '1', '--rounds', '1', '--clients', '1']];
const TRANSLATE = ['translate', '--batch', '1', '--beam', '1', '--rounds', '1', '--length', '3'];

interface MeasuredPass {
  passes: { audioSeconds: number }[];
}

function rowsOf({ tables }: Report): Record<string, unknown>[] {
  return [...(tables[0]?.rows ?? [])];
}

function audioSeconds({ measurements }: Report): number {
  return (measurements as MeasuredPass[])[0]?.passes[0]?.audioSeconds ?? 0;
}

/** What a run measured, of each cell. */
function cellsOf({ calls }: Recorded): EngineCell[] {
  return calls.measureInProcess.map(([{ cell }]) => cell);
}

const engineRows: Rows = {
  'engine --model': async () => {
    expect((await report(...ENGINE, '--model', MODEL)).models[0]?.name).to.equal(MODEL);
    expect(await refusalOf(...ENGINE, '--model', 'nonsense')).to.contain('There is no model "nonsense"');
  },
  'engine --device': async () => {
    expect(await refusalOf(...ENGINE, '--device', 'cuda:99')).to.contain('Device "cuda:99" is not available');
  },
  'engine --slots': async () => {
    const slots = rowsOf(await report(...ENGINE, '--slots', '2,1')).map((row) => row['slots']);
    expect(slots).to.deep.equal([2, 1]);
    expect(await refusalOf(...ENGINE, '--slots', '1,257')).to.contain('an integer from 1 to 256');
  },
  'engine --threads': async () => {
    const threads = rowsOf(await report(...ENGINE, '--threads', '2')).map((row) => row['threads']);
    expect(threads).to.deep.equal([2]);
    expect(await refusalOf(...ENGINE, '--threads', '257')).to.contain('an integer from 1 to 256');
  },
  'engine --beam': async () => {
    expect(rowsOf(await report(...ENGINE, '--beam', '1,2')).map((row) => row['beam'])).to.deep.equal([1, 2]);
    expect(await failureText(...ENGINE, '--beam', '100')).to.match(/beam/);
  },
  'engine --decoder': async () => {
    const decoders = async (...words: string[]): Promise<SpeechDecoder[]> =>
      cellsOf(await recorded(...ENGINE, ...words)).map(({ decoder }) => decoder);
    expect(await decoders()).to.deep.equal([speechDecoder(readConfig({}, '.'), ['cpu'])]);
    const both = await decoders('--decoder', 'whisper.cpp,batched');
    expect(both.map(({ kind }) => kind)).to.deep.equal(['whisper.cpp', 'batched']);
    const shown = rowsOf(await report(...ENGINE, '--decoder', 'whisper.cpp')).map((row) => row['decoder']);
    expect(shown).to.deep.equal(['whisper.cpp']);
    expect(await refusalOf(...ENGINE, '--decoder', 'fastest')).to.contain('allowed: auto, batched, whisper.cpp');
  },
  'engine --compute': async () => {
    const words = [...ENGINE, '--decoder', 'batched', '--compute', 'int8'];
    const [cell] = cellsOf(await recorded(...words));
    expect(cell?.decoder).to.include({ kind: 'batched', compute: 'int8' });
    const unused = await refusalOf(...ENGINE, '--decoder', 'whisper.cpp', '--compute', 'int8');
    expect(unused).to.contain('--compute is for the batched decoder');
    expect(await refusalOf(...ENGINE, '--compute', 'float16')).to.contain('int8, bfloat16, float32');
  },
  'engine --batch': async () => {
    const words = [...ENGINE, '--decoder', 'batched', '--batch', '4,16'];
    const sizes = cellsOf(await recorded(...words)).map(({ decoder }) => decoder);
    expect(sizes.map((decoder) => decoder.kind === 'batched' && decoder.windowsInFlight)).to.deep.equal([4, 16]);
    const unused = await refusalOf(...ENGINE, '--decoder', 'whisper.cpp', '--batch', '4');
    expect(unused).to.contain('--batch is for the batched decoder');
    expect(await refusalOf(...ENGINE, '--batch', '65')).to.contain('an integer from 1 to 64');
  },
  'engine --clips': () =>
    withDirectory(async (directory) => {
      const two = join(directory, 'two');
      mkdirSync(two);
      for (const clip of [CLIP, samplePath('en-wav16.wav')]) symlinkSync(clip, join(two, basename(clip)));
      const found = await report(...ENGINE, '--clips', two);
      expect(found.settings).to.include({ clips: 2 });
      expect(audioSeconds(found)).to.be.closeTo(CLIP_SECONDS + 2.437, 0.05);
    }),
  'engine --language': async () => {
    expect((await report(...ENGINE, '--language', 'de')).settings).to.include({ language: 'de' });
    expect(await failureText(...ENGINE, '--language', 'ja')).to.contain('"ja"');
  },
  'engine --clients': async () => {
    expect((await report(...ENGINE, '--clients', '3')).settings).to.include({ clients: 3 });
    expect(await refusalOf(...ENGINE, '--clients', '0')).to.contain('an integer from 1');
  },
  'engine --repeat': async () => {
    expect(audioSeconds(await report(...ENGINE))).to.be.closeTo(CLIP_SECONDS, 0.05);
    expect(audioSeconds(await report(...ENGINE, '--repeat', '3'))).to.be.closeTo(3 * CLIP_SECONDS, 0.15);
  },
  'engine --rounds': async () => {
    const { measurements, runs } = await report(...ENGINE, '--rounds', '2');
    expect(runs).to.equal(2);
    expect((measurements as MeasuredPass[])[0]?.passes).to.have.length(2);
  },
  'engine --output': () => showOutput('engine', ENGINE),
};

const translateRows: Rows = {
  'translate --model': async () => {
    expect((await report(...TRANSLATE)).models[0]?.name).to.equal('translate-verbatim-small');
    expect(await refusalOf(...TRANSLATE, '--model', 'tiny')).to.contain('"tiny" is a speech model');
  },
  'translate --weights': async () => {
    const weights = rowsOf(await report(...TRANSLATE, '--weights', 'int8,float32')).map((row) => row['weights']);
    expect(weights).to.have.members(['int8', 'float32']);
  },
  'translate --batch': async () => {
    const batches = rowsOf(await report(...TRANSLATE, '--batch', '1,3')).map((row) => row['batch']);
    expect(batches).to.deep.equal([1, 3]);
    expect(await refusalOf(...TRANSLATE, '--batch', '1025')).to.contain('an integer from 1 to 1024');
  },
  'translate --beam': async () => {
    const beams = rowsOf(await report(...TRANSLATE, '--beam', '1,3')).map((row) => row['beam']);
    expect(beams).to.deep.equal([1, 3]);
    expect(await failureText(...TRANSLATE, '--beam', '1000')).to.contain('beam_size is 1000');
  },
  'translate --threads': async () => {
    const threads = await translationCalls(() => report(...TRANSLATE, '--threads', '2'));
    expect(new Set(threads.map((call) => call.threads))).to.deep.equal(new Set([2]));
    expect(await refusalOf(...TRANSLATE, '--threads', '257')).to.contain('an integer from 1 to 256');
  },
  'translate --length': async () => {
    const calls = await translationCalls(() => report(...TRANSLATE, '--length', '5'));
    expect(calls).not.to.have.length(0);
    for (const { options } of calls) {
      expect(options).to.include({ minDecodingLength: 5, maxDecodingLength: 5 });
    }
  },
  'translate --rounds': async () => {
    const { measurements } = await report(...TRANSLATE, '--rounds', '3');
    expect((measurements as { passes: unknown[] }[])[0]?.passes).to.have.length(3);
  },
  'translate --output': () => showOutput('translate', TRANSLATE),
};

interface WrittenClip {
  file: string;
  duration: number;
}

/** The clips that the command writes, in a list and, joined by a program that stands for the built one, as files. */
async function clipsWith(...words: string[]): Promise<WrittenClip[]> {
  let clips: WrittenClip[] = [];
  await withDirectory(async (directory) => {
    writePrograms(directory, { clips: true });
    const few = ['--count', '3', '--longest', '9', '--build', directory];
    const { status, stderr } = await run('clips', join(directory, 'out'), ...few, ...words);
    expect(status, stderr).to.equal(0);
    clips = JSON.parse(readFileSync(join(directory, 'out', 'refs.json'), 'utf8')) as WrittenClip[];
    for (const { file } of clips) expect(existsSync(join(directory, 'out', file))).to.equal(true);
  });
  return clips;
}

function lengths(clips: readonly WrittenClip[]): number[] {
  return clips.map(({ duration }) => duration);
}

const clipsRows: Rows = {
  'clips --from': () =>
    withDirectory(async (directory) => {
      const nothing = join(directory, 'nothing');
      // Before the program that joins them, which is not built here.
      expect(await refusalOf('clips', directory, '--build', directory, '--from', nothing)).to.contain(nothing);
      expect(await clipsWith('--from', DEFAULT_CLIPS)).to.deep.equal(await clipsWith());
    }),
  'clips --count': async () => {
    expect(await clipsWith()).to.have.length(3);
    expect(await clipsWith('--count', '5')).to.have.length(5);
  },
  'clips --shortest': async () => {
    const least = async (seconds: string): Promise<number> =>
      Math.min(...lengths(await clipsWith('--shortest', seconds)));
    expect(await least('8')).to.be.above(await least('2'));
  },
  'clips --longest': async () => {
    const most = async (seconds: string): Promise<number> =>
      Math.max(...lengths(await clipsWith('--longest', seconds)));
    expect(await most('25')).to.be.above(await most('9'));
    expect(await refusalOf('clips', 'out', '--longest', '1')).to.contain('--longest is 1; allowed: from 2');
  },
  'clips --seed': async () => {
    expect(await clipsWith('--seed', '7')).to.deep.equal(await clipsWith('--seed', '7'));
    expect(await clipsWith('--seed', '8')).not.to.deep.equal(await clipsWith('--seed', '7'));
  },
  'clips --build': () =>
    withDirectory(async (directory) => {
      expect(await refusalOf('clips', join(directory, 'out'), '--build', directory)).to.contain(
        join(directory, 'join_clips'),
      );
    }),
};

const rows = {
  ...engineRows,
  ...translateRows,
  ...ledgerRows,
  ...libraryRows,
  ...nodesRows,
  ...clipsRows,
  ...drawRows,
  ...segmentsRows,
  ...httpRows,
  ...overheadRows,
  ...memoryRows,
  ...compareRows,
  ...tuneRows,
  ...throughputRows,
  ...accuracyRows,
  ...parityRows,
  ...speakersRows,
  ...wordRows,
  ...liveBenchRows,
};

describe('Every option of a bench command', () => {
  it('has a row in this table', () => {
    const options = benchProgram().commands.flatMap((command) =>
      command.options.map(({ long, flags }) => `${command.name()} ${long ?? flags}`),
    );
    const isInEveryRow = (option: string): boolean => option.endsWith(' --json');
    expect(Object.keys(rows).sort()).to.deep.equal(options.filter((option) => !isInEveryRow(option)).sort());
  });

  it('of every command is listed by --help, and an unknown one is refused by name', async () => {
    for (const command of benchProgram().commands) {
      const { stdout } = await run(command.name(), '--help');
      for (const { flags } of command.options) expect(stdout).to.contain(flags);
      const needed = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? '', 'x']);
      expect(await refusalOf(command.name(), ...needed, '--frobnicate')).to.contain('--frobnicate');
    }
  });

  for (const [option, showEffect] of Object.entries(rows)) it(option, showEffect);
});
