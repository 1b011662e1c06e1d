import { expect } from 'chai';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench, report } from './bench-command.js';
import { writePrograms } from './built-programs.js';

/** Comes with the repository, and the bundled model knows its words. */
const SPOKEN = { file: 'sample-es.flac', language: 'es', text: 'Hoy es domingo, dieciocho de mayo.' };

describe('verbatim bench, on what is recognised', function () {
  this.timeout(120_000);
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  /** A directory with one clip of which it is known what is said in it. */
  const spokenClip = (): string => {
    const clips = join(directory, 'spoken');
    mkdirSync(clips, { recursive: true });
    copyFileSync(join(__dirname, '..', '..', 'models', 'bundled', SPOKEN.file), join(clips, SPOKEN.file));
    writeFileSync(join(clips, 'refs.json'), JSON.stringify([SPOKEN]));
    return clips;
  };

  it('accuracy: sets the answers over HTTP beside those of whisper-cli', async () => {
    const clips = spokenClip();
    writePrograms(directory, { cli: { language: 'en', text: 'Nothing of it.' } });
    const { tables, models } = await report('accuracy', '--clips', clips, '--build', directory);
    expect(models[0]?.name).to.equal('verbatim-small');
    expect(tables[0]?.rows).to.have.length(1);
    expect(tables[0]?.rows[0]).to.include({
      ...{ language: 'es', 'Verbatim WER %': 0, 'whisper-cli WER %': 100, 'same text': '0/1' },
      ...{ 'language right, Verbatim': '1/1', 'language right, whisper-cli': '0/1' },
    });
    writePrograms(directory, { cli: { language: 'es', text: ` ${SPOKEN.text}` } });
    const same = await report('accuracy', '--clips', clips, '--build', directory);
    expect(same.tables[0]?.rows[0]).to.include({ 'whisper-cli WER %': 0, 'same text': '1/1' });
  });

  it('parity: with whisper.cpp, fails where a text or a language differs, and only there', async () => {
    const words = ['--clips', spokenClip(), '--build', directory, '--decoder', 'whisper.cpp'];
    const output = { language: 'es', text: SPOKEN.text };
    writePrograms(directory, { engine: output, cli: output });
    const { tables } = await report('parity', ...words);
    expect(tables).to.have.length(4);
    for (const { rows } of tables) expect(rows[0]).to.include({ 'same text': '1/1', 'Verbatim WER %': 0 });
    for (const other of [{ text: 'Hoy es lunes.' }, { language: 'pt' }]) {
      writePrograms(directory, { cli: { ...output, ...other } });
      const { status, stdout } = await bench('parity', ...words);
      expect(status).to.equal(1);
      expect(stdout).to.contain('what differs').and.to.contain(Object.values(other)[0]);
      expect(stdout).not.to.contain('near tie');
    }
  });

  it('parity: with the batched decoder, lists how near what differs was', async () => {
    const words = ['--clips', spokenClip(), '--build', directory];
    const output = { language: 'es', text: SPOKEN.text, tokens: [[7, 5] as const, [8, 0.015] as const] };
    writePrograms(directory, { engine: output, cli: output });
    const { tables, settings } = await report('parity', ...words);
    expect(settings).to.include({ decoder: 'batched', compute: 'float32' });
    expect(tables).to.have.length(4);
    writePrograms(directory, { cli: { ...output, text: 'Hoy.', tokens: [[7, 0] as const, [9, 0] as const] } });
    const { status, stdout } = await bench('parity', ...words);
    // A near tie, but of one window in one.
    expect(status).to.equal(1);
    expect(stdout).to.contain('greedy, language given: how near what differs was');
    expect(stdout).to.match(/ 1 \| 8 \|.* 9 \|.* 0\.015 \| yes \|/);
  });

  it('clips: joins sentences into clips of every length, the same for the same seed', async () => {
    writePrograms(directory, { clips: true });
    const mix = ['--from', spokenClip(), '--count', '3', '--shortest', '2', '--longest', '4'];
    const joined = async (...words: string[]): Promise<{ duration: number }[]> => {
      const clips = join(directory, 'clips');
      const { status, stderr } = await bench('clips', clips, ...mix, '--build', directory, ...words);
      expect(status, stderr).to.equal(0);
      expect(readdirSync(clips)).to.have.members([
        'mixed-000-es.wav',
        'mixed-001-es.wav',
        'mixed-002-es.wav',
        'refs.json',
      ]);
      return JSON.parse(readFileSync(join(clips, 'refs.json'), 'utf8')) as { duration: number }[];
    };
    const clips = await joined('--seed', '7');
    expect(clips.map(({ duration }) => duration)).to.have.members([2, 3, 4]);
    expect(await joined('--seed', '7')).to.deep.equal(clips);
    const upsideDown = await bench('clips', directory, ...mix, '--longest', '1');
    expect(upsideDown).to.include({ status: 1 });
    expect(upsideDown.stderr).to.contain('--longest is 1; allowed: from 2');
  });
});
