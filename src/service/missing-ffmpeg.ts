import { CONTAINER_NAMES } from '../engine/media/containers.js';

/** What does not work without ffmpeg, in a sentence without its full stop. `ffmpeg`: as the setting names it. */
export function missingFfmpegText(ffmpeg: string): string {
  return `"${ffmpeg}" cannot be run with prlimit and setpriv of util-linux: ${CONTAINER_NAMES} files are refused`;
}
