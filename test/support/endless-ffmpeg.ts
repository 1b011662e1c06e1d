/** In the place of ffmpeg: prints its version; of a conversion it writes the beginning, and never ends. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './requests.js';

const SCRIPT = `#!/bin/sh
for to; do :; done
[ "$to" != -version ] || { echo 'ffmpeg version endless'; exit; }
echo half > "\${to#file:}"
exec tail -f /dev/null
`;

/** How the command of its process begins. */
export const ENDLESS_COMMAND = 'tail -f';

/** How a WebM file begins. */
export const RECORDING_TO_CONVERT: Part = ['audio', Buffer.from('1a45dfa3010000000000001f', 'hex')];

export function writeEndlessFfmpeg(directory: string): string {
  const path = join(directory, 'endless-ffmpeg');
  writeFileSync(path, SCRIPT, { mode: 0o700 });
  return path;
}
