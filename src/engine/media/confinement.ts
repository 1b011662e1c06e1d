/**
 * How ffmpeg is run: on one file, with the demuxer for its content and with audio decoders alone, without network, and
 * within limits. prlimit sets the limits, and setpriv has ffmpeg killed together with the thread that started it.
 */
import type { Container } from './containers.js';
import { allowedMs } from './processor-allowance.js';

export interface ConversionJob {
  from: string;
  /** Overwritten. */
  to: string;
  container: Container;
  /** Audio behind this is left out. */
  maxSeconds: number;
  /** Whether it gets only what others leave of the processor: Linux's class SCHED_IDLE. */
  isDemoted: boolean;
}

/**
 * What can be a recording's or a video's sound. No decoder of pictures or subtitles, which are the most often broken
 * ones.
 */
const DECODERS = [
  ...['aac', 'alac', 'ac3', 'eac3', 'flac', 'opus', 'vorbis', 'mp2', 'mp2float', 'mp3', 'mp3float'],
  ...['amrnb', 'amrwb', 'wmav1', 'wmav2', 'wmapro', 'wmalossless', 'wmavoice'],
  ...['adpcm_ima_qt', 'adpcm_ima_wav', 'adpcm_ms', 'gsm', 'gsm_ms'],
  ...['pcm_u8', 'pcm_s8', 'pcm_alaw', 'pcm_mulaw'],
  ...['s16', 's24', 's32', 'f32', 'f64'].flatMap((kind) => [`pcm_${kind}le`, `pcm_${kind}be`]),
];

/** As the engine resamples everything to. */
const SAMPLE_RATE = 16_000;

/** 24 bits, and what FLAC puts around samples that it cannot make smaller. */
const MOST_BYTES_PER_SECOND = SAMPLE_RATE * 3 * 1.02;

/** Of the address space: ffmpeg maps some 350 MiB of libraries, and a pause of LONGEST_PAUSE_SECONDS takes 150 MiB. */
const ADDRESS_SPACE_BYTES = 768 << 20;

/** Between SIGXCPU and SIGKILL. */
const GRACE_SECONDS = 5;

const OPEN_FILES = 64;

/** A track's clock that jumps further is taken to be wrong, and what is around it to follow on. */
const LONGEST_PAUSE_SECONDS = 600;

/** The same of a live stream, whose silence is charged as it comes. */
const LONGEST_LIVE_PAUSE_SECONDS = 60;

/** Of audio that is not bounded: longer than any client waits. */
const LONGEST_SECONDS = 1_000_000;

/**
 * Nothing of the service's own environment: no secret, and none of the variables that ffmpeg reads. One thread of
 * OpenBLAS, which Debian's ffmpeg is linked with and nothing here uses, for it takes memory for every core.
 */
export const ENVIRONMENT = Object.freeze({
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C',
  MALLOC_ARENA_MAX: '1',
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
});

/** The program to start, and its arguments. */
export function confined(ffmpeg: string, job: ConversionJob): readonly [string, ...string[]] {
  const idle = job.isDemoted ? ['chrt', '--idle', '0'] : [];
  return [...limits(job), ...idle, ffmpeg, ...conversion(job)];
}

/** Of a stream that arrives at its standard input; samples leave by its standard output. */
export interface LiveJob {
  container: Container;
  /** Audio behind this is left out. */
  maxSeconds: number;
}

/** As confined(), for a stream: it opens and writes no file at all. */
export function confinedLive(ffmpeg: string, job: LiveJob): readonly [string, ...string[]] {
  return [...limits({ ...job, fileBytes: 0 }), ffmpeg, ...liveConversion(job)];
}

/**
 * The number of processes is not limited. Linux counts all processes of the user on the machine, and a full count would
 * refuse ffmpeg its own thread. ffmpeg's process group is killed as a whole.
 */
export function limits({ maxSeconds, fileBytes = bytesOf(maxSeconds) }: Limits): readonly [string, ...string[]] {
  const processor = mostProcessorSeconds({ maxSeconds });
  return [
    ...(['setpriv', '--pdeathsig', 'KILL', '--no-new-privs'] as const),
    ...['prlimit', `--cpu=${processor}:${processor + GRACE_SECONDS}`, `--as=${ADDRESS_SPACE_BYTES}`],
    ...[`--fsize=${fileBytes}`, `--nofile=${OPEN_FILES}`, '--core=0', '--'],
  ];
}

interface Limits extends Pick<ConversionJob, 'maxSeconds'> {
  /** Of every file that it writes; default: what so much audio takes. */
  fileBytes?: number;
}

function bytesOf(maxSeconds: number): number {
  return Math.ceil((Math.min(maxSeconds, LONGEST_SECONDS) + 2) * MOST_BYTES_PER_SECOND) + (1 << 20);
}

/** Processor time after which the kernel signals ffmpeg to end. GRACE_SECONDS later it kills ffmpeg. */
export function mostProcessorSeconds({ maxSeconds }: Pick<ConversionJob, 'maxSeconds'>): number {
  return Math.ceil(allowedMs(Math.min(maxSeconds, LONGEST_SECONDS)) / 1000);
}

function conversion({ from, to, container, maxSeconds }: ConversionJob): string[] {
  const { demuxer, options } = container;
  const seconds = Math.min(maxSeconds, LONGEST_SECONDS) + 1;
  return [
    ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'warning'],
    ...['-progress', 'pipe:1', '-stats_period', '0.1'],
    ...['-protocol_whitelist', 'file', '-format_whitelist', demuxer, '-codec_whitelist', DECODERS.join()],
    ...['-f', demuxer, ...options, '-threads', '1', '-i', `file:${from}`],
    ...['-map', '0:a:0', '-map_metadata', '-1', '-map_chapters', '-1', '-t', String(seconds)],
    ...['-filter:a', filters(LONGEST_PAUSE_SECONDS), '-c:a', 'flac', '-sample_fmt', 's32', '-compression_level', '1'],
    ...['-f', 'flac', '-y', `file:${to}`],
  ];
}

/**
 * 16 kHz mono, as the engine reads audio: an hour of stereo video in FLAC takes a gigabyte, and this a tenth. In 24
 * bits, since decoders give more than 16, which a quiet recording needs. All channels count the same, as where the
 * engine reads a file itself; a recording of eight microphones has one labelled as the subwoofer.
 *
 * Gaps in the track's clock become silence, so that times are the file's. Where the clock stands still or goes back, as
 * in two recordings put into one file, nothing is dropped.
 */
function filters(longestPauseSeconds: number): string {
  return [
    'aresample=center_mix_level=0.5:surround_mix_level=1:lfe_mix_level=0.70710678:rematrix_maxval=1',
    `aformat=sample_rates=${SAMPLE_RATE}:channel_layouts=mono`,
    `asetpts='st(1,if(gt(PTS-ld(0),${longestPauseSeconds}/TB),ld(0),max(PTS,ld(0))));` +
      "st(0,ld(1)+NB_SAMPLES/(SR*TB));ld(1)'",
    'aresample=async=1:first_pts=0',
  ].join();
}

/** Nothing is looked ahead for or kept back: samples leave as soon as their bytes are here. */
function liveConversion({ container: { demuxer, options }, maxSeconds }: LiveJob): string[] {
  const seconds = Math.min(maxSeconds, LONGEST_SECONDS) + 1;
  return [
    ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'error'],
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', demuxer, '-codec_whitelist', DECODERS.join()],
    ...['-fflags', 'nobuffer', '-flags', 'low_delay', '-probesize', '32', '-analyzeduration', '0'],
    ...['-f', demuxer, ...options, '-threads', '1', '-i', 'pipe:0'],
    ...['-map', '0:a:0', '-map_metadata', '-1', '-map_chapters', '-1', '-t', String(seconds)],
    ...['-filter:a', filters(LONGEST_LIVE_PAUSE_SECONDS), '-c:a', 'pcm_s16le'],
    ...['-flush_packets', '1', '-f', 's16le', 'pipe:1'],
  ];
}
