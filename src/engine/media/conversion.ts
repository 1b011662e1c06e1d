/** A file on its way through ffmpeg, in steps: the child runs during one, and stands still until the next. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { Clock } from '../clock.js';
import { confined, ENVIRONMENT, mostProcessorSeconds, type ConversionJob } from './confinement.js';
import { failureOfConversion, noSamples, tooCostly, type HowItEnded } from './failures.js';
import { DEMOTED, setPriority, USUAL, type Priority } from './priority.js';
import { CLIP_MS, ProcessorAllowance } from './processor-allowance.js';

/** A step's longest time: of most clips the whole conversion. */
const STEP_MS = 100;

/** Steps of one that gets hardly any of a processor, or does nothing with it. */
const GRACE_STEPS = 50;

/** Linux counts in hundredths of a second, whatever the kernel's own. */
const MS_PER_TICK = 10;

/** How much of its standard error is kept, from the end. The text of its progress is shorter: a line. */
const KEPT_CHARACTERS = 8192;
/** Of its standard error without a second of audio in between: each costs this process time as well. */
const MOST_CHARACTERS_WITHOUT_AUDIO = 2 ** 24;

/** Microseconds of audio written. */
const PROGRESS = /^out_time_us=(\d+)$/gm;

export class Conversion {
  /** Once no process of it is left. */
  readonly gone: Promise<void>;
  /** Of audio, so far. */
  measuredSeconds = 0;
  private readonly child: ChildProcessByStdio<null, Readable, Readable>;
  private ended: HowItEnded | null = null;
  private words = '';
  private refersElsewhere = false;
  private line = '';
  private steps = 0;
  private readonly allowance = new ProcessorAllowance();
  private charactersWithoutAudio = 0;
  private priority: Priority;
  private hasPriority: boolean;

  /** Starts. `ffmpeg`: a path, or a name in the directories where programs are. */
  constructor(
    ffmpeg: string,
    private readonly job: ConversionJob,
    private readonly clock: Clock,
    private readonly processorMs = processorMsOf,
  ) {
    const [program, ...args] = confined(ffmpeg, job);
    this.child = spawn(program, args, {
      cwd: '/',
      env: { ...ENVIRONMENT },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, which is stopped and killed as a whole, and which a terminal's interrupt does not reach.
      detached: true,
    });
    this.priority = job.isDemoted ? DEMOTED : USUAL;
    this.hasPriority = setPriority(this.child.pid, this.priority);
    this.child.stdout.setEncoding('latin1').on('data', (text: string) => this.readProgress(text));
    this.child.stderr.setEncoding('latin1').on('data', (text: string) => this.readErrorOutput(text));
    this.gone = new Promise((resolve) => {
      const end = (how: Pick<HowItEnded, 'error' | 'code' | 'signal'>): void => {
        const { words, refersElsewhere } = this;
        const hadItsTime = this.allowance.usedMs >= 1000 * mostProcessorSeconds(job);
        this.ended ??= { ...how, words, refersElsewhere, hadItsTime };
        resolve();
      };
      this.child.on('error', (error) => end({ error, code: null, signal: null }));
      this.child.on('close', (code, signal) => end({ error: null, code, signal }));
    });
  }

  /** What is written is all that costs the engine anything. */
  get measuredSamples(): number {
    return 0;
  }

  get isGraceOver(): boolean {
    return this.steps >= GRACE_STEPS || this.allowance.usedMs >= CLIP_MS;
  }

  get isCostly(): boolean {
    return this.allowance.isCostly;
  }

  /**
   * One step; resolves to the duration of the new file once it is whole. Rejects with EngineError, or as files are
   * written.
   */
  async measure(): Promise<number | null> {
    this.steps++;
    this.signal('SIGCONT');
    await Promise.race([this.gone, this.clock.sleep(STEP_MS)]);
    if (this.ended === null) {
      this.signal('SIGSTOP');
      this.checkAllowance();
      return null;
    }
    const failure = failureOfConversion(this.ended, this.job.container);
    if (failure !== null) throw failure;
    if (this.measuredSeconds === 0) throw noSamples(this.ended, this.job.container);
    return this.measuredSeconds;
  }

  private checkAllowance(): void {
    this.allowance.count(this.processorMs(this.child.pid), this.measuredSeconds);
    if (this.allowance.isUsedUp || this.charactersWithoutAudio > MOST_CHARACTERS_WITHOUT_AUDIO) {
      throw tooCostly(this.job.container);
    }
    if (this.isCostly && this.priority !== DEMOTED) {
      this.priority = DEMOTED;
      this.hasPriority = false;
    }
    if (!this.hasPriority) this.hasPriority = setPriority(this.child.pid, this.priority);
  }

  /** Kills it, whatever it does, and resolves when it is gone. */
  close(): Promise<void> {
    this.signal('SIGKILL');
    return this.gone;
  }

  private signal(name: 'SIGCONT' | 'SIGSTOP' | 'SIGKILL'): void {
    const { pid, exitCode, signalCode } = this.child;
    // One that has ended has given its number back.
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, constants.signals[name]);
  }

  private readProgress(text: string): void {
    const output = this.line + text;
    for (const [, microseconds] of output.matchAll(PROGRESS)) {
      const seconds = Number(microseconds) / 1e6;
      if (seconds > this.measuredSeconds) this.charactersWithoutAudio = 0;
      this.measuredSeconds = Math.max(this.measuredSeconds, seconds);
    }
    this.line = output.slice(output.lastIndexOf('\n') + 1).slice(-KEPT_CHARACTERS);
  }

  private readErrorOutput(text: string): void {
    this.charactersWithoutAudio += text.length;
    this.words = (this.words + text).slice(-KEPT_CHARACTERS);
    this.refersElsewhere ||= this.words.includes('Skipped opening external track');
  }
}

/** Of the process's own; 0 once it has ended. */
export function processorMsOf(pid = 0): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Fields 14 and 15, in user and in kernel mode; the name before them is in parentheses and may hold anything.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11)
      .map(Number);
    return ((user ?? 0) + (system ?? 0)) * MS_PER_TICK;
  } catch {
    return 0;
  }
}
