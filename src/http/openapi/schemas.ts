/** The shapes of requests and answers, by the names that the document gives them. */
import { Me, Usage } from '../api/account-schema.js';
import {
  AdminAccount,
  AdminAccountList,
  AdminUsage,
  CreateAccountRequest,
  CreditGrant,
  DeletedAccount,
  GrantRequest,
} from '../api/admin-schema.js';
import { AcceptedJob, Job, JobEvent, JobList, JobRequestForm } from '../api/jobs-schema.js';
import { CreatedKey, CreateKeyRequest, KeyList, RevokedKey } from '../api/keys-schema.js';
import { CreatedShare, CreateShareRequest, RevokedShare, ShareList } from '../api/shares-schema.js';
import {
  DeletedTranscript,
  KeptTranscriptBody,
  TranscriptList,
  UpdateTranscriptRequest,
} from '../api/transcripts-schema.js';
import { TranscribeRequest } from '../api/transcribe-schema.js';
import { Transcription } from '../api/transcription-schema.js';
import { ListenAnswer } from '../deepgram/file-schema.js';
import { DeepgramError, Token, TokenRequest } from '../deepgram/grant-schema.js';
import { ErrorBody } from '../errors/error-schema.js';
import { CreateTranscriptionRequest, CreateTranslationRequest, OpenAiTranscription } from '../openai/audio-schema.js';
import { OpenAiErrorBody } from '../openai/errors.js';
import { OpenAiEvent } from '../openai/event-schema.js';
import { OpenAiModel, OpenAiModelList } from '../openai/models.js';
import {
  BetaSession,
  ClientSecret,
  ClientSecretRequest,
  TranscriptionSessionRequest,
  TranslationSecret,
  TranslationSecretRequest,
} from '../realtime/client-secrets-schema.js';
import { Health, Readiness } from '../api/probes-schema.js';

export const schemas = {
  Error: ErrorBody,
  Me,
  Usage,
  TranscribeRequest,
  Transcription,
  CreateJobRequest: JobRequestForm,
  AcceptedJob,
  Job,
  JobList,
  JobEvent,
  TranscriptList,
  KeptTranscript: KeptTranscriptBody,
  UpdateTranscriptRequest,
  DeletedTranscript,
  CreateShareRequest,
  CreatedShare,
  ShareList,
  RevokedShare,
  CreateTranscriptionRequest,
  CreateTranslationRequest,
  OpenAiTranscription,
  OpenAiModel,
  OpenAiModelList,
  OpenAiError: OpenAiErrorBody,
  OpenAiEvent,
  ClientSecretRequest,
  ClientSecret,
  TranslationSecretRequest,
  TranslationSecret,
  TranscriptionSessionRequest,
  BetaSession,
  TokenRequest,
  Token,
  ListenAnswer,
  DeepgramError,
  CreateKeyRequest,
  CreatedKey,
  KeyList,
  RevokedKey,
  AdminAccount,
  AdminAccountList,
  CreateAccountRequest,
  DeletedAccount,
  GrantRequest,
  CreditGrant,
  AdminUsage,
  Health,
  Readiness,
};
