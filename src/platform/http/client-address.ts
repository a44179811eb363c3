// The address of the client that sent a request: of the connection, or what a trusted proxy says.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { TrustedProxies } from '../settings/request-limit-settings.js';

/**
 * Which entries of `X-Forwarded-For` Fastify believes, from the connection's own address back. With
 * a number of proxies, that many are believed whatever their address.
 */
export function trustProxyOption(
  trusted: TrustedProxies,
): false | string[] | ((address: string, hop: number) => boolean) {
  // Fastify believes nobody when it is given the number itself.
  if (typeof trusted === 'number') return trusted > 0 && ((_, hop) => hop < trusted);
  return trusted.length > 0 && [...trusted];
}

/** A text in the header that is no address stands for the proxy that sent it. */
export function addressOf(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return isIP(request.ip) ? request.ip : (request.socket.remoteAddress ?? '');
}

/**
 * What counts as one address for a limit. A client with IPv6 has at least a network of 64 bits to
 * choose its address from.
 */
export function limitedAddressOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = head.split(':').filter(Boolean);
  if (tail !== undefined) {
    const after = tail.split(':').filter(Boolean);
    // An IPv4 tail stands for two groups.
    const afterCount = after.length + (tail.includes('.') ? 1 : 0);
    groups.push(...Array.from({ length: 8 - groups.length - afterCount }, () => '0'), ...after);
  }
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
