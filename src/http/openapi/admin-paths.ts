/** OpenAPI path items of the admin endpoints. */
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
      'List all accounts, oldest first',
      {
        parameters: parameterRefs(AdminLimit, AdminCursor),
        responses: { '200': answer('AdminAccountList', 'A page of accounts.') },
      },
      BAD_LIMIT,
    ),
    post: operation(
      'createAccount',
      'Create an account',
      {
        description: 'The new account has no credits and no keys.',
        requestBody: asked('CreateAccountRequest'),
        responses: { '201': answer('AdminAccount', 'The account.', [Location]) },
      },
      BAD_EMAIL,
    ),
  }),
  '/api/v1/admin/accounts/{id}': path(
    {
      get: operation('getAccount', 'Get an account', {
        responses: { '200': answer('AdminAccount', 'The account.') },
      }),
      delete: operation(
        'deleteAccount',
        'Delete an account',
        {
          description:
            'Deletes its e-mail address, name, keys, sessions, jobs, webhooks and stored answers. Credit packs and ' +
            'usage stay under an anonymous id; remaining credits expire. This cannot be undone.',
          responses: { '200': answer('DeletedAccount', 'The account is deleted.') },
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
        'Suspend an account',
        {
          description:
            'Requests with its keys are answered 403 `account_suspended`, and its users cannot sign in to the ' +
            'dashboard. Requests in flight are aborted, answered 401 and not charged.',
          responses: { '200': answer('AdminAccount', 'The account is suspended.') },
        },
        OWN_ACCOUNT,
      ),
    },
    AccountId,
  ),
  '/api/v1/admin/accounts/{id}/resume': path(
    {
      post: operation('resumeAccount', 'Resume a suspended account', {
        responses: { '200': answer('AdminAccount', 'The account is active.') },
      }),
    },
    AccountId,
  ),
  '/api/v1/admin/accounts/{id}/export': path(
    {
      get: operation('exportAccount', 'Export all stored data of an account', {
        description: 'Includes stored answers. Leaves out secrets and everything that is stored as a hash.',
        responses: {
          '200': document('application/json', 'The data as one JSON document.', { type: 'object' }, AN_EXPORT),
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
          description: 'With `payment_id` the call is safe to repeat: one payment grants one pack only.',
          requestBody: asked('GrantRequest'),
          responses: {
            '200': answer('CreditGrant', 'This payment granted this pack before.', [IdempotencyReplayed]),
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
      'Usage of all accounts, by UTC day and endpoint',
      {
        description: 'Includes usage of deleted accounts.',
        parameters: parameterRefs(UsageFrom, UsageTo, UsageAccount, UsageFormat, AdminLimit, AdminCursor),
        responses: {
          '200': {
            description: 'A page of rows; with `format=csv`, all rows.',
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
