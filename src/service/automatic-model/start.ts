/** Decides whether a server looks for a published model, and starts the search. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../make-directory.js';
import { INSTALL_COMMAND } from '../../transcription/warnings.js';
import type { Timers } from '../../timers.js';
import { readChosenModel } from '../chosen-model.js';
import type { Config } from '../config.js';
import type { ServiceContext } from '../context.js';
import type { Logger } from '../log.js';
import type { ModelDownloads } from '../model-downloads.js';
import { hubEndpoint } from '../model-store.js';
import type { ServedEngines } from '../served-engines.js';
import { AutomaticModel } from './automatic-model.js';
import { reachHub } from './hub.js';
import { speedsOfMachine } from './measurement-process.js';
import { roomForModels } from './room-for-models.js';
import { checkWritable } from './writable-models.js';

export interface AutomaticModelOptions {
  /** The context as the server was started, without a model that was chosen later. */
  context: ServiceContext;
  engines: Pick<ServedEngines, 'speech' | 'models' | 'bringIn'>;
  modelStore: ModelDownloads;
  logger: Logger;
  timers: Timers;
  print: (line: string) => void;
}

/** This file in the data directory says that the database was created by a version that looks for a model. */
const MARK = 'automatic-model.json';

/** Called once, for an empty database. */
export function markNewDatabase({ dataDir }: Pick<Config, 'dataDir'>): void {
  makeDirectory(dataDir);
  writeFileSync(join(dataDir, MARK), `${JSON.stringify({ since: new Date().toISOString() })}\n`);
}

/** Whether a server looks for a model. Logs the reason if an old database is why it does not. */
export function wantsAutomaticModel(
  config: Config,
  { speech }: Pick<ServedEngines, 'speech'>,
  logger: Pick<Logger, 'info'>,
): boolean {
  if (config.model !== null || config.autoModel === false || !speech.info.isDemonstration) return false;
  if (readChosenModel(config.dataDir) !== null) return false;
  if (config.autoModel === true || existsSync(join(config.dataDir, MARK))) return true;
  logger.info(
    'no model is chosen automatically, because an older version made this database; ' +
      `VERBATIM_AUTO_MODEL=on allows it, and "${INSTALL_COMMAND}" downloads one`,
  );
  return false;
}

export function startAutomaticModel(options: AutomaticModelOptions): AutomaticModel {
  const { context, engines, modelStore, logger, timers, print } = options;
  const { config, roots, manifest } = context;
  return new AutomaticModel({
    reachHub: (signal) => reachHub(hubEndpoint(), signal),
    speeds: (signal) => speedsOfMachine(config, signal),
    fits: roomForModels(manifest, logger),
    store: modelStore,
    bringIn: (name, leastSpeed) => engines.bringIn(name, 'the automatic choice', leastSpeed),
    isWanted: () => engines.speech.info.isDemonstration && engines.models.state().change === null,
    checkWritable: () => checkWritable(roots.modelsDir),
    ...{ logger, print, timers },
  });
}
