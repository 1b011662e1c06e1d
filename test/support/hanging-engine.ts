/** The engine's process as it is shipped, but for files at which a native call never comes back. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { loadBinding, type NativeBinding } from '../../src/engine/binding.js';
import { serveEngine } from '../../src/engine/remote/serve-engine.js';
import { loadEngines, type EngineSettings } from '../../src/service/engines.js';
import { hangPath, type Hang } from './hangs.js';

serveEngine((settings, { observer, watch }) => {
  const binding = loadBinding();
  const hanging: NativeBinding = Object.assign(Object.create(binding) as NativeBinding, {
    openAudio: async (...given: Parameters<NativeBinding['openAudio']>) => {
      await hangAt(given[0]);
      return binding.openAudio(...given);
    },
  });
  return loadEngines(settings as EngineSettings, { observer, binding: watch.watch(hanging) });
});

async function hangAt(path: string): Promise<void> {
  const reported = hangPath(path);
  if (!existsSync(reported)) return;
  const { where, fifo, once } = JSON.parse(readFileSync(reported, 'utf8')) as Hang;
  if (once) rmSync(reported);
  // The whole process: nothing wakes it.
  if (where === 'loop') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  // A thread of libuv's pool, in open(2): nobody writes to it.
  else await open(fifo);
}
