/** Packed weights beside a model, through servers that are started one after another. */
import { expect } from 'chai';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { register } from '../../src/models/import.js';
import { MODEL } from '../native/support.js';
import { runCommand } from '../support/cli.js';
import { Served, workplace } from '../support/served.js';
import { until } from '../support/until.js';
import { answerTo } from './setting-rows/effects.js';

const FILES = ['decoder-int8.weights', 'encoder-int8.weights'];
const TEXT = 'Hello Emma, this is Laura.';

interface LogLine {
  level: number;
  msg?: string;
  model?: string;
  foundBytes?: number;
  writtenBytes?: number;
  problem?: string;
}

const WARN = 40;

describe('packed weights of a served model', () => {
  let directory: string;
  let environment: Record<string, string>;
  let packed: string;

  beforeEach(() => {
    directory = workplace();
    const modelsDir = join(directory, 'models');
    mkdirSync(modelsDir);
    copyFileSync(MODEL, join(modelsDir, 'ggml-mine.bin'));
    packed = join(modelsDir, 'ggml-mine.bin.packed');
    register(modelsDir, {
      ...{ name: 'mine', kind: 'speech', file: 'ggml-mine.bin', languages: ['en', 'de'], windows: 'short' },
      ...{ licence: 'MIT', source: 'test' },
    });
    environment = { VERBATIM_MODELS_DIR: modelsDir, VERBATIM_MODEL: 'mine', VERBATIM_COMPUTE: 'int8' };
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Starts a server, has it transcribe a clip, and stops it. Returns what its log says about packed weights. */
  async function start(settings: Readonly<Record<string, string>> = {}): Promise<LogLine[]> {
    const served = await Served.start({ ...environment, ...settings }).listening();
    expect((await answerTo(served, 'en-wav16.wav')).body).to.include({ text: TEXT });
    await until(() => served.stderr.includes('"msg":"ready"'));
    const lines = served.stderr.split('\n').filter((line) => line.startsWith('{'));
    await served.stop();
    return lines.map((line) => JSON.parse(line) as LogLine).filter(({ msg }) => msg?.includes('weights'));
  }

  it('are written by the first start and found by the second; models list says their size', async () => {
    const [first, ...others] = await start();
    expect(others).to.deep.equal([]);
    expect(first).to.include({ model: 'mine', msg: 'weights were packed', foundBytes: 0 });
    expect(first!.writtenBytes).to.be.above(1_000_000);
    expect(readdirSync(packed).sort()).to.deep.equal(FILES);
    const [second] = await start();
    expect(second).to.include({ msg: 'packed weights were found', writtenBytes: 0, foundBytes: first!.writtenBytes });
    const listed = JSON.parse((await runCommand(['models', 'list', '--json'], environment)).stdout) as {
      name: string;
      packed_mib: number;
    }[];
    const mib = Math.round(first!.writtenBytes! / (1 << 20));
    expect(listed.find(({ name }) => name === 'mine')?.packed_mib).to.equal(mib);
    expect(listed.find(({ name }) => name === 'verbatim-small')?.packed_mib).to.equal(0);
    const table = (await runCommand(['models', 'list'], environment)).stdout.split('\n');
    expect(table.find((line) => line.startsWith('name'))).to.match(/ size +packed /);
    expect(table.find((line) => line.startsWith('mine'))).to.match(/^mine +speech +- +[\d.]+ MB /);
  });

  it('are packed again from a damaged file, with a warning', async () => {
    await start();
    const file = join(packed, 'encoder-int8.weights');
    const right = readFileSync(file);
    const damaged = Buffer.from(right);
    damaged.writeUInt8(damaged.readUInt8(right.length - 100) ^ 1, right.length - 100);
    for (const [bytes, problem] of [
      [damaged, 'encoder-int8: the checksum of its weights is wrong; the weights were packed again'],
      [right.subarray(0, right.length / 2), `encoder-int8: it has ${Math.floor(right.length / 2)} bytes instead of`],
    ] as const) {
      writeFileSync(file, bytes);
      const [line] = await start();
      expect(line).to.include({ level: WARN, model: 'mine' });
      expect(line!.problem).to.contain(problem);
      expect(readFileSync(file).equals(right)).to.equal(true);
    }
  });

  it('are done without where they cannot be written, with a warning', async () => {
    // No directory can be made where a file is, whoever the user is.
    writeFileSync(packed, '');
    const [line] = await start();
    expect(line).to.include({ level: WARN, foundBytes: 0, writtenBytes: 0 });
    expect(line!.problem).to.contain('Not a directory');
  });

  it('of a model with other content are packed again', async () => {
    const [first] = await start();
    const model = join(environment['VERBATIM_MODELS_DIR']!, 'ggml-mine.bin');
    copyFileSync(MODEL, model);
    expect((await start())[0]).to.include({ foundBytes: first!.writtenBytes, writtenBytes: 0 });
    const bytes = readFileSync(model);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    writeFileSync(model, bytes);
    const [line] = await start();
    expect(line).to.include({ foundBytes: 0, writtenBytes: first!.writtenBytes });
    expect(line).not.to.have.property('problem');
  });

  it('are neither read nor written with VERBATIM_WEIGHT_CACHE=off', async () => {
    expect(await start({ VERBATIM_WEIGHT_CACHE: 'off' })).to.deep.equal([]);
    expect(existsSync(packed)).to.equal(false);
  });
});
