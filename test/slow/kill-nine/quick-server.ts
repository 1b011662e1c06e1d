/** `quick-server.ts DATABASE SECRET UPLOADS`: the service as it is, but for its engine. */
import { createLedger } from '../../../src/ledger/sqlite/ledger.js';
import { loadBinding } from '../../../src/engine/binding.js';
import { openingWith } from '../../../src/service/live-audio.js';
import { createLogger } from '../../../src/service/log.js';
import { Metrics } from '../../../src/http/monitoring/metrics.js';
import { packageRoot } from '../../../src/package-root.js';
import { readConfig } from '../../../src/service/config.js';
import { fixedModel } from '../../support/fixed-model.js';
import { startServer } from '../../../src/service/server.js';
import { serverSettings } from '../../../src/service/server-settings.js';
import { systemTimers } from '../../../src/timers.js';
import { fixedEngines } from '../../../src/transcription/engine-lease.js';
import { QuickEngine } from './quick-engine.js';

/** Enough for the load; and its messages are received on this machine. */
const SETTINGS = {
  VERBATIM_MAX_IN_FLIGHT: '1000',
  VERBATIM_MAX_OPEN_JOBS: '100000',
  VERBATIM_WEBHOOK_ALLOW: '127.0.0.1',
};

const [path = '', secret = '', uploadBase = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const ledger = createLedger({ path, secret });
  const engine = new QuickEngine();
  const server = await startServer({
    ...{
      host: '127.0.0.1',
      port: 0,
      version: 'test',
      uploadBase,
      jobsDirectory: `${uploadBase}-jobs`,
      libraryDirectory: `${uploadBase}-library`,
      ledger,
    },
    engine,
    acquire: fixedEngines(engine, undefined),
    backlog: engine.backlog,
    models: fixedModel(engine.info.modelName),
    modelStore: { list: () => [], download: () => undefined, cancel: () => false },
    settingsInForce: () => [],
    diarizer: { unavailable: 'No speaker models.' },
    openLiveAudio: openingWith(loadBinding(), null).open,
    ffmpeg: 'ffmpeg',
    logger: createLogger({ level: 'error' }),
    metrics: new Metrics(),
    timers: systemTimers,
    clock: Date.now,
    settings: serverSettings(readConfig(SETTINGS, packageRoot)),
  });
  process.stdout.write(`recovered ${JSON.stringify(ledger.recovery)}\nlistening on ${server.url}\n`);
}

void main();
