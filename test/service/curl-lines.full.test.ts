/** The curl lines of README and documents, run as they are printed, against the service as it starts. */
import { expect } from 'chai';
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';
import { CHECK_CLIP } from '../../src/service/model-check.js';
import { verbatim } from '../support/built.js';
import { Served } from '../support/served.js';
import { sample } from '../support/speech.js';

interface Answered {
  status: number;
  body: string;
}

type Shown = Record<string, unknown> & { warnings: { code: string }[] };

const textOf = (document: string): string => readFileSync(join(packageRoot, document), 'utf8');

function curlLines(document: string): string[] {
  const blocks = [...textOf(document).matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = '']) => block.split('\n'));
  return blocks.filter((line) => line.startsWith('curl '));
}

/** What documents write for the id of a resource, which the answer to an earlier line has. */
const PLACEHOLDERS = { job_: 'JOB_ID', tr_: 'TRANSCRIPT_ID', key_: 'KEY_ID', acc_: 'ACCOUNT_ID' } as const;

/** The placeholder of the id that an answer has, and that id. */
function idIn(body: string): [placeholder: string, id: string] | undefined {
  const [, id = ''] = /"id":"(\w+_[\w-]+)"/.exec(body) ?? [];
  const known = Object.entries(PLACEHOLDERS).find(([prefix]) => id.startsWith(prefix));
  return known === undefined ? undefined : [known[1], id];
}

describe('The curl lines of', function () {
  this.timeout(120_000);
  let served: Served;
  let variables: Record<string, string>;
  const ids = new Map<string, string>();

  before(async () => {
    served = await Served.start().listening();
    const { directory } = served;
    symlinkSync(join(packageRoot, 'models'), join(directory, 'models'));
    for (const name of ['talk.mp3', 'meeting.mp3'])
      copyFileSync(join(packageRoot, 'test', 'fixtures', 'audio', 'formats', 'es-08-vbr.mp3'), join(directory, name));
    // The status goes where no answer goes.
    writeFileSync(join(directory, '.curlrc'), 'silent\nshow-error\nwrite-out = "%{stderr}%{http_code}"\n');
    const keyOf = (scope: string): string => {
      const words = ['keys', 'create', '--account', 'local@localhost', '--name', scope, '--scope', scope];
      const made = execFileSync(process.execPath, verbatim(...words), { cwd: directory, encoding: 'utf8' });
      return /(vb_\S+)/.exec(made)?.[1] ?? '';
    };
    variables = { KEY: await served.key(), ADMIN: keyOf('admin'), MANAGEMENT_KEY: keyOf('keys:write') };
  });
  after(() => served.stop());

  async function run(line: string): Promise<Answered> {
    const command = line
      .replaceAll('http://127.0.0.1:8080', served.url)
      .replaceAll(/\b[A-Z]+_ID\b/g, (placeholder) => ids.get(placeholder) ?? placeholder);
    const options = { cwd: served.directory, env: { ...process.env, ...variables, CURL_HOME: served.directory } };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], options);
    const file = / > (\S+)$/.exec(line)?.[1];
    const body = file === undefined ? stdout : readFileSync(join(served.directory, file), 'utf8');
    return { status: Number(stderr), body };
  }

  for (const document of ['README.md', 'docs/api.md'])
    it(`${document} are answered with what it shows, the first of them`, async () => {
      const { status, body } = await run(curlLines(document)[0]!);
      expect(status).to.equal(200);
      const shown = JSON.parse(/```json\n([^]*?)```/.exec(textOf(document))![1]!) as Shown;
      const answer = JSON.parse(body) as Shown;
      expect(Object.keys(answer)).to.deep.equal(Object.keys(shown));
      for (const name of ['duration_sec', 'language', 'text', 'translation'])
        expect(answer[name], name).to.deep.equal(shown[name]);
      const codes = ({ warnings }: Shown): string[] => warnings.map(({ code }) => code);
      expect(codes(answer)).to.deep.equal(codes(shown));
    });

  it('README are one', () => {
    expect(curlLines('README.md')).to.have.length(1);
  });

  it('the first start has the text of the sample, and of your own recording', async () => {
    const [line, ...others] = served.stdout.split('\n').filter((text) => text.startsWith('  curl '));
    expect(others).to.deep.equal([]);
    const { path, text } = CHECK_CLIP;
    const recording = sample('en-wav16.wav');
    const mine = join(served.directory, 'My recording.wav');
    copyFileSync(recording.path, mine);
    for (const [file, words] of [
      [path, text],
      [mine, recording.text],
    ] as const) {
      expect(line).to.contain(path);
      const { status, body } = await run(line!.replace(path, file));
      expect(status, body).to.equal(200);
      expect((JSON.parse(body) as { text: string }).text).to.equal(words);
    }
  });

  it('README begins with what starts the server, and sends to the line that it prints', () => {
    const [start] = [...textOf('README.md').matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block.trim());
    expect(start).to.equal('./setup && npm start');
    expect(served.stdout).to.contain('your own recording');
  });

  for (const document of ['docs/api.md', 'docs/clients.md']) {
    it(`${document} are answered`, async () => {
      const lines = curlLines(document);
      expect(lines).to.have.length.above(3);
      for (const line of lines) {
        const { status, body } = await run(line);
        expect(status, `${line}\n${body}`).to.be.within(200, 299);
        const made = idIn(body);
        if (made !== undefined) ids.set(...made);
      }
      if (document === 'docs/api.md') expect(existsSync(join(served.directory, 'talk.en.srt'))).to.equal(true);
    });
  }
});
