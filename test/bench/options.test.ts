/**
 * The table of the bench's options: each row shows what an option does to the report. Of the commands named here every
 * option has one.
 */
import { expect } from 'chai';
import { Command } from 'commander';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { addBenchCommands } from '../../bench/index.js';
import { DEFAULT_CLIPS } from '../../bench/commands/setup.js';
import type { Report } from '../../bench/reports/report.js';
import { failureOf } from '../../src/cli/words.js';
import { MODEL, samplePath } from '../native/support.js';
import { translationCalls } from '../support/translation-calls.js';
import { writePrograms } from './built-programs.js';
import { captured, type CommandResult } from '../support/cli.js';

const COMMANDS = ['engine', 'translate', 'usage', 'clips'];

function benchProgram(): Command {
  const bench = new Command('bench');
  addBenchCommands(bench);
  for (const command of [bench, ...bench.commands]) command.exitOverride();
  return bench;
}

function run(...words: string[]): Promise<CommandResult> {
  return captured(
    async () => {
      try {
        await benchProgram().parseAsync(words, { from: 'user' });
        return 0;
      } catch (error) {
        const { message, exitCode } = failureOf(error);
        if (message !== null) process.stderr.write(`${message}\n`);
        return exitCode;
      }
    },
    { VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off' },
  );
}

async function report(...words: string[]): Promise<Report> {
  const { status, stdout, stderr } = await run(...words, '--json');
  expect(status, stderr).to.equal(0);
  return JSON.parse(stdout) as Report;
}

/** Says why, and exits with 1 or 2. */
async function refusal(...words: string[]): Promise<string> {
  const { status, stderr } = await run(...words);
  expect(status, words.join(' ')).not.to.equal(0);
  return stderr;
}

const CLIP = samplePath('de-wav24-stereo.wav');
const CLIP_SECONDS = 1.872;

/** The smallest measurement: what is given later counts. */
const ENGINE = [
  'engine',
  ...['--clips', CLIP, '--slots', '1', '--threads', '1', '--rounds', '1', '--clients', '1'],
];
const TRANSLATE = ['translate', '--batch', '1', '--beam', '1', '--rounds', '1', '--length', '3'];
const USAGE = ['usage', '--events', '1000', '--runs', '2'];

interface MeasuredPass {
  passes: { audioSeconds: number }[];
}

function rowsOf({ tables }: Report): Record<string, unknown>[] {
  return [...(tables[0]?.rows ?? [])];
}

function audioSeconds({ measurements }: Report): number {
  return (measurements as MeasuredPass[])[0]?.passes[0]?.audioSeconds ?? 0;
}

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-options-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** What every command does with its report. */
function outputRows(name: string, words: readonly string[]): Record<string, () => Promise<void>> {
  return {
    [`${name} --json`]: async () => {
      expect((await report(...words)).name).to.equal(name);
      expect((await run(...words)).stdout).to.match(/^# /);
    },
    [`${name} --output`]: () =>
      inDirectory(async (directory) => {
        await report(...words, '--output', join(directory, 'out'));
        expect(readdirSync(join(directory, 'out'))).to.include.members([`${name}.json`, `${name}.md`]);
      }),
  };
}

const engineRows: Record<string, () => Promise<void>> = {
  'engine --model': async () => {
    expect((await report(...ENGINE, '--model', MODEL)).models[0]?.name).to.equal(MODEL);
    expect(await refusal(...ENGINE, '--model', 'nonsense')).to.contain('There is no model "nonsense"');
  },
  'engine --device': async () => {
    expect(await refusal(...ENGINE, '--device', 'cuda:99')).to.contain('Device "cuda:99" is not available');
  },
  'engine --slots': async () => {
    const slots = rowsOf(await report(...ENGINE, '--slots', '1,2')).map((row) => row['slots']);
    expect(slots).to.deep.equal([1, 2]);
  },
  'engine --threads': async () => {
    const threads = rowsOf(await report(...ENGINE, '--threads', '2,1')).map((row) => row['threads']);
    expect(threads).to.have.members([1, 2]);
  },
  'engine --beam': async () => {
    expect(rowsOf(await report(...ENGINE, '--beam', '1,2')).map((row) => row['beam'])).to.deep.equal([1, 2]);
    expect(await refusal(...ENGINE, '--beam', '100')).to.match(/beam/);
  },
  'engine --clips': () =>
    inDirectory(async (directory) => {
      const two = join(directory, 'two');
      mkdirSync(two);
      for (const clip of [CLIP, samplePath('en-wav16.wav')]) symlinkSync(clip, join(two, basename(clip)));
      const found = await report(...ENGINE, '--clips', two);
      expect(found.settings).to.include({ clips: 2 });
      expect(audioSeconds(found)).to.be.closeTo(CLIP_SECONDS + 2.437, 0.05);
    }),
  'engine --language': async () => {
    expect((await report(...ENGINE, '--language', 'de')).settings).to.include({ language: 'de' });
    expect(await refusal(...ENGINE, '--language', 'ja')).to.contain('"ja"');
  },
  'engine --clients': async () => {
    expect((await report(...ENGINE, '--clients', '3')).settings).to.include({ clients: 3 });
    expect(await refusal(...ENGINE, '--clients', '0')).to.contain('an integer from 1');
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
  ...outputRows('engine', ENGINE),
};

const translateRows: Record<string, () => Promise<void>> = {
  'translate --model': async () => {
    expect((await report(...TRANSLATE)).models[0]?.name).to.equal('translate-verbatim-small');
    expect(await refusal(...TRANSLATE, '--model', 'tiny')).to.contain('"tiny" is a speech model');
  },
  'translate --weights': async () => {
    const weights = rowsOf(await report(...TRANSLATE, '--weights', 'int8,float32')).map(
      (row) => row['weights'],
    );
    expect(weights).to.have.members(['int8', 'float32']);
  },
  'translate --batch': async () => {
    const batches = rowsOf(await report(...TRANSLATE, '--batch', '1,3')).map((row) => row['batch']);
    expect(batches).to.deep.equal([1, 3]);
  },
  'translate --beam': async () => {
    const beams = rowsOf(await report(...TRANSLATE, '--beam', '1,3')).map((row) => row['beam']);
    expect(beams).to.deep.equal([1, 3]);
    expect(await refusal(...TRANSLATE, '--beam', '1000')).to.contain('beam_size is 1000');
  },
  'translate --threads': async () => {
    const threads = await translationCalls(() => report(...TRANSLATE, '--threads', '2'));
    expect(new Set(threads.map((call) => call.threads))).to.deep.equal(new Set([2]));
    expect(await refusal(...TRANSLATE, '--threads', '257')).to.contain('an integer from 1 to 256');
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
  ...outputRows('translate', TRANSLATE),
};

const usageRows: Record<string, () => Promise<void>> = {
  'usage --events': async () => {
    const sizes = rowsOf(await report(...USAGE, '--events', '10000')).map((row) => row['events']);
    expect(sizes).to.deep.equal([1000, 10_000]);
    expect(rowsOf(await report(...USAGE)).map((row) => row['events'])).to.deep.equal([1000]);
  },
  'usage --runs': async () => {
    // Each run charges once, and is among the events that are audited.
    const audited = async (runs: string): Promise<number> => {
      const { audit } = (await report(...USAGE, '--runs', runs)).measurements as {
        audit: { events: number };
      };
      return audit.events;
    };
    expect((await audited('5')) - (await audited('2'))).to.equal(3);
  },
  'usage --directory': () =>
    inDirectory(async (directory) => {
      const missing = join(directory, 'missing');
      expect(await refusal(...USAGE, '--directory', missing)).to.contain(missing);
      await report(...USAGE, '--directory', directory);
      expect(existsSync(missing)).to.equal(false);
      expect(readdirSync(directory)).to.deep.equal([]);
    }),
  ...outputRows('usage', USAGE),
};

interface WrittenClip {
  file: string;
  duration: number;
}

/** The clips that the command writes, in a list and, joined by a program that stands for the built one, as files. */
async function clipsWith(...words: string[]): Promise<WrittenClip[]> {
  let clips: WrittenClip[] = [];
  await inDirectory(async (directory) => {
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

const clipsRows: Record<string, () => Promise<void>> = {
  'clips --from': () =>
    inDirectory(async (directory) => {
      const nothing = join(directory, 'nothing');
      writePrograms(directory, { clips: true });
      expect(await refusal('clips', directory, '--build', directory, '--from', nothing)).to.contain(nothing);
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
    expect(await refusal('clips', 'out', '--longest', '1')).to.contain('--longest is 1; allowed: from 2');
  },
  'clips --seed': async () => {
    expect(await clipsWith('--seed', '7')).to.deep.equal(await clipsWith('--seed', '7'));
    expect(await clipsWith('--seed', '8')).not.to.deep.equal(await clipsWith('--seed', '7'));
  },
  'clips --build': () =>
    inDirectory(async (directory) => {
      expect(await refusal('clips', join(directory, 'out'), '--build', directory)).to.contain('join_clips');
    }),
};

const rows = { ...engineRows, ...translateRows, ...usageRows, ...clipsRows };

describe('Every option of a bench command', () => {
  it('has a row in this table', () => {
    const options = benchProgram()
      .commands.filter((command) => COMMANDS.includes(command.name()))
      .flatMap((command) => command.options.map(({ long, flags }) => `${command.name()} ${long ?? flags}`));
    expect(Object.keys(rows).sort()).to.deep.equal([...options].sort());
  });

  it('of every command is told by --help, and an unknown one is refused by name', async () => {
    for (const command of benchProgram().commands) {
      const { stdout } = await run(command.name(), '--help');
      for (const { flags } of command.options) expect(stdout).to.contain(flags);
      const needed = command.options
        .filter(({ mandatory }) => mandatory)
        .flatMap(({ long }) => [long ?? '', 'x']);
      expect(await refusal(command.name(), ...needed, '--frobnicate')).to.contain('--frobnicate');
    }
  });

  for (const [option, showEffect] of Object.entries(rows)) it(option, showEffect);
});
