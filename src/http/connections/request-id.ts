import { randomUUID } from 'node:crypto';

/** Names a request in its answer and in the log. A request that no application saw has one, too. */
export function newRequestId(): string {
  return `req_${randomUUID()}`;
}
