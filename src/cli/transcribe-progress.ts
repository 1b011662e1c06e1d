/** The progress of the files of `verbatim transcribe`: a line on a terminal, nothing elsewhere. */
import { MultiBar } from 'cli-progress';
import { progressLine, summaryText, timeLeft, widthOf, type ProgressParts } from './progress-line.js';

export interface FileSize {
  path: string;
  /** Weighs the file in the estimate of the time left until its duration is known. */
  bytes: number;
}

interface FileProgress {
  bytes: number;
  seconds: number | null;
  doneSeconds: number;
  isDone: boolean;
}

export class TranscribeProgress {
  private readonly files: Map<string, FileProgress>;
  private readonly bars: MultiBar | null;
  private readonly update: () => void;
  private readonly startedAt: number;

  /** `now`: milliseconds. */
  constructor(
    sizes: readonly FileSize[],
    private readonly stream: NodeJS.WriteStream = process.stderr,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
    this.files = new Map(
      sizes.map(({ path, bytes }) => [path, { bytes, seconds: null, doneSeconds: 0, isDone: false }]),
    );
    this.bars = stream.isTTY
      ? new MultiBar({
          format: (_options, _params, parts: ProgressParts) => progressLine(parts, widthOf(stream)),
          ...{ stream, clearOnComplete: true, hideCursor: true, gracefulExit: false },
        })
      : null;
    const bar = this.bars?.create(1, 0, this.parts());
    this.update = () => bar?.update(this.fraction(), this.parts());
  }

  measured(path: string, seconds: number): void {
    this.change(path, (file) => (file.seconds = seconds));
  }

  transcribed(path: string, seconds: number): void {
    this.change(path, (file) => (file.doneSeconds = seconds));
  }

  /** Called for successes and failures. */
  done(path: string): void {
    this.change(path, (file) => (file.isDone = true));
  }

  /** Prints a line above the bar. */
  say(line: string): void {
    if (this.bars === null) this.stream.write(`${line}\n`);
    else this.bars.log(`${line}\n`);
  }

  stop(): void {
    if (this.bars === null) return;
    // Writes the last line that was logged.
    this.bars.update();
    this.bars.stop();
  }

  /** Prints the summary on a terminal, after stop(). `writtenTo`: null means standard output. */
  summarize(failed: number, writtenTo: string | null): void {
    if (this.bars === null) return;
    const totals = { files: this.files.size, failed, ...this.soFar() };
    this.stream.write(`${summaryText(totals, writtenTo)}\n`);
  }

  private change(path: string, change: (file: FileProgress) => void): void {
    const file = this.files.get(path);
    if (file !== undefined) change(file);
    this.update();
  }

  private fraction(): number {
    let done = 0;
    let all = 0;
    for (const file of this.files.values()) {
      done += file.bytes * fractionOf(file);
      all += file.bytes;
    }
    return all === 0 ? 1 : done / all;
  }

  private soFar(): { audioSeconds: number; elapsedSeconds: number } {
    const audioSeconds = [...this.files.values()].reduce((sum, { doneSeconds }) => sum + doneSeconds, 0);
    return { audioSeconds, elapsedSeconds: (this.now() - this.startedAt) / 1000 };
  }

  private parts(): ProgressParts {
    const files = [...this.files.values()];
    const { audioSeconds, elapsedSeconds } = this.soFar();
    const fraction = this.fraction();
    const speed = elapsedSeconds > 0 ? audioSeconds / elapsedSeconds : 0;
    const parts = [
      `${files.filter(({ isDone }) => isDone).length}/${files.length} files`,
      `${(audioSeconds / 60).toFixed(1)} min of audio`,
      `${speed.toFixed(1)} x real time`,
    ];
    return { fraction, parts, left: timeLeft(fraction, elapsedSeconds) };
  }
}

function fractionOf({ isDone, seconds, doneSeconds }: FileProgress): number {
  if (isDone) return 1;
  return seconds === null || seconds === 0 ? 0 : Math.min(1, doneSeconds / seconds);
}
