// Resolves the host names of endpoints. `dns.lookup` is not used: it resolves two names at once for
// the whole process, so that a few names whose servers do not answer would delay the calls to the
// bank. Here each name has queries of its own. They share nothing with `dns.lookup`, and end at a
// deadline.
import type { RecordWithTtl } from 'node:dns';
import { CANCELLED, NODATA, NOTFOUND, Resolver, TIMEOUT } from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnModuleDestroy } from '@nestjs/common';
import { isLocalhost, parseHosts } from './host-names.js';

export interface ResolverOptions {
  /** `address:port` of DNS servers. Without them: those of the operating system. */
  servers?: readonly string[];
  hostsFile?: string;
  /** How long a look-up may last. */
  deadlineMs?: number;
}

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

interface CachedAnswer {
  addresses: Promise<ResolvedAddress[]>;
  /** By the monotonic clock of this process; infinite while the look-up is under way. */
  expiresAtMs: number;
}

const tryTimeoutMs = 1_500;
const tries = 3;
/** How long the query for IPv6 addresses may last once there are IPv4 addresses. */
const graceMs = 250;
const minTtlMs = 1_000;
const maxTtlMs = 60_000;
const failureTtlMs = 5_000;
const maxCachedNames = 1_000;
const defaultHostsFile =
  process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

export class NameResolver implements OnModuleDestroy {
  private readonly answers = new Map<string, CachedAnswer>();
  private readonly underWay = new Set<Resolver>();
  private hosts = { version: '', addresses: new Map<string, string[]>() };

  constructor(private readonly options: ResolverOptions = {}) {}

  /**
   * The addresses of a full name; search domains are not added. Concurrent calls for one name share
   * its queries. Throws an error whose `code` is `DNS_NOT_FOUND`, `DNS_TIMEOUT` or `DNS_FAILED`.
   */
  async resolve(hostname: string): Promise<ResolvedAddress[]> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (isLocalhost(name)) return ['127.0.0.1', '::1'].map(withFamily);
    const fromHosts = this.readHosts().get(name);
    if (fromHosts) return fromHosts.map(withFamily);
    const cached = this.answers.get(name);
    if (cached && performance.now() < cached.expiresAtMs) return cached.addresses;
    const answer = this.lookUp(name);
    this.store(name, answer);
    return answer.addresses;
  }

  onModuleDestroy(): void {
    for (const resolver of this.underWay) resolver.cancel();
  }

  private lookUp(name: string): CachedAnswer {
    const expireAfter = (ms: number) => (answer.expiresAtMs = performance.now() + ms);
    const addresses = this.query(name).then(
      (records) => {
        const ttlMs = Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
        expireAfter(Math.min(Math.max(ttlMs, minTtlMs), maxTtlMs));
        return records.map(({ address }) => withFamily(address));
      },
      (error: unknown) => {
        expireAfter(failureTtlMs);
        throw error;
      },
    );
    const answer: CachedAnswer = { addresses, expiresAtMs: Infinity };
    return answer;
  }

  private store(name: string, answer: CachedAnswer): void {
    this.answers.delete(name);
    const [oldest] = this.answers.keys();
    if (oldest !== undefined && this.answers.size >= maxCachedNames) this.answers.delete(oldest);
    this.answers.set(name, answer);
  }

  /** A resolver of its own for each name: `cancel` ends all queries of a resolver. */
  private async query(name: string): Promise<RecordWithTtl[]> {
    const resolver = new Resolver({ timeout: tryTimeoutMs, tries });
    if (this.options.servers) resolver.setServers(this.options.servers);
    this.underWay.add(resolver);
    const deadline = setTimeout(() => resolver.cancel(), this.options.deadlineMs ?? 6_000);
    try {
      const v4 = settled(resolver.resolve4(name, { ttl: true }));
      const v6 = settled(resolver.resolve6(name, { ttl: true }));
      const { records, errorCode } = await v4;
      // Some servers never answer the query for IPv6 addresses. A name that does not exist has
      // none.
      if (records.length > 0) await Promise.race([v6, sleep(graceMs)]);
      else if (errorCode !== NOTFOUND) await v6;
      resolver.cancel();
      const both = [...records, ...(await v6).records];
      if (both.length === 0) throw failureOf([errorCode, (await v6).errorCode]);
      return both;
    } finally {
      clearTimeout(deadline);
      this.underWay.delete(resolver);
    }
  }

  /**
   * Read synchronously, and again only after a change: an asynchronous read would wait for threads
   * in which `dns.lookup` may wait.
   */
  private readHosts(): Map<string, string[]> {
    const path = this.options.hostsFile ?? defaultHostsFile;
    const stats = statSync(path, { throwIfNoEntry: false });
    const version = stats ? `${stats.mtimeMs} ${stats.size}` : '';
    if (version !== this.hosts.version)
      this.hosts = { version, addresses: parseHosts(stats ? readFileSync(path, 'utf8') : '') };
    return this.hosts.addresses;
  }
}

interface Settled {
  records: RecordWithTtl[];
  errorCode: string | null;
}

async function settled(query: Promise<RecordWithTtl[]>): Promise<Settled> {
  try {
    return { records: await query, errorCode: null };
  } catch (error) {
    return { records: [], errorCode: (error as NodeJS.ErrnoException).code ?? '' };
  }
}

function failureOf(errorCodes: readonly (string | null)[]): Error {
  const hasOnly = (...codes: string[]) => errorCodes.every((code) => codes.includes(code ?? ''));
  // A name without addresses, or whose second query was cancelled because it does not exist.
  const isMissing = hasOnly(NODATA) || errorCodes[0] === NOTFOUND;
  const isLate = errorCodes.some((code) => code === CANCELLED || code === TIMEOUT);
  const code = isMissing ? 'DNS_NOT_FOUND' : isLate ? 'DNS_TIMEOUT' : 'DNS_FAILED';
  return Object.assign(new Error(`name not resolved: ${code}`), { code });
}

function withFamily(address: string): ResolvedAddress {
  return { address, family: isIP(address) === 4 ? 4 : 6 };
}
