// Decides to which addresses events may be delivered. Anyone with an API key can choose an
// endpoint's URL, so the URL must not reach our own network. The URL is checked when it is stored
// and before each request, and each address that its host resolves to before a connection to it.
import { BlockList, isIP } from 'node:net';
import { isHostName, isLocalhost } from './host-names.js';

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

/** Where this process may deliver events. */
export interface AddressRules {
  /** Only with the sandbox bank: endpoints of a developer are on the same machine. */
  isLoopbackAllowed: boolean;
  /** Ports on loopback that belong to the service itself, its databases and the sandbox bank. */
  ownPorts: ReadonlySet<number>;
}

/** Whether events may be sent to this IP address at this port. */
export function isAddressAllowed(address: string, port: number, rules: AddressRules): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  const version = isIP(plain);
  // A zone (`fe80::1%eth0`) names an interface of our own machine.
  if (version === 0 || plain.includes('%')) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (loopback.check(plain, family)) return isLoopbackPortAllowed(port, rules);
  // A mapped address in hexadecimal parses as IPv6. No endpoint needs that form, so it is refused.
  if (family === 'ipv6' && /^::ffff:/i.test(plain)) return false;
  return !reserved.check(plain, family);
}

function isLoopbackPortAllowed(port: number, { isLoopbackAllowed, ownPorts }: AddressRules) {
  return isLoopbackAllowed && isFreePort(port) && !ownPorts.has(port);
}

// Ports of databases, caches and control planes, which never receive webhooks.
const reservedPorts = new Set([
  2375, 2379, 3306, 5432, 5984, 6379, 6443, 8500, 9042, 9092, 9200, 11211, 27017,
]);

/** Ports below 1024 belong to other services of a machine. */
function isFreePort(port: number): boolean {
  return port >= 1024 && !reservedPorts.has(port);
}

export type UrlCheck =
  { ok: true; url: string; host: string; port: number } | { ok: false; message: string };

/**
 * Checks the form of an endpoint's URL and, where its host is an IP address, that address. The
 * returned URL is normalized, so that equal URLs are one text: scheme and host in lower case, an
 * international name in its ASCII form, no dot at the end of the host, no default port, no `.` and
 * `..` in the path.
 */
export function checkEndpointUrl(text: string, rules: AddressRules): UrlCheck {
  if (!URL.canParse(text)) return refused('Must be a URL.');
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  const isAddress = isIP(host) !== 0;
  const isLoopback = isAddress ? isLoopbackAddress(host) : isLocalhost(host);
  const isHttp = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !(isHttp && isLoopback && rules.isLoopbackAllowed))
    return refused('Must be an https URL.');
  if (url.username !== '' || url.password !== '')
    return refused('Must not contain a user name or a password.');
  // `url.hash` is empty for a `#` at the end.
  if (url.href.includes('#')) return refused('Must not contain a fragment (#).');
  if (!isAddress && !isHostName(host)) return refused('Must have a valid host name.');
  const port = url.port === '' ? (isHttp ? 80 : 443) : Number(url.port);
  if (isLoopback && !rules.isLoopbackAllowed) return refused(notPublic);
  if (!isFreePort(port) && (isLoopback || url.port !== ''))
    return refused(
      'Must use port 443, or a port from 1024 that is not reserved for databases or caches.',
    );
  if (isLoopback && rules.ownPorts.has(port))
    return refused('Must not use a port of the service, its databases or the sandbox bank.');
  if (isAddress && !isAddressAllowed(host, port, rules)) return refused(notPublic);
  if (!isAddress) url.hostname = host;
  return { ok: true, url: url.href, host, port };
}

const notPublic = 'Must be reachable over the public internet.';

function refused(message: string): UrlCheck {
  return { ok: false, message };
}

function isLoopbackAddress(host: string): boolean {
  return loopback.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}
