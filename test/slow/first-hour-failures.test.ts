/**
 * What a new installation does where its model does not come: the hub stops midway or was never there, the disk is
 * full, or the file is another one. Each test prints what the server said. As root.
 */
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { IMPORTED_FILE } from '../../src/models/read-manifest.js';
import { NewInstallation, type NewInstallationOptions } from './first-hour/new-installation.js';
import { PublishedHub } from './first-hour/published-hub.js';

const BASE = 'base-q8_0';
const MIB = 2 ** 20;
/** What has come when something goes wrong; a little of it may not be on the disk yet. */
const HALF = 40 * MIB;
const ON_THE_WAY = MIB;
/** Nothing is measured: the machine carries base, and nothing larger. */
const SPEEDS = { [BASE]: 20, 'small-q8_0': 1 };

/** The models have a small disk of their own, which only the server sees. */
const DISK_MIB = 200;
const FILLER = 'filler';
const DISK =
  `cp "$0/${IMPORTED_FILE}" "$0.json" && mount -t tmpfs -o size=${DISK_MIB}m tmpfs "$0" && ` +
  `mv "$0.json" "$0/${IMPORTED_FILE}" && fallocate -l "$1" "$0/${FILLER}" && shift && exec "$@"`;

describe('A new installation whose model does not come', () => {
  let hub: PublishedHub;
  let installation: NewInstallation;

  before(async () => {
    hub = await PublishedHub.start([BASE]);
  });
  beforeEach(() => {
    hub.starts.length = 0;
  });
  afterEach(async () => {
    hub.isSpoilt = false;
    hub.release();
    await hub.startAgain();
    await installation.stop();
  });
  after(() => hub.close());

  function start(options: NewInstallationOptions = {}): void {
    installation = new NewInstallation(hub, { speeds: SPEEDS, ...options });
  }

  /** As the server sees it. */
  const inModels = (name: string): string => installation.seen(join(installation.modelsDir, name));
  const file = (): string => inModels(`ggml-${BASE}.bin`);
  const part = (): string => `${file()}.part`;
  /** Bytes at which an answer with the file began. */
  const starts = (): number[] => hub.starts.map(({ byte }) => byte);
  /** What an operator is warned of. */
  const problems = (): string[] => installation.logged('tries again every hour').map(({ msg }) => msg);

  async function expectWaiting(problem: RegExp): Promise<void> {
    await installation.phase('waiting');
    expect((await installation.readiness()).next_model?.problem).to.match(problem);
    await installation.expectDemonstration();
  }

  async function hoursPass(hours: number): Promise<void> {
    for (let hour = 1; hour <= hours; hour += 1) await installation.hourPasses();
  }

  async function serveAfterAnHour(): Promise<void> {
    await installation.hourPasses();
    await installation.serves(BASE);
  }

  async function stopHubMidway(): Promise<void> {
    hub.holdAt(HALF);
    start();
    await installation.receives(HALF);
    await hub.stop();
    hub.release();
  }

  it('resumes when the hub stops midway and starts again', async () => {
    await stopHubMidway();
    await pause(3000);
    await hub.startAgain();
    await installation.serves(BASE);
    expect(starts()).to.have.length(2);
    expect(starts()[1]).to.be.within(HALF - ON_THE_WAY, HALF);
    expect(problems()).to.deep.equal([]);
  });

  it('resumes at an hour in which the hub is back, and says once what is wrong', async () => {
    await stopHubMidway();
    await expectWaiting(/cannot be reached/);
    const { size } = statSync(part());
    expect(size).to.be.within(HALF - ON_THE_WAY, HALF);
    // From now on it is the hub itself that does not answer.
    await hoursPass(3);
    expect(problems()).to.have.length(2);
    await hub.startAgain();
    await serveAfterAnHour();
    expect(starts()).to.deep.equal([0, size]);
  });

  describe('for want of space', () => {
    const startOnDisk = (filledMiB: number): void =>
      start({
        within: (modelsDir) => [
          ...['unshare', '--mount', '--propagation', 'private'],
          ...['sh', '-c', DISK, modelsDir, String(filledMiB * MIB)],
        ],
      });

    it('says how much there is and how much is needed, once, and fetches it when there is space', async () => {
      startOnDisk(150);
      await expectWaiting(/ has 50 MiB free, but 143 MiB are needed/);
      await hoursPass(2);
      expect(problems()).to.have.length(1);
      expect(existsSync(part())).to.equal(false);
      rmSync(inModels(FILLER));
      await serveAfterAnHour();
    });

    it('keeps what it has where the disk fills up midway', async () => {
      hub.holdAt(HALF);
      startOnDisk(1);
      await installation.receives(HALF);
      expect(() => writeFileSync(inModels('others'), Buffer.alloc(DISK_MIB * MIB))).to.throw('ENOSPC');
      hub.release();
      await expectWaiting(/ has 0 MiB free/);
      expect(problems()).to.have.length(1);
      rmSync(inModels('others'));
      await serveAfterAnHour();
      expect(starts().at(-1)).to.be.at.least(HALF - ON_THE_WAY);
    });
  });

  it('says once that there is no network, with both ways out', async () => {
    start({
      environment: { HF_ENDPOINT: '', http_proxy: '', https_proxy: '', HTTP_PROXY: '', HTTPS_PROXY: '' },
      within: () => ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$0" "$@"'],
    });
    await expectWaiting(/huggingface\.co cannot be reached/);
    await hoursPass(3);
    const lines = installation.outputLines.filter((line) => line.includes('cannot be reached'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain('models import').and.contain('HF_ENDPOINT');
    expect(installation.served.stdout).not.to.contain('Fetching').and.not.contain('cannot be reached');
  });

  it('serves no file that is not the publisher’s, and fetches it anew an hour later', async () => {
    hub.isSpoilt = true;
    start();
    await expectWaiting(/ has sha1 [0-9a-f]{40} instead of [0-9a-f]{40}/);
    await hoursPass(1);
    expect(problems()).to.have.length(1);
    for (const path of [file(), part()]) expect(existsSync(path)).to.equal(false);
    hub.isSpoilt = false;
    await serveAfterAnHour();
    expect(starts()).to.deep.equal([0, 0, 0]);
  });
});
