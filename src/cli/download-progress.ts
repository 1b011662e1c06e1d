/** The progress of a download: a line on a terminal, nothing elsewhere. */
import { SingleBar } from 'cli-progress';
import { basename } from 'node:path';
import { progressLine, timeLeft, widthOf, type ProgressParts } from './progress-line.js';
import { megabytes } from './sizes.js';

interface FileDownload {
  file: string;
  /** Bytes that were already here when the download began. */
  begunAtBytes: number;
  begunAtMs: number;
}

export class DownloadProgress {
  readonly #bar: SingleBar | null;
  #current: FileDownload | null = null;

  /** `now`: milliseconds. */
  constructor(
    stream: NodeJS.WriteStream = process.stderr,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#bar = stream.isTTY
      ? new SingleBar({
          format: (_options, _params, parts: ProgressParts) => progressLine(parts, widthOf(stream)),
          ...{ stream, clearOnComplete: true, hideCursor: true, gracefulExit: false },
        })
      : null;
  }

  /** `totalBytes`: null if unknown. */
  received(file: string, bytes: number, totalBytes: number | null): void {
    const isBegun = this.#current?.file === file;
    const download =
      this.#current?.file === file ? this.#current : { file, begunAtBytes: bytes, begunAtMs: this.now() };
    this.#current = download;
    const parts = partsOf(download, bytes, totalBytes, this.now());
    if (isBegun) this.#bar?.update(bytes, parts);
    else this.#bar?.start(totalBytes ?? bytes, bytes, parts);
  }

  stop(): void {
    if (this.#bar === null || this.#current === null) return;
    this.#bar.stop();
  }
}

function partsOf(
  { file, begunAtBytes, begunAtMs }: FileDownload,
  bytes: number,
  totalBytes: number | null,
  now: number,
): ProgressParts {
  const elapsedSeconds = (now - begunAtMs) / 1000;
  const received = bytes - begunAtBytes;
  const speed = elapsedSeconds > 0 ? [`${(received / 1e6 / elapsedSeconds).toFixed(1)} MB/s`] : [];
  const ofTotal = totalBytes === null ? '' : ` of ${megabytes(totalBytes)}`;
  const ofRest = totalBytes === null ? 0 : received / Math.max(1, totalBytes - begunAtBytes);
  return {
    fraction: totalBytes === null ? 0 : bytes / totalBytes,
    parts: [basename(file), `${megabytes(bytes)}${ofTotal}`, ...speed],
    left: timeLeft(ofRest, elapsedSeconds),
  };
}
