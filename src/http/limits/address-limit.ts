/** How much one network address may hold open at a time: connections, or requests that a proxy passes on for it. */
import { isIPv6 } from 'node:net';
import { VerbatimError } from '../../errors.js';

export class AddressLimit {
  readonly #held = new Map<string, number>();

  constructor(readonly maximum: number) {}

  /** A place for the address, or null when it has none left; call what is returned, once, to give it back. */
  take(address: string): (() => void) | null {
    const network = networkOf(address);
    const held = this.#held.get(network) ?? 0;
    if (held >= this.maximum) return null;
    this.#held.set(network, held + 1);
    return () => this.#release(network);
  }

  #release(network: string): void {
    const left = (this.#held.get(network) ?? 1) - 1;
    if (left > 0) this.#held.set(network, left);
    else this.#held.delete(network);
  }
}

export function tooManyFromAddress(maximum: number): VerbatimError {
  const message = `The address has ${maximum} connections open, which is its limit.`;
  return new VerbatimError('rate_limited', message, { retryAfterSeconds: 1 });
}

/** One customer of a network has one IPv4 address, or all of an IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = null] = address.replace(/%.*/, '').split('::', 2);
  const front = head.split(':').filter((group) => group !== '');
  const back = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = tail === null ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16))
    .join(':');
}
