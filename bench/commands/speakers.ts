import type { Command } from 'commander';
import { basename } from 'node:path';
import { positiveNumber, refuseGiven } from '../../src/cli/options.js';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { readRttmDirectory } from '../speakers/rttm.js';
import { scoreRecording, speakerTables } from '../reports/speaker-tables.js';
import { addOutputOptions, benchContext, publish, slotOrThreadCount, type OutputOptions } from './setup.js';
import { identifyModel, type ModelIdentity } from '../reports/environment.js';
import { rounded, type Shown } from '../reports/report.js';
import { diarizeAll } from '../speakers/diarize-all.js';
import { modelPair, type PairOptions } from '../speakers/model-pair.js';
import {
  HEARD_WORDS,
  readHeard,
  readSaidTurns,
  SAID_TURNS,
  type HeardRecording,
} from '../speakers/said-words.js';
import { scoreWords, wordSpeakerTable } from '../reports/word-speaker-table.js';

interface Options extends OutputOptions, PairOptions {
  rttm: string;
  hypotheses?: string;
  audio?: string;
  heard?: string;
  words?: string;
  threads: number;
  told: boolean;
  regions?: string;
}

const DEFAULT = '(default: the one that serve would take)';
const TRAIT = "(default: the embedding's trait)";

const OF_AUDIO = ['segmentation', 'embedding', 'threshold', 'minSeconds', 'threads', 'told', 'regions'];

export function addBenchSpeakers(bench: Command): void {
  const command = bench
    .command('speakers')
    .description('who spoke when, beside what is known of it: diarization and Jaccard error rates')
    .requiredOption('--rttm <dir>', 'who speaks when, as it is known: .rttm files')
    .option('--hypotheses <dir>', 'who speaks when, as any program tells it: .rttm files')
    .option('--audio <dir>', 'in place of them: the recordings, for the speaker models to tell it')
    .option(
      '--heard <dir>',
      `in place of either: what the service makes of the recordings (transcribe --diarize --timestamps word --json), ${HEARD_WORDS}`,
    )
    .option(
      '--words <dir>',
      `who says which words, ${SAID_TURNS}: also tells how many words have the right speaker`,
    )
    .option('--segmentation <name>', `a speaker model of the manifest, or an ONNX file ${DEFAULT}`)
    .option('--embedding <name>', 'likewise')
    .option(
      '--threshold <number>',
      `what one voice more must explain; higher: fewer speakers ${TRAIT}`,
      positiveNumber,
    )
    .option('--min-seconds <s>', `who speaks for less is taken for somebody else ${TRAIT}`, positiveNumber)
    .option('--threads <n>', 'of one inference', slotOrThreadCount, 1)
    .option('--told', 'tell the models the number of speakers', false)
    .option('--regions <dir>', 'tell the models when anybody speaks: .rttm files, such as those of --rttm');
  addOutputOptions(command).action(benchSpeakers);
}

async function benchSpeakers(options: Options, command: Command): Promise<void> {
  if (options.audio === undefined) refuseGiven(command, OF_AUDIO, 'acts only with --audio');
  const references = readRttmDirectory(options.rttm);
  const said = options.words === undefined ? null : readSaidTurns(options.words, references.keys());
  const answers = await answersOf(options, references);
  const scores = [...references].map(([recording, reference]) =>
    scoreRecording(recording, reference, answers.turns.get(recording) ?? []),
  );
  const words = [...(said ?? [])].map(([recording, turns]) =>
    scoreWords(recording, turns, answers.heard?.get(recording) ?? answers.turns.get(recording) ?? []),
  );
  publish(
    {
      name: 'speakers',
      title: 'Who spoke when',
      environment: benchContext().environment,
      models: answers.models,
      settings: {
        rttm: options.rttm,
        recordings: scores.length,
        ...(options.words === undefined ? {} : { words: options.words }),
        ...answers.settings,
      },
      warmUp: answers.models.length === 0 ? 'none' : 'the first recording',
      runs: 1,
      tables: [...speakerTables(scores), ...(said === null ? [] : [wordSpeakerTable(words)])],
      charts: [],
      notes: [
        'DER: missed speech, false alarms and confused speakers by the speech of the reference; overlapped speech counts for each who speaks. The parts are those without a collar.',
        'A collar leaves out so much on each side of every start and end of the reference.',
        'JER: mean over the speakers of the reference of what one of the pair, they or who stands for them, speaks alone, by what either speaks.',
        'One speaker when the answer hears speech: all its turns are one person’s.',
        'One speaker, random labels: who only knows the turns of the reference, and says that one person speaks them all, or draws for each of them one of as many people as there are (mean of 20 draws).',
        ...(said === null ? [] : WORD_NOTES),
      ],
      measurements: said === null ? scores : { recordings: scores, words },
    },
    options,
  );
}

const WORD_NOTES = [
  'Right: words whose speaker is theirs, under the mapping of speakers that makes most of them right; of words that the service recognised, those that are the same in an alignment of fewest edits with what was said.',
  'Known words have the speaker whose turn most of each lies in; the words of a turn are spread evenly over it.',
  'One speaker, random labels: of all words that were said.',
];

interface Answers {
  turns: Map<string, SpeakerTurn[]>;
  /** null: no words were recognised, and the known ones are judged by the turns they lie in. */
  heard: Map<string, HeardRecording> | null;
  models: ModelIdentity[];
  settings: Record<string, Shown>;
}

async function answersOf(options: Options, references: ReadonlyMap<string, SpeakerTurn[]>): Promise<Answers> {
  const { hypotheses, audio, heard } = options;
  if ([hypotheses, audio, heard].filter((source) => source !== undefined).length !== 1)
    throw new Error('One of --hypotheses, --audio and --heard is needed.');
  if (hypotheses !== undefined)
    return {
      turns: turnsOf(options.rttm, hypotheses, references),
      heard: null,
      models: [],
      settings: { hypotheses },
    };
  if (heard !== undefined) return answersHeard(heard, references);
  const { threads, told } = options;
  const models = modelPair(options, benchContext());
  const { turns, realTimeFactor } = await diarizeAll(references, {
    audio: audio ?? '',
    told,
    threads,
    regions: options.regions === undefined ? null : turnsOf(options.rttm, options.regions, references),
    ...models,
  });
  return {
    turns,
    heard: null,
    models: await Promise.all(
      [models.segmentation, models.embedding].map((path) => identifyModel(basename(path), path)),
    ),
    settings: {
      ...{ threshold: models.threshold, 'fewest seconds': models.minSeconds },
      threads,
      'speakers told': told ? 'yes' : 'no',
      ...(options.regions === undefined ? {} : { regions: options.regions }),
      'real-time factor': rounded(realTimeFactor),
    },
  };
}

function answersHeard(directory: string, references: ReadonlyMap<string, SpeakerTurn[]>): Answers {
  const heard = readHeard(directory, references.keys());
  const turns = new Map([...heard].map(([recording, { turns }]) => [recording, turns]));
  return { turns, heard, models: [], settings: { heard: directory } };
}

/** A recording that nobody speaks in is told by an empty file of its name, or not at all; one that is not asked for is a mistake. */
function turnsOf(
  rttm: string,
  directory: string,
  references: ReadonlyMap<string, SpeakerTurn[]>,
): Map<string, SpeakerTurn[]> {
  const hypotheses = readRttmDirectory(directory);
  const unknown = [...hypotheses.keys()].find((recording) => !references.has(recording));
  if (unknown === undefined) return hypotheses;
  throw new Error(`${directory} tells of "${unknown}", of which ${rttm} knows nothing.`);
}
