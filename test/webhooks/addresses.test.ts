/** Which addresses webhooks may go to. */
import { expect } from 'chai';
import { AddressGuard, isAllowEntry } from '../../src/webhooks/addresses.js';

describe('AddressGuard', () => {
  const guard = new AddressGuard([]);

  const REFUSED = [
    ...['127.0.0.1', '127.8.9.1', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'fec0::1', 'ff02::1', '2001:db8::1', '100::1'],
    // IPv4 in IPv6: mapped, compatible, translated, 6to4, Teredo.
    ...['::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1'],
    ...['2002:7f00:1::1', '2001::1', '4000::1', 'fd00:ec2::254'],
    'no address',
  ];
  for (const address of REFUSED) {
    it(`refuses ${address}`, () => expect(guard.permits(address, 'example.org')).to.equal(false));
  }

  for (const address of ['1.1.1.1', '93.184.216.34', '::ffff:1.1.1.1', '2606:4700::1111', '2a00:1450:4001::200e']) {
    it(`permits ${address}`, () => expect(guard.permits(address, 'example.org')).to.equal(true));
  }

  it('permits what the operator names: an address, a network, a host, and nothing beside it', () => {
    const named = new AddressGuard(['10.1.0.0/16', '192.168.7.7', 'fd12::/16', 'N8N.internal']);
    const permits = (address: string, host = 'example.org'): boolean => named.permits(address, host);
    expect(['10.1.2.3', '::ffff:10.1.2.3', '192.168.7.7', 'fd12::9'].every((one) => permits(one))).to.equal(true);
    expect(['10.2.0.1', '192.168.7.8', 'fd13::9', '127.0.0.1'].some((one) => permits(one))).to.equal(false);
    expect(permits('127.0.0.1', 'n8n.internal')).to.equal(true);
    expect(permits('127.0.0.1', 'other.internal')).to.equal(false);
  });

  it('knows what an operator may name', () => {
    for (const entry of ['10.0.0.1', '10.0.0.0/8', 'fd00::/8', '::1', 'localhost', 'n8n.internal', 'a-b.c']) {
      expect(isAllowEntry(entry), entry).to.equal(true);
    }
    for (const entry of ['', 'http://n8n', '10.0.0.0/33', 'n8n:5678', '-a', 'a b', '*.internal', 'a..b']) {
      expect(isAllowEntry(entry), entry).to.equal(false);
    }
  });
});
