/** What operators do over HTTP, as path items of the document. */
import {
  AccountId,
  AdminCursor,
  AdminLimit,
  UsageAccount,
  UsageFormat,
  UsageFrom,
  UsageTo,
} from '../api/admin-schema.js';
import { Location, RequestId } from '../schema/headers.js';
import { IdempotencyReplayed } from '../transcripts/transcription-headers.js';
import type { InvalidRequestExample } from './error-responses.js';
import { answer, BEHIND_MANAGEMENT_KEY, content, document, errors, path } from './path-items.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

const BAD_EMAIL: InvalidRequestExample = {
  message: '"ada" is not an email address; allowed: name@host, at most 254 characters, no controls.',
  param: 'email',
};
const BAD_AMOUNT: InvalidRequestExample = {
  message: 'The amount is 0; allowed: an integer from 1 to 1000000000000.',
  param: 'amount',
};
const BAD_LIMIT: InvalidRequestExample = { message: AdminLimit.refusal, param: AdminLimit.name };
const BAD_DAY: InvalidRequestExample = { message: UsageFrom.refusal, param: UsageFrom.name };
const OWN_ACCOUNT: InvalidRequestExample = {
  message: 'A key cannot suspend or delete its own account; the command line can.',
  param: 'id',
};

/** An operation, by its id. */
function operation(operationId: string, summary: string, more: Json, invalid?: InvalidRequestExample): Json {
  const { responses, ...rest } = more;
  return {
    ...{ tags: ['admin'], operationId, summary, ...rest },
    responses: { ...(responses as Json), ...errors(operationId, BEHIND_MANAGEMENT_KEY, invalid) },
  };
}

const asked = (schema: string): Json => ({ required: true, content: content('application/json', schema) });

const AN_EXPORT = {
  exported_at: '2026-11-20T17:24:00.000Z',
  account: { id: 'acc_Zk3v9Q0c7TfYb1Rn', email: 'ada@example.org' },
  answers: [],
};
const A_CSV =
  'date,account_id,email,endpoint,requests,minutes,credits\r\n' +
  '2026-11-20,acc_Zk3v9Q0c7TfYb1Rn,ada@example.org,/api/v1/transcribe,2,3,3\r\n';

export const adminPaths: Json = {
  '/api/v1/admin/accounts': path({
    get: operation(
      'listAccounts',
      'Every account, the oldest first',
      {
        parameters: parameterRefs(AdminLimit, AdminCursor),
        responses: { '200': answer('AdminAccountList', 'A page of accounts.') },
      },
      BAD_LIMIT,
    ),
    post: operation(
      'createAccount',
      'Make an account',
      {
        description: 'It has no credits and no keys yet.',
        requestBody: asked('CreateAccountRequest'),
        responses: { '201': answer('AdminAccount', 'The account.', [Location]) },
      },
      BAD_EMAIL,
    ),
  }),
  '/api/v1/admin/accounts/{id}': path(
    {
      get: operation('getAccount', 'An account', {
        responses: { '200': answer('AdminAccount', 'The account.') },
      }),
      delete: operation(
        'deleteAccount',
        'Delete an account',
        {
          description:
            'E-mail address, name, keys, sessions, jobs, webhooks and stored answers are gone. Packs and ' +
            'usage stay, under an id that names ' +
            'nobody; what was left to spend has expired. It cannot be undone.',
          responses: { '200': answer('DeletedAccount', 'It is deleted.') },
        },
        OWN_ACCOUNT,
      ),
    },
    AccountId,
  ),
  '/api/v1/admin/accounts/{id}/suspend': path(
    {
      post: operation(
        'suspendAccount',
        'Shut an account out',
        {
          description:
            'Its keys are answered 403 `account_suspended`, the dashboard lets it in no more; what is in flight is ' +
            'aborted, answered 401 and not charged.',
          responses: { '200': answer('AdminAccount', 'The account is suspended.') },
        },
        OWN_ACCOUNT,
      ),
    },
    AccountId,
  ),
  '/api/v1/admin/accounts/{id}/resume': path(
    {
      post: operation('resumeAccount', 'Let a suspended account in again', {
        responses: { '200': answer('AdminAccount', 'The account is not suspended.') },
      }),
    },
    AccountId,
  ),
  '/api/v1/admin/accounts/{id}/export': path(
    {
      get: operation('exportAccount', 'All that is stored on an account', {
        description: 'With stored answers; without secrets, and without what is stored as a hash.',
        responses: {
          '200': document('application/json', 'One document.', { type: 'object' }, AN_EXPORT),
        },
      }),
    },
    AccountId,
  ),
  '/api/v1/admin/accounts/{id}/credits': path(
    {
      post: operation(
        'grantCredits',
        'Grant credits',
        {
          description: 'With `payment_id` it may be repeated: the same payment grants one pack.',
          requestBody: asked('GrantRequest'),
          responses: {
            '200': answer('CreditGrant', 'The pack that this payment has granted before.', [IdempotencyReplayed]),
            '201': answer('CreditGrant', 'The pack.'),
          },
        },
        BAD_AMOUNT,
      ),
    },
    AccountId,
  ),
  '/api/v1/admin/usage': path({
    get: operation(
      'getUsageOfAll',
      'What all accounts were charged, by UTC day and endpoint',
      {
        description: 'With usage of accounts that are deleted since.',
        parameters: parameterRefs(UsageFrom, UsageTo, UsageAccount, UsageFormat, AdminLimit, AdminCursor),
        responses: {
          '200': {
            description: 'A page of rows; with `format=csv` all of them.',
            headers: headerRefs(RequestId),
            content: {
              ...content('application/json', 'AdminUsage'),
              'text/csv': { schema: { type: 'string' }, example: A_CSV },
            },
          },
        },
      },
      BAD_DAY,
    ),
  }),
};
