/**
 * Two thousand spoiled audio files, and as many recordings that only ffmpeg reads, through a running server (its own
 * process;
 * `npm run build` first): every one is answered with a transcript or with a 4xx of the contract, the process lives,
 * neither file
 * nor child is left behind, and memory stays flat; that of ffmpeg is bounded.
 */
import { expect } from 'chai';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { residentBytes } from '../../bench/processes/process-usage.js';
import type { VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import type { ErrorCode } from '../../src/errors.js';
import { ERROR_TABLE } from '../../src/http/errors/error-table.js';
import { conversionsOf } from '../support/child-processes.js';
import { mutateAudio, type AudioSeed, type MutatedAudio } from '../support/mutate-audio.js';
import { startChecked } from '../support/recorded-answers.js';
import { recordingSeeds } from '../support/recordings.js';
import { builtMain } from './built-main.js';

/** What a child's address space is bounded by. */
const MOST_CHILD_BYTES = 768 * (1 << 20);

const FILES = Number(process.env['FILES'] ?? 2000);
const SEED = Number(process.env['SEED'] ?? 1);
const AT_ONCE = 4;
const MEBIBYTE = 1 << 20;
/** An allocator needs a while to reach its working set; from here on memory must not grow. */
const WARM_UP = 0.5;
const ALLOWED_GROWTH = 32 * MEBIBYTE;

const clip = join(__dirname, '..', 'fixtures', 'audio', 'samples', 'en-wav16.wav');
const fixtures = join(__dirname, '..', 'fixtures', 'audio');

function seeds(): AudioSeed[] {
  return ['samples', 'formats'].flatMap((folder) =>
    readdirSync(join(fixtures, folder))
      .filter((name) => /\.(wav|flac|mp3|ogg)$/.test(name))
      .map((name) => ({ name, bytes: readFileSync(join(fixtures, folder, name)) })),
  );
}

describe('spoiled audio files', function () {
  this.timeout(2 * 3_600_000);
  let server: VerbatimProcess;
  let directory: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-mutated-'));
    server = await startChecked({
      main: builtMain,
      env: { VERBATIM_DATA_DIR: directory, VERBATIM_CREDITS_PER_MINUTE: '0', VERBATIM_LOG_LEVEL: 'silent' },
    });
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function send({ name, bytes, recipe }: MutatedAudio): Promise<string> {
    const form = new FormData();
    form.append('audio', new Blob([new Uint8Array(bytes)]), name);
    const response = await fetch(`${server.url}/api/v1/transcribe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.keys[0]}` },
      body: form,
    });
    const body = (await response.json()) as { text?: string; error?: { code: ErrorCode } };
    if (response.status === 200) {
      expect(body.text, recipe).to.be.a('string');
      return '200';
    }
    const code = body.error?.code;
    expect(response.status, `${name}: ${recipe}: ${JSON.stringify(body)}`).to.be.within(400, 499);
    expect(code && ERROR_TABLE[code].status, recipe).to.equal(response.status);
    return String(code);
  }

  const uploadsLeft = (): string[] =>
    readdirSync(join(directory, 'uploads'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);

  it(`${FILES} files, seed ${SEED}`, () => sendAll(seeds()));

  it(`${FILES} recordings, seed ${SEED}`, async () => {
    const made = mkdtempSync(join(directory, 'made-'));
    const recordings = recordingSeeds(clip, made);
    rmSync(made, { recursive: true });
    let most = 0;
    const look = (): void => {
      const sizes = conversionsOf(server.pid).map(({ pid }) => addressSpaceBytes(pid));
      most = Math.max(most, ...sizes);
    };
    const watch = setInterval(look, 20);
    await sendAll(recordings);
    clearInterval(watch);
    process.stderr.write(`      most of a child: ${Math.round(most / MEBIBYTE)} MiB\n`);
    expect(most).to.be.within(1, MOST_CHILD_BYTES);
  });

  async function sendAll(originals: readonly AudioSeed[]): Promise<void> {
    const answers = new Map<string, number>();
    const residentMiB: number[] = [];
    const files = mutateAudio(originals, { count: FILES, seed: SEED });
    let done = 0;
    const worker = async (): Promise<void> => {
      for (const file of files) {
        const answer = await send(file);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        done += 1;
        if (done % 100 === 0) residentMiB.push(Math.round(residentBytes(server.pid) / MEBIBYTE));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));

    const report = JSON.stringify(Object.fromEntries(answers));
    process.stderr.write(`      answers ${report}; resident MiB every 100 files: ${residentMiB.join(' ')}\n`);
    expect(done).to.equal(FILES);
    expect(server.child.exitCode, 'the server died').to.equal(null);
    expect(uploadsLeft()).to.deep.equal([]);
    expect(conversionsOf(server.pid)).to.deep.equal([]);
    const settled = residentMiB.slice(Math.floor(residentMiB.length * WARM_UP));
    expect(Math.max(...settled) - (settled[0] ?? 0)).to.be.below(ALLOWED_GROWTH / MEBIBYTE);
  }
});

/** 0 once it is gone. */
function addressSpaceBytes(pid: number): number {
  try {
    return 1024 * Number(/^VmPeak:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
