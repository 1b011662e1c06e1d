/** The service's answers, by their names in its document. */
import type { components } from './schema.js';

type Schemas = components['schemas'];
export type Me = Schemas['Me'];
export type Usage = Schemas['Usage'];
export type Transcription = Schemas['Transcription'];
export type AcceptedJob = Schemas['AcceptedJob'];
export type Job = Schemas['Job'];
export type JobList = Schemas['JobList'];
export type TranscriptList = Schemas['TranscriptList'];
export type KeptTranscript = Schemas['KeptTranscript'];
export type DeletedTranscript = Schemas['DeletedTranscript'];
export type CreatedShare = Schemas['CreatedShare'];
export type ShareList = Schemas['ShareList'];
export type RevokedShare = Schemas['RevokedShare'];
export type CreatedKey = Schemas['CreatedKey'];
export type KeyList = Schemas['KeyList'];
export type RevokedKey = Schemas['RevokedKey'];
export type AdminAccount = Schemas['AdminAccount'];
export type AdminAccountList = Schemas['AdminAccountList'];
export type AdminUsage = Schemas['AdminUsage'];
export type CreditGrant = Schemas['CreditGrant'];
export type DeletedAccount = Schemas['DeletedAccount'];
