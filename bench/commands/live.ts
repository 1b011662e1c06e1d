import { Option, type Command } from 'commander';
import { VerbatimClient } from '../../src/client/index.js';
import { loadBinding } from '../../src/engine/binding.js';
import { integerFrom } from '../../src/cli/options.js';
import { UsageError } from '../../src/service/variables.js';
import { BESIDE, type Beside, type OtherWork } from '../live/beside.js';
import { PROTOCOLS, type ProtocolName } from '../live/protocols.js';
import { sampleReader, trackOf, type Track } from '../live/track.js';
import { liveWords } from '../live/words.js';
import { languageFor, readSpokenClips, type Clip } from '../load/clips.js';
import { repeatedWav } from '../load/fairness.js';
import { readUpload, verbatimTarget, type Upload } from '../load/http-target.js';
import { seededRandom, shuffled, type Random } from '../load/random.js';
import { identifyModel, type ModelIdentity } from '../reports/environment.js';
import { PLAIN_WAV } from '../reports/fairness-report.js';
import { liveTables, type MeasuredCell } from '../reports/live-report.js';
import type { BenchParts } from './parts.js';
import { modelNamed, serving } from './bench-models.js';
import { integerList } from './lists.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  clipsOption,
  languageOption,
  modelOption,
  progress,
  publish,
  roundsOption,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  url?: string;
  key?: string;
  model?: string;
  clips: string;
  language: string;
  protocol: ProtocolName;
  sessions: number[];
  seconds: number;
  silence: number;
  interim: boolean;
  beside?: Beside;
  fileSeconds: number;
  rounds: number;
  seed: number;
}

/** Beside the silence that ends an utterance. */
const GAP_SECONDS = 0.7;
/** Of accounts, where the command starts the server. */
const UNLIMITED = '100000';

export function addBenchLive(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('live')
    .description('live sessions that all speak, at the speed of speech: lag of results, words, memory, processor time')
    .option('--url <url>', 'a running server (default: one is started)')
    .option('--key <keys>', 'its API keys by comma; credits are used')
    .addOption(modelOption())
    .addOption(clipsOption())
    .addOption(languageOption('given'))
    .addOption(new Option('--protocol <name>', 'of OpenAI or of Deepgram').choices(PROTOCOLS).default('deepgram'))
    .option('--sessions <list>', 'at once, one number after the other', integerList(10_000), [1, 16])
    .option('--seconds <n>', 'of audio of each session', integerFrom(1), 60)
    .option('--silence <ms>', 'that ends an utterance', integerFrom(300, 60_000), 500)
    .option('--no-interim', 'no results while an utterance goes on')
    .addOption(
      new Option('--beside <what>', 'another account meanwhile sends clips one by one, or a long file').choices(BESIDE),
    )
    .option('--file-seconds <n>', 'length of the long file, a recording repeated', integerFrom(1), 7200)
    .option('--seed <n>', 'of the order of the recordings', integerFrom(0), 1);
  addOutputOptions(command.addOption(roundsOption(1))).action((options: Options) => benchLive(options, parts));
}

interface Served {
  url: string;
  keys: readonly string[];
  pid: number | null;
  models: ModelIdentity[];
  stop: () => Promise<void>;
}

async function benchLive(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const clips = clipsFor(options.clips);
  const server = await serverFor(options, context, parts);
  try {
    const cells = await measureCells(options, server, clips, parts);
    const { protocol, language, seconds, silence, interim, rounds, seed, url = null, beside = null } = options;
    publish(
      {
        name: 'live',
        title: 'Live sessions that all speak',
        environment: context.environment,
        models: server.models,
        settings: {
          ...{ url, protocol, clips: clips.length, language, seconds, 'silence ms': silence },
          ...{ interim: String(interim), seed, beside },
        },
        warmUp: 'the first recording, in one piece',
        runs: rounds,
        tables: liveTables(cells),
        charts: [],
        notes: NOTES,
        measurements: cells.map(({ rounds: measured, ...cell }) => ({ ...cell, rounds: measured.map(withoutText) })),
      },
      options,
    );
  } finally {
    await server.stop();
  }
}

const NOTES = [
  'Lag of a final result: after the piece of 100 ms was sent in which the silence that ends the utterance is complete, ' +
    'by the end that the server reports.',
  'Covered, committed: of every 100 ms of speech, from its sending to the first result, and the first final result, ' +
    "whose range holds it. OpenAI's protocol has no ranges.",
  'Fed late: the program that measures sent a piece so much later than planned. Where this is high, so are the lags.',
  'Contradicted: a final range that begins before the last one ended, or deltas that are not the transcript.',
  'Words: sessions beside the same recordings in one piece over HTTP, and both beside the reference where there is one.',
  'Beside a file: another account has a long file transcribed meanwhile; each round measures the same without it before. ' +
    'Beside clips: another account sends one clip after the other, before the sessions and while they run.',
  'Memory a session: the most while the sessions ran, less the memory before, by sessions.',
];

function clipsFor(path: string): Clip[] {
  const clips = clipsOf(path);
  try {
    return readSpokenClips(path);
  } catch {
    return clips;
  }
}

async function serverFor(
  options: Options,
  context: ReturnType<typeof benchContext>,
  { startVerbatim }: BenchParts,
): Promise<Served> {
  const { url, key, model: name } = options;
  if (url !== undefined) {
    if (key === undefined) throw new UsageError('--url needs --key.');
    if (name !== undefined) throw new UsageError('--model is for a server that the command starts.');
    return { url, keys: key.split(','), pid: null, models: [], stop: () => Promise.resolve() };
  }
  if (key !== undefined) throw new UsageError('--key needs --url.');
  const model = await modelNamed(context, name);
  const started = serving(model, context.config);
  const env = { ...started.env, VERBATIM_MAX_LIVE_SESSIONS: UNLIMITED };
  const server = await startVerbatim({ ...started, env });
  const { keys, pid, url: own } = server;
  return { url: own, keys, pid, models: [await identifyModel(model.name, model.path)], stop: () => server.stop() };
}

async function measureCells(
  options: Options,
  server: Served,
  clips: readonly Clip[],
  { measureLive }: BenchParts,
): Promise<MeasuredCell[]> {
  const { protocol, sessions, silence, interim, rounds, seed } = options;
  const texts = new PieceTexts(server, options.language);
  await texts.add(clips.slice(0, 1));
  // With a file, each number of sessions is measured without it, too.
  const loads = options.beside === 'file' ? [null, 'file' as const] : [options.beside ?? null];
  const cells: MeasuredCell[] = sessions.flatMap((count) => {
    return loads.map((beside) => ({ sessions: count, beside, rounds: [] }));
  });
  const random = seededRandom(seed);
  const samplesOf = sampleReader(loadBinding());
  try {
    for (let round = 0; round < rounds; round++) {
      for (const cell of cells) {
        const beside = cell.beside === null ? '' : ` beside ${cell.beside}`;
        progress(`round ${round + 1} of ${rounds}: ${cell.sessions} sessions${beside}`);
        const tracks: (Track & { language: string })[] = [];
        for (const [index, clipsOfOne] of spoken(clips, cell.sessions, options, random).entries()) {
          const track = await trackOf(clipsOfOne.clips, samplesOf, {
            // Sessions of different lengths, so that their pauses do not fall together.
            seconds: options.seconds + (index % 3),
            gapSeconds: GAP_SECONDS + silence / 1000,
          });
          tracks.push({ ...track, language: clipsOfOne.language });
        }
        const { url, keys, pid } = server;
        const other = otherWork(cell.beside, { server, clip: clips[0], fileSeconds: options.fileSeconds });
        const run = await measureLive({
          ...{ url, pid, protocol, tracks, other, choices: { silenceMs: silence, interim } },
          // The last account is the other one, where there are two.
          keys: other === null || keys.length === 1 ? keys : keys.slice(0, -1),
        });
        await texts.add(tracks.flatMap((track) => track.clips));
        const pairs = run.sessions.flatMap((session, index) => {
          const track = tracks[index];
          return session === null || track === undefined ? [] : [{ session, track }];
        });
        cell.rounds.push({ run, words: liveWords(pairs, texts.byPath) });
      }
    }
  } finally {
    await texts.close();
  }
  return cells;
}

function otherWork(
  kind: Beside | null,
  { server, clip, fileSeconds }: { server: Served; clip: Clip | undefined; fileSeconds: number },
): OtherWork | null {
  if (kind === null || clip === undefined) return null;
  const { url, keys } = server;
  const upload = (): Upload => readUpload(clip.path, 0, clip.language ?? 'auto');
  return {
    ...{ kind, target: verbatimTarget(url, keys), account: keys.length - 1 },
    upload: kind === 'clips' ? upload() : repeatedWav(PLAIN_WAV, fileSeconds, 'auto'),
  };
}

/** The clips of each session, which speaks one language; in a random order. */
function spoken(
  clips: readonly Clip[],
  sessions: number,
  { language: wanted }: Options,
  random: Random,
): { language: string; clips: Clip[] }[] {
  const languages = [...new Set(clips.map((clip) => languageFor(clip, wanted)))];
  return Array.from({ length: sessions }, (_, index) => {
    const language = languages[index % languages.length] ?? 'auto';
    return {
      language,
      clips: shuffled(
        random,
        clips.filter((clip) => languageFor(clip, wanted) === language),
      ),
    };
  });
}

/** Texts of recordings that were transcribed in one piece. */
class PieceTexts {
  readonly byPath = new Map<string, string>();
  readonly #client: VerbatimClient;

  constructor(
    { url, keys }: Served,
    private readonly language: string,
  ) {
    this.#client = new VerbatimClient({ baseUrl: url, apiKey: keys[0] ?? '' });
  }

  async add(clips: readonly Clip[]): Promise<void> {
    for (const clip of clips) {
      if (this.byPath.has(clip.path)) continue;
      const language = languageFor(clip, this.language);
      const asked = language === 'auto' ? {} : { language };
      this.byPath.set(clip.path, (await this.#client.transcribe({ audio: clip.path, ...asked })).text);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** What is spoken in recordings stays out of the reports. */
function withoutText({ run, words }: MeasuredCell['rounds'][number]): object {
  const { sessions, ...rest } = run;
  return {
    ...{ words, ...rest },
    sessions: sessions.map((session) =>
      session === null
        ? null
        : { ...session, results: session.results.map(({ at, answer }) => ({ at, ...answer, text: undefined })) },
    ),
  };
}
