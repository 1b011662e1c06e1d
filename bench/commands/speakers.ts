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
  TRANSCRIPT_FILES,
  readTranscripts,
  readSpokenTurns,
  SPOKEN_TURN_FILES,
  type RecognisedRecording,
} from '../speakers/spoken-words.js';
import { scoreWords, wordSpeakerTable } from '../reports/word-speaker-table.js';

interface Options extends OutputOptions, PairOptions {
  rttm: string;
  hypotheses?: string;
  audio?: string;
  transcripts?: string;
  words?: string;
  threads: number;
  knownCount: boolean;
}

const DEFAULT = '(default: the one that serve would take)';
const TRAIT = "(default: the embedding's trait)";

const OF_AUDIO = ['segmentation', 'embedding', 'threshold', 'minSeconds', 'threads', 'knownCount'];

export function addBenchSpeakers(bench: Command): void {
  const command = bench
    .command('speakers')
    .description('who spoke when, beside what is known of it: diarization and Jaccard error rates')
    .requiredOption('--rttm <dir>', 'who speaks when, as it is known: .rttm files')
    .option('--hypotheses <dir>', 'who speaks when, by any program: .rttm files')
    .option('--audio <dir>', 'in place of them: the recordings, for the speaker models to find it')
    .option(
      '--transcripts <dir>',
      'in place of either: what the service makes of the recordings (transcribe --diarize --timestamps word --json), ' +
        TRANSCRIPT_FILES,
    )
    .option(
      '--words <dir>',
      `who says which words, ${SPOKEN_TURN_FILES}: also reports how many words have the right speaker`,
    )
    .option('--segmentation <name>', `a speaker model of the manifest, or an ONNX file ${DEFAULT}`)
    .option('--embedding <name>', 'likewise')
    .option(
      '--threshold <number>',
      `how different one more voice must be; higher: fewer speakers ${TRAIT}`,
      positiveNumber,
    )
    .option(
      '--min-seconds <s>',
      `a voice with less speech than this is counted as another speaker ${TRAIT}`,
      positiveNumber,
    )
    .option('--threads <n>', 'of one inference', slotOrThreadCount, 1)
    .option('--known-count', 'give the models the number of speakers', false);
  addOutputOptions(command).action(benchSpeakers);
}

async function benchSpeakers(options: Options, command: Command): Promise<void> {
  if (options.audio === undefined) refuseGiven(command, OF_AUDIO, 'acts only with --audio');
  const references = readRttmDirectory(options.rttm);
  const spoken = options.words === undefined ? null : readSpokenTurns(options.words, references.keys());
  const answers = await answersOf(options, references);
  const scores = [...references].map(([recording, reference]) =>
    scoreRecording(recording, reference, answers.turns.get(recording) ?? []),
  );
  const words = [...(spoken ?? [])].map(([recording, turns]) =>
    scoreWords(recording, turns, answers.transcripts?.get(recording) ?? answers.turns.get(recording) ?? []),
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
      tables: [...speakerTables(scores), ...(spoken === null ? [] : [wordSpeakerTable(words)])],
      charts: [],
      notes: [
        'DER: seconds of missed speech, false alarms and confused speakers, divided by the seconds of speech in the ' +
          'reference. Overlapped speech counts once for each speaker. The three parts are given without a collar.',
        'A collar leaves out so many seconds on each side of every start and end of the reference.',
        'JER: each speaker of the reference is paired with one of the answer. Seconds in which only one of the two ' +
          'speaks, divided by the seconds in which either does; the mean over the speakers.',
        'One speaker where the answer finds speech: all its turns are given to one person.',
        'One speaker, random labels: the turns of the reference, all of one person, or each of a person drawn at ' +
          'random, as many people as there are (mean of 20 draws).',
        ...(spoken === null ? [] : WORD_NOTES),
      ],
      measurements: spoken === null ? scores : { recordings: scores, words },
    },
    options,
  );
}

const WORD_NOTES = [
  'Right: words with the right speaker, under the mapping of speakers that makes most of them right. Of recognised ' +
    'words only those count that an alignment of fewest edits matches with the same spoken word.',
  'A known word has the speaker in whose turn most of it lies. The words of a turn are spread evenly over it.',
  'One speaker, random labels: of all words that were spoken.',
];

interface Answers {
  turns: Map<string, SpeakerTurn[]>;
  /** null: no words were recognised, and the known ones are judged by the turns they lie in. */
  transcripts: Map<string, RecognisedRecording> | null;
  models: ModelIdentity[];
  settings: Record<string, Shown>;
}

async function answersOf(options: Options, references: ReadonlyMap<string, SpeakerTurn[]>): Promise<Answers> {
  const { hypotheses, audio, transcripts } = options;
  if ([hypotheses, audio, transcripts].filter((source) => source !== undefined).length !== 1)
    throw new Error('One of --hypotheses, --audio and --transcripts is needed.');
  if (hypotheses !== undefined)
    return {
      turns: turnsOf(options.rttm, hypotheses, references),
      transcripts: null,
      models: [],
      settings: { hypotheses },
    };
  if (transcripts !== undefined) return answersOfTranscripts(transcripts, references);
  const { threads, knownCount } = options;
  const models = modelPair(options, benchContext());
  const { turns, realTimeFactor } = await diarizeAll(references, {
    audio: audio ?? '',
    knownCount,
    threads,
    ...models,
  });
  return {
    turns,
    transcripts: null,
    models: await Promise.all(
      [models.segmentation, models.embedding].map((path) => identifyModel(basename(path), path)),
    ),
    settings: {
      ...{ threshold: models.threshold, 'fewest seconds': models.minSeconds },
      threads,
      'number of speakers known': knownCount ? 'yes' : 'no',
      'real-time factor': rounded(realTimeFactor),
    },
  };
}

function answersOfTranscripts(directory: string, references: ReadonlyMap<string, SpeakerTurn[]>): Answers {
  const transcripts = readTranscripts(directory, references.keys());
  const turns = new Map([...transcripts].map(([recording, { turns }]) => [recording, turns]));
  return { turns, transcripts, models: [], settings: { transcripts: directory } };
}

/** A recording in which nobody speaks has an empty file of its name, or none; one that is not asked for is a mistake. */
function turnsOf(
  rttm: string,
  directory: string,
  references: ReadonlyMap<string, SpeakerTurn[]>,
): Map<string, SpeakerTurn[]> {
  const hypotheses = readRttmDirectory(directory);
  const unknown = [...hypotheses.keys()].find((recording) => !references.has(recording));
  if (unknown === undefined) return hypotheses;
  throw new Error(`${directory} has "${unknown}", which ${rttm} does not have.`);
}
