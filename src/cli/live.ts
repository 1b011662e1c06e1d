/** `verbatim live`: text of speech while it is spoken, on this machine. */
import { Option, type Command } from 'commander';
import { DEFAULT_SETTINGS, type LiveFormat, type LiveSettings } from '../live/options.js';
import type { LiveSession } from '../live/session.js';
import { readContext, speechModelName, type ServiceContext } from '../service/context.js';
import { startLocalLive } from '../service/local-live.js';
import { UsageError } from '../service/variables.js';
import { warningsOf } from '../transcription/warnings.js';
import { untilInterrupted } from './interruption.js';
import { ResultPrinter } from './live-printer.js';
import { asLanguageCode, integerFrom } from './options.js';
import { deviceOf, microphoneSamples } from './recording.js';
import { STANDARD_INPUT } from './standard-input.js';
import { chooseModel } from './transcribe-model.js';
import { modelName } from './whisper-options.js';
import { FAILED } from './words.js';

interface Flags {
  device?: string;
  rate: number;
  encoding: LiveFormat['encoding'];
  language?: string;
  model?: string;
  translateTo?: string;
  diarize?: boolean;
  interim?: boolean;
  json?: boolean;
}

const ENCODINGS: readonly LiveFormat['encoding'][] = ['s16le', 'f32le', 'mulaw', 'alaw'];
const RECORDED: LiveFormat = { encoding: 's16le', sampleRate: 16_000, channels: 1 };

export function addLive(program: Command): void {
  program
    .command('live')
    .argument('[source]', '- is standard input: samples without a header, of one channel')
    .option('--device <name>', 'record with ffmpeg: pulse:NAME or alsa:NAME, such as pulse:default')
    .option('--rate <hz>', 'samples a second on standard input', integerFrom(8000, 48_000), RECORDED.sampleRate)
    .addOption(new Option('--encoding <name>', 'of those samples').choices(ENCODINGS).default(RECORDED.encoding))
    .option('--language <xx>', 'spoken language, as a code or an English name (default: detected)')
    .option('--model <name>', 'an installed speech model, or bundled (default: VERBATIM_MODEL)')
    .option('--translate-to <xx>', 'print a translation into this language, sentence by sentence')
    .option('--diarize', 'identify speakers')
    .option('--interim', 'show text while an utterance goes on: on a terminal, or with --json')
    .option('--json', 'print a line of JSON for each result')
    .description('transcribe speech on this machine while it is spoken, without a server; Ctrl-C ends it')
    .action(live);
}

async function live(source: string | undefined, flags: Flags, command: Command): Promise<void> {
  const format = formatOf(source, flags, command);
  const language = flags.language === undefined ? null : asLanguageCode('--language', flags.language);
  const translateTo = flags.translateTo === undefined ? null : asLanguageCode('--translate-to', flags.translateTo);
  const { config, ...models } = readContext();
  const model = flags.model === undefined ? config.model : speechModelName(modelName(flags.model), models.manifest);
  const context = { ...models, config: { ...config, model } };
  const isShown = process.stdout.isTTY || flags.json === true;
  const diarize = flags.diarize === true;
  const settings: LiveSettings = {
    ...{ ...DEFAULT_SETTINGS, language, translateTo, diarize },
    interim: flags.interim === true && isShown,
    words: diarize,
  };
  const failed = await untilInterrupted((signal) => transcribeLive({ format, settings, flags }, context, signal));
  if (failed > 0) process.exitCode = FAILED;
}

/** Throws UsageError if options conflict. */
function formatOf(source: string | undefined, { device, rate, encoding }: Flags, command: Command): LiveFormat {
  if (source !== undefined && source !== STANDARD_INPUT) {
    throw new UsageError(`"${source}" is no source; allowed: - for standard input. Files: verbatim transcribe.`);
  }
  if (device === undefined) {
    if (source === undefined) throw new UsageError('Name a source: - for standard input, or --device.');
    if (process.stdin.isTTY) throw new UsageError('Standard input is a terminal; send samples into it, or --device.');
    return { encoding, sampleRate: rate, channels: 1 };
  }
  if (source !== undefined) throw new UsageError('--device cannot be used with -.');
  deviceOf(device);
  for (const option of ['rate', 'encoding']) {
    if (command.getOptionValueSource(option) === 'cli') throw new UsageError(`--${option} is for standard input.`);
  }
  return RECORDED;
}

interface Order {
  format: LiveFormat;
  settings: LiveSettings;
  flags: Flags;
}

/** Resolves to the number of stretches whose text could not be had. */
async function transcribeLive(
  { format, settings, flags }: Order,
  context: ServiceContext,
  signal: AbortSignal,
): Promise<number> {
  const { context: chosen, isUnannounced } = await chooseModel(context, signal);
  const printer = new ResultPrinter({ json: flags.json === true, translates: settings.translateTo !== null });
  const local = await startLocalLive(chosen, { format, settings, emit: (event) => printer.print(event) });
  try {
    const { session, info } = local;
    await feed(inputOf(flags, chosen, signal), session, signal);
    session.finish();
    const end = await session.ended;
    if (end.how === 'refused') throw end.error;
    const [warning] = warningsOf({ text: printer.hasText ? 'text' : '', unsureWindows: 0 }, info);
    if (isUnannounced && warning !== undefined && !signal.aborted) console.error(warning.message);
    return printer.failed;
  } finally {
    await local.close();
  }
}

function inputOf({ device }: Flags, { config }: ServiceContext, signal: AbortSignal): AsyncIterable<Buffer> {
  return device === undefined ? process.stdin : microphoneSamples(deviceOf(device), config.ffmpeg, signal);
}

/** After an abort, what was received before is still transcribed. */
async function feed(input: AsyncIterable<Buffer>, session: LiveSession, signal: AbortSignal): Promise<void> {
  const pieces = input[Symbol.asyncIterator]();
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  for (;;) {
    const next = await Promise.race([pieces.next(), aborted]);
    if (next === null || next.done === true) return;
    await session.append(next.value);
  }
}
