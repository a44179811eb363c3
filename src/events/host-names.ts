// Host names: their form, and those that are known without DNS.
import { isIP } from 'node:net';

/** `localhost` and the names below it always mean the machine itself (RFC 6761). */
export function isLocalhost(host: string): boolean {
  return /(^|\.)localhost$/.test(host);
}

/** Whether DNS can hold the name: its parts have 1 to 63 characters, and all of it at most 253. */
export function isHostName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((part) => /^.{1,63}$/.test(part));
}

/**
 * The addresses of each name in the operating system's hosts file, in the order of the file. Names
 * are in lower case.
 */
export function parseHosts(text: string): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of new Set(names.map((one) => one.toLowerCase())))
      addresses.set(name, [...(addresses.get(name) ?? []), address]);
  }
  return addresses;
}
