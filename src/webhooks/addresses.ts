/**
 * Which addresses a webhook may be sent to: those of the public internet, and those that the operator has named.
 * Otherwise anybody with a key could reach what this machine reaches: its own services, its network's, the cloud's
 * metadata.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** What this operator's webhooks may reach beside the internet. */
interface Exceptions {
  networks: [Address, number][];
  /** In lower case. */
  names: Set<string>;
}

export class AddressGuard {
  readonly #allowed: Exceptions = { networks: [], names: new Set() };

  /** `allowed`: addresses, networks (10.1.0.0/16) and host names; see isAllowEntry(). */
  constructor(allowed: readonly string[]) {
    for (const entry of allowed) {
      const network = networkOf(entry);
      if (network === null) this.#allowed.names.add(entry.toLowerCase());
      else this.#allowed.networks.push(network);
    }
  }

  /** Of an address in text that `hostname` stands for, or is. */
  permits(address: string, hostname: string): boolean {
    if (this.#allowed.names.has(hostname.toLowerCase())) return true;
    if (!ipaddr.isValid(address)) return false;
    // An IPv4 address that is written as IPv6 counts as IPv4.
    const plain = ipaddr.process(address);
    const isNamed = this.#allowed.networks.some(
      ([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits),
    );
    return isNamed || isPublic(plain);
  }
}

/** The library calls every address outside its ranges unicast. Of IPv6 only 2000::/3 is assigned. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}

/** Whether the text names an address, a network or a host. */
export function isAllowEntry(text: string): boolean {
  return networkOf(text) !== null || /^(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(text);
}

function networkOf(text: string): [Address, number] | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  if (!isAddress) return null;
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
