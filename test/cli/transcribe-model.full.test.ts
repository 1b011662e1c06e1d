/** Which model `verbatim transcribe` takes where none is named, with a hub of this machine to fetch one from. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { writeSpeeds } from '../../src/service/automatic-model/speed-file.js';
import { writeChosenModel } from '../../src/service/chosen-model.js';
import { readConfig } from '../../src/service/config.js';
import { verbatim } from '../support/built.js';
import { ModelHub } from '../support/model-hub.js';
import { sample } from '../support/speech.js';
import { COLUMNS, Terminal } from '../support/terminal.js';
import { smallModel } from '../support/small-model.js';

const NAME = 'tiny-q8_0';
const FILE = `ggml-${NAME}.bin`;
const MIB = 1 << 20;

describe('verbatim transcribe without the name of a model', function () {
  this.timeout(240_000);
  const speech = sample('en-wav16.wav');
  let content: Buffer;
  let directory: string;
  let hub: ModelHub;
  let settings: Record<string, string>;

  before(async () => void (content = await smallModel()));
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-model-'));
    hub = await ModelHub.start(content);
    hub.register([NAME], { languages: 'whisper' });
    settings = {
      ...{ VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off', VERBATIM_DATA_DIR: join(directory, 'data') },
      ...{ VERBATIM_MODELS_DIR: hub.directory, HF_ENDPOINT: hub.url },
    };
    // A machine that is known to carry this model and no larger one.
    writeSpeeds(readConfig(settings, packageRoot), { 'base-q8_0': 1, [NAME]: 20 });
  });
  afterEach(async () => {
    hub.release();
    await hub.close();
    rmSync(directory, { recursive: true });
  });

  const output = (): string => join(directory, 'output');
  const printed = (): string => readFileSync(output(), 'utf8');
  const onTerminal = (words: readonly string[] = [], more: Readonly<Record<string, string>> = {}): Terminal =>
    Terminal.start(
      ['transcribe', speech.path, '--language', 'en', ...words],
      { ...settings, ...more },
      `> '${output()}'`,
    );
  /** Off any terminal. */
  const piped = (...words: string[]): SpawnSyncReturns<string> => {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VERBATIM_'));
    return spawnSync(process.execPath, verbatim('transcribe', speech.path, '--language', 'en', ...words), {
      encoding: 'utf8',
      env: { ...Object.fromEntries(inherited), ...settings },
    });
  };
  const demonstrates = (text: string): boolean => text === `${speech.text}\n`;

  it('fetches the one for this machine on a terminal, with progress, and takes it from then on', async () => {
    hub.sentBytes = MIB;
    const terminal = onTerminal(['--json']);
    const size = `${Math.round(content.length / 1e6)} MB`;
    await terminal.shows(
      `Fetching ${NAME}, ${size}: the best published model for this machine (20.0 times real time).`,
    );
    await terminal.shows(`1.0 MB of ${size}`);
    hub.release();
    expect(await terminal.ended(), terminal.written).to.equal(0);
    expect(terminal.written).to.match(/1 file, \d+ s of audio in /);
    for (const line of terminal.drawn.filter((text) => / left$/.test(text)))
      expect(line.length, line).to.be.below(COLUMNS);
    const answer = JSON.parse(printed()) as { text: string };
    expect(answer).not.to.have.property('warnings');

    const again = onTerminal(['--json']);
    expect(await again.ended(), again.written).to.equal(0);
    expect(again.written).not.to.contain('Fetching');
    const { status, stdout, stderr } = piped('--json');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    for (const json of [printed(), stdout]) expect(JSON.parse(json)).to.include({ text: answer.text });
    expect(hub.starts).to.deep.equal([0]);
  });

  it('ends at Ctrl-C while it fetches; what there is of the model stays for the next time', async () => {
    hub.sentBytes = MIB;
    const terminal = onTerminal();
    await terminal.shows('1.0 MB of ');
    terminal.type('\x03');
    expect(await terminal.ended(), terminal.written).to.equal(130);
    expect(terminal.written).not.to.contain('verbatim:').and.not.contain('demonstration');
    expect(printed()).to.equal('');
    const received = statSync(join(hub.directory, `${FILE}.part`)).size;
    expect(received).to.be.within(1, MIB);
    hub.release();
    const again = onTerminal();
    expect(await again.ended(), again.written).to.equal(0);
    expect(hub.starts).to.deep.equal([0, received]);
    expect(readdirSync(hub.directory).sort()).to.deep.equal([FILE, `${FILE}.packed`, 'imported.json']);
  });

  it('says in one line that the hub cannot be reached, and goes on with the demonstration model', async () => {
    rmSync(settings['VERBATIM_DATA_DIR']!, { recursive: true });
    const terminal = onTerminal([], { HF_ENDPOINT: 'http://127.0.0.1:9' });
    expect(await terminal.ended(), terminal.written).to.equal(0);
    expect(demonstrates(printed())).to.equal(true);
    const lines = terminal.drawn.filter((line) => line.includes('demonstration'));
    expect(lines).to.have.length(1);
    expect(lines[0])
      .to.match(/^The model hub http:\/\/127\.0\.0\.1:9 cannot be reached \(.*\); the demonstration model transcribes/)
      .and.contain('models import')
      .and.contain('HF_ENDPOINT');
    expect(existsSync(settings['VERBATIM_DATA_DIR']!)).to.equal(false);
  });

  it('goes on with the demonstration model where what it fetched is not the publisher’s', async () => {
    hub.register([NAME], { languages: 'whisper', sha1: '0'.repeat(40) });
    const terminal = onTerminal();
    expect(await terminal.ended(), terminal.written).to.equal(0);
    expect(terminal.written).to.match(/has sha1 [0-9a-f]{40} instead of 0{40}.*; the demonstration model transcribes/);
    expect(demonstrates(printed())).to.equal(true);
    expect(existsSync(join(hub.directory, FILE))).to.equal(false);
  });

  it('fetches nothing where the bundled model is asked for, and does not warn of it', async () => {
    const asked: [string[], Record<string, string>][] = [
      [['--model', 'bundled'], {}],
      [[], { VERBATIM_AUTO_MODEL: 'off' }],
      [[], { VERBATIM_MODEL: 'bundled' }],
    ];
    for (const [words, more] of asked) {
      const terminal = onTerminal(words, more);
      expect(await terminal.ended(), terminal.written).to.equal(0);
      expect(demonstrates(printed())).to.equal(true);
      expect(terminal.written).not.to.contain('demonstration').and.not.contain('Fetching');
    }
    expect(hub.starts).to.deep.equal([]);
  });

  it('fetches nothing off a terminal, and warns of the demonstration model once', () => {
    const { status, stdout, stderr } = piped();
    expect(status, stderr).to.equal(0);
    expect(demonstrates(stdout)).to.equal(true);
    expect(stderr).to.match(/^The text may be wrong: .*"npx verbatim models pull" installs .*\n$/);
    expect(hub.starts).to.deep.equal([]);
  });

  it('takes the model that was chosen for a server of the same data, and says when it is gone', async () => {
    mkdirSync(settings['VERBATIM_DATA_DIR']!, { recursive: true });
    writeChosenModel(settings['VERBATIM_DATA_DIR']!, 'verbatim-small');
    const terminal = onTerminal();
    expect(await terminal.ended(), terminal.written).to.equal(0);
    expect(demonstrates(printed())).to.equal(true);
    writeChosenModel(settings['VERBATIM_DATA_DIR']!, NAME);
    const { status, stderr } = piped();
    expect(status).to.equal(1);
    expect(stderr).to.match(/^verbatim: The model "tiny-q8_0" is not installed .*models pull tiny-q8_0/);
    expect(hub.starts).to.deep.equal([]);
  });
});
