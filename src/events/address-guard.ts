// Decides to which addresses events may be delivered. Anyone with an API key can choose an
// endpoint's URL, so the URL must not reach our own network. Both the URL and the address that it
// resolves to are checked.
import { BlockList, isIP } from 'node:net';

// IANA special-purpose registries: addresses that are not reachable over the public internet.
// 168.63.129.16 is not in them, but the host service of a cloud provider (Azure) listens there. The
// ranges of IPv6 include those that embed IPv4 addresses (mapped, 6to4, NAT64).
const reserved = blockListOf(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
  192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24
  203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 fc00::/7
  5f00::/16 fe80::/10 fec0::/10 ff00::/8`);
const loopback = blockListOf('127.0.0.0/8 ::1/128');

function blockListOf(ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.trim().split(/\s+/)) {
    const [net = '', prefix] = range.split('/');
    list.addSubnet(net, Number(prefix), isIP(net) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/**
 * Whether events may be sent to this IP address. Loopback is allowed only with the sandbox bank.
 */
export function isAddressAllowed(address: string, isLoopbackAllowed: boolean): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  const version = isIP(plain);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (loopback.check(plain, family)) return isLoopbackAllowed;
  // A mapped address in hexadecimal parses as IPv6. No endpoint needs that form, so it is refused.
  if (family === 'ipv6' && /^::ffff:/i.test(plain)) return false;
  return !reserved.check(plain, family);
}

// Ports of databases, caches and control planes, which never receive webhooks.
const reservedPorts = new Set(
  '2375 2379 3306 5432 5984 6379 6443 8500 9042 9092 9200 11211 27017'.split(' '),
);

export type UrlCheck = { ok: true; url: URL } | { ok: false; message: string };

/** Checks the form of an endpoint's URL and, where its host is an IP address, that address. */
export function checkEndpointUrl(text: string, isLoopbackAllowed: boolean): UrlCheck {
  if (!URL.canParse(text)) return { ok: false, message: 'Must be a URL.' };
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  const isLoopback = /(^|\.)localhost$/.test(host) || (isIP(host) !== 0 && isLoopbackAddress(host));
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback && isLoopbackAllowed))
    return { ok: false, message: 'Must be an https URL.' };
  if (url.username !== '' || url.password !== '')
    return { ok: false, message: 'Must not contain a user name or a password.' };
  if (isLoopback && !isLoopbackAllowed)
    return { ok: false, message: 'Must be reachable over the public internet.' };
  if (!isLoopback && url.port !== '' && (Number(url.port) < 1024 || reservedPorts.has(url.port)))
    return {
      ok: false,
      message:
        'Must use port 443, or a port from 1024 that is not reserved for databases or caches.',
    };
  if (isIP(host) !== 0 && !isAddressAllowed(host, isLoopbackAllowed))
    return { ok: false, message: 'Must be reachable over the public internet.' };
  return { ok: true, url };
}

function isLoopbackAddress(host: string): boolean {
  return loopback.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}
