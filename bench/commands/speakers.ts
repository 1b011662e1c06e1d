import type { Command } from 'commander';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { readRttmDirectory } from '../speakers/rttm.js';
import { scoreRecording, speakerTables } from '../reports/speaker-tables.js';
import { addOutputOptions, benchContext, publish, type OutputOptions } from './setup.js';

interface Options extends OutputOptions {
  rttm: string;
  hypotheses: string;
}

export function addBenchSpeakers(bench: Command): void {
  const command = bench
    .command('speakers')
    .description('who spoke when, beside what is known of it: diarization and Jaccard error rates')
    .requiredOption('--rttm <dir>', 'who speaks when, as it is known: .rttm files')
    .requiredOption('--hypotheses <dir>', 'who speaks when, as any program tells it: .rttm files');
  addOutputOptions(command).action(benchSpeakers);
}

function benchSpeakers(options: Options): void {
  const references = readRttmDirectory(options.rttm);
  const hypotheses = hypothesesOf(options, references);
  const scores = [...references].map(([recording, reference]) =>
    scoreRecording(recording, reference, hypotheses.get(recording) ?? []),
  );
  publish(
    {
      name: 'speakers',
      title: 'Who spoke when',
      environment: benchContext().environment,
      models: [],
      settings: { rttm: options.rttm, hypotheses: options.hypotheses, recordings: scores.length },
      warmUp: 'none',
      runs: 1,
      tables: speakerTables(scores),
      charts: [],
      notes: [
        'DER: missed speech, false alarms and confused speakers by the speech of the reference; overlapped speech counts for each who speaks. The parts are those without a collar.',
        'A collar leaves out so much on each side of every start and end of the reference.',
        'JER: mean over the speakers of the reference of what one of the pair, they or who stands for them, speaks alone, by what either speaks.',
        'One speaker, random labels: who only knows the turns of the reference, and says that one person speaks them all, or draws for each of them one of as many people as there are (mean of 20 draws).',
      ],
      measurements: scores,
    },
    options,
  );
}

/** A recording that nobody speaks in is told by an empty file of its name, or not at all; one that is not asked for is a mistake. */
function hypothesesOf(
  { rttm, hypotheses: directory }: Options,
  references: ReadonlyMap<string, SpeakerTurn[]>,
): Map<string, SpeakerTurn[]> {
  const hypotheses = readRttmDirectory(directory);
  const unknown = [...hypotheses.keys()].find((recording) => !references.has(recording));
  if (unknown === undefined) return hypotheses;
  throw new Error(`${directory} tells of "${unknown}", of which ${rttm} knows nothing.`);
}
