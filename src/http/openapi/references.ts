/** Parameters and headers as components of the document, and references to them. */
import { Days } from '../api/account-schema.js';
import {
  AccountId,
  AdminCursor,
  AdminLimit,
  UsageAccount,
  UsageFormat,
  UsageFrom,
  UsageTo,
} from '../api/admin-schema.js';
import { JobCursor, JobId, JobLimit, JobStatusFilter } from '../api/jobs-schema.js';
import { ShareId } from '../api/shares-schema.js';
import {
  ExportedText,
  TranscriptCursor,
  TranscriptFormat,
  TranscriptId,
  TranscriptLimit,
  TranscriptWords,
} from '../api/transcripts-schema.js';
import { KeyId } from '../api/keys-schema.js';
import { IdempotencyKey } from '../app/idempotency-key.js';
import {
  AnswerModel,
  CreditsRemaining,
  CreditsUsed,
  IdempotencyReplayed,
  IgnoredFields,
  ServerTiming,
  TranscriptionId,
  WarningCodes,
} from '../transcripts/transcription-headers.js';
import {
  Allow,
  GivenRequestId,
  RequestId,
  Location,
  RetryAfter,
  WwwAuthenticate,
  type ResponseHeader,
} from '../schema/headers.js';
import { LISTEN_PARAMETERS } from '../deepgram/file-schema.js';
import { ShouldRetry } from '../openai/errors.js';
import { ModelName } from '../openai/models.js';
import { RetryCount } from '../openai/retry-count.js';
import type { Parameter } from '../schema/parameter.js';

type Json = Record<string, unknown>;

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  RequestId: GivenRequestId,
  ...{ IdempotencyKey, RetryCount, Days, KeyId, ModelName },
  ...{ JobId, JobStatusFilter, JobLimit, JobCursor },
  ...{ TranscriptId, TranscriptWords, TranscriptLimit, TranscriptCursor, TranscriptFormat, ExportedText, ShareId },
  ...{ AccountId, AdminLimit, AdminCursor, UsageFrom, UsageTo, UsageAccount, UsageFormat },
  ...LISTEN_PARAMETERS,
};

const HEADERS: Readonly<Record<string, ResponseHeader>> = {
  ...{ RequestId, WwwAuthenticate, Allow, RetryAfter, Location, ServerTiming, IdempotencyReplayed },
  ...{ AnswerModel, TranscriptionId, CreditsUsed, CreditsRemaining, WarningCodes },
  ...{ IgnoredFields, ShouldRetry },
};

export const parameters: Json = mapValues(
  PARAMETERS,
  ({ name, in: place, required, description, schema, example }) => ({
    ...{ name, in: place, required, description, schema, example },
  }),
);

/** Where a header is used its name is the key. */
export const headers: Json = mapValues(HEADERS, ({ description, required, schema, example }) => ({
  ...{ description, required, schema, example },
}));

export function parameterRefs(...used: Parameter[]): Json[] {
  return used.map((parameter) => ({ $ref: `#/components/parameters/${nameIn(PARAMETERS, parameter)}` }));
}

export function headerRefs(...used: ResponseHeader[]): Json {
  const refs = used.map((header) => [header.name, { $ref: `#/components/headers/${nameIn(HEADERS, header)}` }]);
  return Object.fromEntries(refs) as Json;
}

function nameIn<T>(components: Readonly<Record<string, T>>, component: T): string {
  const entry = Object.entries(components).find(([, known]) => known === component);
  if (entry === undefined) throw new Error('This is no component of the document.');
  return entry[0];
}

function mapValues<T>(components: Readonly<Record<string, T>>, map: (component: T) => Json): Json {
  return Object.fromEntries(Object.entries(components).map(([name, component]) => [name, map(component)]));
}
