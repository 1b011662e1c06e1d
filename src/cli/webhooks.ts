import { InvalidArgumentError, Option, type Command } from 'commander';
import type { WebhookEvent, WebhookState } from '../ledger/jobs.js';
import { administered, withLedger } from '../service/administered-ledger.js';
import { printRow, printRows } from './rows.js';

const STATES: readonly WebhookState[] = ['pending', 'delivered', 'failed'];
const MOST_EVENTS = 1000;
const NO_EVENTS = 'There are no such messages.';

export function addWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('list webhook messages about ended jobs, and send them again');
  addList(webhooks);
  addRetry(webhooks);
}

function addList(webhooks: Command): void {
  webhooks
    .command('list')
    .description('newest first')
    .addOption(new Option('--state <state>', 'only these').choices(STATES))
    .option('--limit <n>', `maximum number of messages, up to ${MOST_EVENTS}`, limitOf, 50)
    .option('--json', 'print JSON')
    .action((options: { state?: WebhookState; limit: number; json?: boolean }) =>
      withLedger(
        async (ledger) => {
          const { state = null, limit } = options;
          const events = await ledger.webhooks.list({ state, limit });
          printRows(events.map(rowOf), options.json === true, NO_EVENTS);
        },
        { absent: () => printRows([], options.json === true, NO_EVENTS) },
      ),
    );
}

function addRetry(webhooks: Command): void {
  webhooks
    .command('retry')
    .argument('<id>', "the event's id, as `verbatim webhooks list` shows it")
    .option('--json', 'print JSON')
    .description('send a message again now, delivered or not; failures are retried for another day')
    .action((id: string, options: { json?: boolean }) =>
      withLedger(async (ledger) => {
        const event = await administered(ledger, { action: 'webhook-retried', subject: id }, async () => {
          const found = await ledger.webhooks.retry(id);
          if (found === null) throw new Error(`There is no event "${id}".`);
          return found;
        });
        if (options.json === true) printRow(rowOf(event), true);
        else console.log(`${event.id} will be sent now`);
      }),
    );
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MOST_EVENTS) return limit;
  throw new InvalidArgumentError(`Allowed: an integer from 1 to ${MOST_EVENTS}.`);
}

function rowOf(event: WebhookEvent) {
  return {
    ...{ id: event.id, job: event.jobId, state: event.state, url: event.url },
    ...{ created_at: event.createdAt, attempts: event.attempts },
    ...{ next_attempt_at: event.nextAttemptAt, delivered_at: event.deliveredAt },
    last_problem: event.lastProblem,
  };
}
