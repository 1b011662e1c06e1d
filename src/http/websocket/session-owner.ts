/** Who a live session belongs to, and whether its transcript is kept. */
import type { Identity } from '../../ledger/types.js';
import type { SessionOwner } from '../../live/service.js';
import type { HttpDeps } from '../app/deps.js';
import { invalid } from '../schema/shape.js';
import type { SocketRequest } from './upgrade.js';

/** `endpoint`: the path of the protocol. Rejects with `invalid_request` where `keep` in the address is no boolean. */
export async function sessionOwner(
  { library }: Pick<HttpDeps, 'library'>,
  { id, query }: Pick<SocketRequest, 'id' | 'query'>,
  { account, key }: Pick<Identity, 'account' | 'key'>,
  endpoint: string,
): Promise<SessionOwner> {
  const source = { kind: 'live', name: key.name } as const;
  const keep = await library.keeping.orderFor(account.id, { keep: keepIn(query), title: null, source });
  return { accountId: account.id, keyId: key.id, requestId: id, endpoint, keep };
}

/** null: the client leaves it to the account's setting. */
function keepIn(query: URLSearchParams): boolean | null {
  const given = query.getAll('keep');
  if (given.length === 0) return null;
  const value = given.length === 1 ? given[0]?.toLowerCase() : undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalid('keep', 'keep must be true or false.');
}
