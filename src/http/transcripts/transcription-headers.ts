/** The headers of every answer with a transcript, in JSON or not. */
import type { OutgoingHttpHeaders } from 'node:http';
import { Type } from 'typebox';
import type { TranscriptionResult } from '../../transcription/result.js';
import { headerOf, responseHeader } from '../schema/headers.js';
import { count, id } from '../schema/shape.js';

export const transcriptId = id('tr', 'jWe1pcjYDMW83_ro3txM0A');
export const creditsUsed = count('Charged for this request.');
export const creditsRemaining = count("The account's balance after it.");

const PHASES = ['upload', 'queue', 'decode', 'speech', 'translate'] as const;

export const ServerTiming = responseHeader({
  name: 'Server-Timing',
  description:
    'upload, queue, decode, speech and translate, each with dur in milliseconds. decode is reading the ' +
    'file, speech is the model; both add up the time of all windows, which run in parallel. Not sent ' +
    'with events, which start while the work is done.',
  required: true,
  schema: Type.String({ pattern: `^${PHASES.map((phase) => `${phase};dur=[\\d.]+`).join(', ')}$` }),
  example: timing({ upload: 12, queue: 3.1, decode: 5.2, speech: 310.4, translate: 0 }),
});

/** What Server-Timing says, from milliseconds. */
export function timing(phases: Readonly<Record<(typeof PHASES)[number], number>>): string {
  return PHASES.map((phase) => `${phase};dur=${phases[phase].toFixed(1)}`).join(', ');
}

export const IdempotencyReplayed = responseHeader({
  name: 'Idempotency-Replayed',
  description: 'Present when the answer is the stored one of an earlier request.',
  required: false,
  schema: Type.Unsafe<'true'>({ type: 'string', const: 'true' }),
  example: 'true',
});

const BESIDE_TEXT = 'With `format` text, srt or vtt, whose body is the text alone.';

export const TranscriptionId = responseHeader({
  name: 'X-Transcription-Id',
  description: BESIDE_TEXT,
  required: false,
  schema: transcriptId,
  example: 'tr_jWe1pcjYDMW83_ro3txM0A',
});

export const CreditsUsed = responseHeader({
  name: 'X-Credits-Used',
  description: BESIDE_TEXT,
  required: false,
  schema: creditsUsed,
  example: 1,
});

export const CreditsRemaining = responseHeader({
  name: 'X-Credits-Remaining',
  description: BESIDE_TEXT,
  required: false,
  schema: creditsRemaining,
  example: 499,
});

export const WarningCodes = responseHeader({
  name: 'X-Verbatim-Warning',
  description: "The codes of the answer's warnings, separated by commas, where the body has no place for them.",
  required: false,
  schema: Type.String(),
  example: 'demonstration_model',
});

export const AnswerModel = responseHeader({
  name: 'X-Model',
  description:
    'The speech model that made the answer. Absent where an earlier version, which did not note it, stored the answer.',
  required: false,
  schema: Type.String(),
  example: 'base',
});

export const IgnoredFields = responseHeader({
  name: 'X-Ignored-Fields',
  description: 'Fields or parameters of the request that had no effect.',
  required: false,
  schema: Type.String(),
  example: 'language',
});

/** Of every answer with a transcript. */
export const TRANSCRIPT_HEADERS = [
  ...[AnswerModel, ServerTiming, IdempotencyReplayed],
  ...[TranscriptionId, CreditsUsed, CreditsRemaining, WarningCodes],
];

/** Names are letters, digits and marks that are as they are in a header; a list edited by hand may have others. */
export function modelHeader(model: string | null): OutgoingHttpHeaders {
  return model === null ? {} : headerOf(AnswerModel, encodeURI(model));
}

/** Beside a body that has no place for them. */
export function resultHeaders(result: TranscriptionResult): OutgoingHttpHeaders {
  const codes = result.warnings.map(({ code }) => code).join(', ');
  return {
    ...(codes === '' ? {} : headerOf(WarningCodes, codes)),
    ...headerOf(TranscriptionId, result.id),
    ...headerOf(CreditsUsed, result.creditsUsed),
    ...headerOf(CreditsRemaining, result.creditsRemaining),
  };
}
