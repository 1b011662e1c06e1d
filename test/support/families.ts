/** The families of speech models as a server has them, on the real addon. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importParakeet } from './parakeet-model.js';
import { sample } from './speech.js';

export interface ServedFamily {
  name: string;
  /** What `serve` takes it with; set before the tests begin. */
  environment: () => Record<string, string>;
  /** Path of a recording, and the language that its text is reported to be in. */
  spoken: { path: string; language: string };
}

interface Family {
  spoken: ServedFamily['spoken'];
  install: (directory: string) => Promise<Record<string, string>>;
}

const FINNISH = ['huomenna', 'sataa', 'vettä', 'luulen', 'että', 'kymmenen', 'minuuttia'];

// What its words are, whatever is recognised.
const PARAKEET = { path: sample('en-wav16.wav').path, language: 'fi' };

const FAMILIES: Readonly<Record<string, Family>> = {
  whisper: {
    spoken: { path: sample('es-vbr.mp3').path, language: 'es' },
    install: () => Promise.resolve({}),
  },
  parakeet: { spoken: PARAKEET, install: (directory) => importParakeet(directory, FINNISH) },
  'parakeet, computed by the engine itself': {
    spoken: PARAKEET,
    // Where the addon has oneDNN.
    install: async (directory) => ({
      ...(await importParakeet(directory, FINNISH)),
      VERBATIM_ACCEL: 'auto',
    }),
  },
};

/** Describes the same of each. */
export function describeEachFamily(title: string, describeOne: (family: ServedFamily) => void): void {
  for (const [name, { spoken, install }] of Object.entries(FAMILIES)) {
    describe(`${title} over ${name}`, () => {
      const directory = mkdtempSync(join(tmpdir(), 'verbatim-family-'));
      let env: Record<string, string> = {};
      before(async () => {
        // One slot each: what waits is counted.
        env = {
          ...{ VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1', VERBATIM_THREADS: '1', VERBATIM_ACCEL: 'off' },
          ...{ VERBATIM_SPEECH_DECODER: 'whisper.cpp' },
          ...(await install(directory)),
        };
      });
      after(() => rmSync(directory, { recursive: true, force: true }));
      describeOne({ name, environment: () => env, spoken });
    });
  }
}
