// The names of endpoints are resolved by queries of their own, to a DNS server of this test.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { NameResolver } from '../../../src/events/name-resolver.service.js';
import { DnsServer, nameError, type DnsAnswer } from '../../support/dns-server.js';
import { encryptedSecretOf, endpointServices } from '../../support/endpoint-services.js';
import { listenHttp } from '../../support/http-listener.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { until } from '../../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'endpoint-names-'));
const hostsFile = join(folder, 'hosts');
let dns: DnsServer;
let names: NameResolver;
let ends: (() => unknown)[];

beforeEach(async () => {
  writeFileSync(hostsFile, '');
  dns = await DnsServer.listen();
  names = resolverWith({});
  ends = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  names.onModuleDestroy();
  for (const end of ends) await end();
  await dns.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

function resolverWith(options: { deadlineMs?: number }) {
  return new NameResolver({ servers: [dns.address], hostsFile, ...options });
}

/** Answers with these addresses, each for its own record type. */
const answerWith = (addresses: string[], ttl?: number) => {
  dns.answer = ({ type }) => ({
    addresses: addresses.filter((address) => address.includes(':') === (type === 'AAAA')),
    ...(ttl === undefined ? {} : { ttl }),
  });
};
const addressesOf = async (name: string) =>
  (await names.resolve(name)).map(({ address }) => address);
const errorOf = (name: string) =>
  names.resolve(name).then(
    () => 'resolved',
    (error: NodeJS.ErrnoException) => error.code,
  );
/** Stops the process's monotonic clock, that many seconds from now. */
const stopClock = (seconds = 0) => {
  const now = performance.now() + seconds * 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
};

describe('a name', () => {
  it('resolves to its IPv4 and IPv6 addresses', async () => {
    let answerNext = () => undefined as void;
    const isAnswered = new Promise<void>((resolve) => (answerNext = resolve));
    dns.answer = async ({ type }) => {
      // The IPv6 addresses come first: the look-up does not wait long for them.
      if (type === 'AAAA') answerNext();
      else await isAnswered;
      return { addresses: type === 'A' ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8::1'] };
    };
    expect(await names.resolve('HOOKS.example.')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
    expect(dns.count('hooks.example')).toBe(1);
  });

  it('is queried once for all look-ups that are under way at once', async () => {
    let release: (answer: DnsAnswer) => void = () => undefined;
    const answered = new Promise<DnsAnswer>((resolve) => (release = resolve));
    dns.answer = ({ type }) => (type === 'A' ? answered : { addresses: [] });
    const lookUps = Array.from({ length: 50 }, () => addressesOf('hooks.example'));
    await until('the query has come', () => dns.count('hooks.example') > 0);
    release({ addresses: ['192.0.2.1'] });
    for (const addresses of await Promise.all(lookUps)) expect(addresses).toEqual(['192.0.2.1']);
    expect([dns.count('hooks.example'), dns.count('hooks.example', 'AAAA')]).toEqual([1, 1]);
  });

  it.each([
    [0, 1],
    [20, 20],
    [1_000_000, 60],
  ])('with a TTL of %i seconds is queried again after %i seconds', async (ttl, seconds) => {
    stopClock();
    answerWith(['192.0.2.1'], ttl);
    await addressesOf('hooks.example');
    await addressesOf('hooks.example');
    expect(dns.count('hooks.example')).toBe(1);
    answerWith(['192.0.2.2'], ttl);
    stopClock(seconds);
    expect(await addressesOf('hooks.example')).toEqual(['192.0.2.2']);
  });

  it('that does not exist is queried again after five seconds', async () => {
    stopClock();
    dns.answer = () => nameError;
    expect(await errorOf('hooks.example')).toBe('DNS_NOT_FOUND');
    answerWith(['192.0.2.1']);
    expect(await errorOf('hooks.example')).toBe('DNS_NOT_FOUND');
    stopClock(5);
    expect(await addressesOf('hooks.example')).toEqual(['192.0.2.1']);
  });

  it('without addresses is not found, and a refused query has failed', async () => {
    answerWith([]);
    expect(await errorOf('empty.example')).toBe('DNS_NOT_FOUND');
    dns.answer = () => ({ errorCode: 5 });
    expect(await errorOf('refused.example')).toBe('DNS_FAILED');
  });

  it('has its IPv4 addresses although the query for IPv6 addresses is never answered', async () => {
    dns.answer = ({ type }) => (type === 'A' ? { addresses: ['192.0.2.1'] } : null);
    expect(await addressesOf('hooks.example')).toEqual(['192.0.2.1']);
  });

  it('that no server answers for fails at the deadline', async () => {
    names = resolverWith({ deadlineMs: 200 });
    dns.answer = () => null;
    expect(await errorOf('silent.example')).toBe('DNS_TIMEOUT');
  });

  it('is no longer looked up when the process stops', async () => {
    names = resolverWith({ deadlineMs: 600_000 });
    dns.answer = () => null;
    const failed = errorOf('silent.example');
    await until('the query has come', () => dns.count('silent.example') > 0);
    names.onModuleDestroy();
    expect(await failed).toBe('DNS_TIMEOUT');
  });

  it('of the hosts file is not queried for, and changes with the file', async () => {
    writeFileSync(hostsFile, '127.0.0.1 Shop.example\n::1 shop.example');
    expect(await addressesOf('shop.example')).toEqual(['127.0.0.1', '::1']);
    writeFileSync(hostsFile, '127.0.0.2 shop.example');
    expect(await addressesOf('shop.example')).toEqual(['127.0.0.2']);
    rmSync(hostsFile);
    expect(await errorOf('shop.example')).toBe('DNS_NOT_FOUND');
    expect(dns.count('shop.example')).toBe(1);
  });

  it('localhost, and each name below it, is the machine itself', async () => {
    for (const name of ['localhost', 'LOCALHOST.', 'hooks.localhost'])
      expect(await addressesOf(name)).toEqual(['127.0.0.1', '::1']);
    expect(dns.queries).toEqual([]);
  });

  it('that no server answers for delays neither another name nor the calls to the bank', async () => {
    names = resolverWith({ deadlineMs: 600_000 });
    dns.answer = ({ name, type }) => {
      if (name !== 'hooks.example') return null;
      return type === 'A' ? { addresses: ['192.0.2.1'] } : nameError;
    };
    const silent = Array.from({ length: 200 }, (_, index) => errorOf(`silent-${index}.example`));
    const isPending = jest.fn();
    void Promise.race(silent).then(isPending);
    expect(await addressesOf('hooks.example')).toContain('192.0.2.1');
    // How the bank's name is resolved.
    expect(await lookup('localhost')).toMatchObject({ address: expect.any(String) });
    expect(isPending).not.toHaveBeenCalled();
    names.onModuleDestroy();
    await Promise.all(silent);
  });
});

describe('deliveries', () => {
  let service: ServiceDatabase;
  let server: Server;
  let connections: number;
  let port: number;

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    connections = 0;
    server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined).destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    ends.push(() => new Promise((resolve) => server.close(resolve)));
  });
  afterEach(() =>
    service.database.pool.query('TRUNCATE delivery, event, event_position, webhook_endpoint'),
  );

  const servicesWith = (options: Parameters<typeof endpointServices>[1] = {}) => {
    const services = endpointServices(service, { names, ...options });
    ends.push(services.close);
    return services;
  };
  const insertEndpoint = async (url: string) => {
    const { accountId } = service;
    const endpointId = randomUUID();
    const secret = encryptedSecretOf(accountId, endpointId);
    await service.database.prisma.webhookEndpoint.create({
      data: { accountId, id: endpointId, url, eventTypes: [], secret },
    });
    return { accountId, endpointId };
  };
  type Services = ReturnType<typeof servicesWith>;
  const record = ({ events }: Services, count = 1) =>
    service.database.transaction(async (tx) =>
      events.record(
        tx,
        service.accountId,
        Array.from({ length: count }, (_, index) => ({
          type: 'charge.paid' as const,
          resource: { kind: 'charge' as const, id: `order-${index}` },
          data: {},
        })),
      ),
    );
  /** Makes one attempt to deliver an event to this URL, and returns its error. */
  const attempt = async (url: string, services: Services) => {
    const endpoint = await insertEndpoint(url);
    await record(services);
    await services.delivery.deliverDue(endpoint);
    const { endpointId } = endpoint;
    return (await service.database.prisma.delivery.findFirstOrThrow({ where: { endpointId } }))
      .lastError;
  };

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1'])(
    'connect to no name that resolves to %s',
    async (address) => {
      answerWith([address]);
      const services = servicesWith({ profile: 'generic' });
      const error = await attempt(`https://hooks.example:${port}/`, services);
      expect([error, connections]).toEqual(['address_refused', 0]);
      expect(dns.queries.length).toBeGreaterThan(0);
    },
  );

  it('connect to a name that resolves to loopback with the sandbox bank only', async () => {
    answerWith(['10.0.0.1', '127.0.0.1']);
    await attempt(`https://hooks.example:${port}/`, servicesWith());
    expect(connections).toBe(1);
  });

  it('connect to no port of the service by a name that resolves to loopback', async () => {
    answerWith(['127.0.0.1']);
    const services = servicesWith({ ownPorts: [port] });
    const error = await attempt(`https://hooks.example:${port}/`, services);
    expect([error, connections]).toEqual(['address_refused', 0]);
  });

  it('are checked at each connection: a name that is bound to another address is refused', async () => {
    const services = servicesWith();
    answerWith(['127.0.0.1'], 0);
    expect(await attempt(`https://hooks.example:${port}/`, services)).not.toBe('address_refused');
    expect(connections).toBe(1);
    answerWith(['10.0.0.1'], 0);
    stopClock(1);
    expect(await attempt(`https://hooks.example:${port}/`, services)).toBe('address_refused');
    expect(connections).toBe(1);
  });

  it('fail with the reason when the name does not resolve', async () => {
    const url = `https://hooks.example:${port}/`;
    expect(await attempt(url, servicesWith())).toBe('dns_not_found');
    dns.answer = () => null;
    const late = servicesWith({ names: resolverWith({ deadlineMs: 100 }) });
    expect(await attempt(url, late)).toBe('dns_timeout');
  });

  it('do not wait for the threads in which the bank’s name is resolved', async () => {
    const received: string[] = [];
    const listener = await listenHttp(({ text }, response) => {
      received.push(text);
      response.end();
    });
    ends.push(listener.close);
    const services = servicesWith();
    const endpoint = await insertEndpoint(`http://localhost:${new URL(listener.url).port}/`);
    await record(services);
    const free = occupyThreads();
    try {
      await services.delivery.deliverDue(endpoint);
    } finally {
      await free();
    }
    expect(received).toHaveLength(1);
  });

  it('to one host are at most 50 at once, and delay no other host', async () => {
    let held: (() => void)[] = [];
    let isOpen = false;
    const listener = await listenHttp(({ path }, response) => {
      if (isOpen || path === '/fast') response.end();
      else held.push(() => response.end());
    });
    ends.push(listener.close);
    const services = servicesWith();
    const slow: Awaited<ReturnType<typeof insertEndpoint>>[] = [];
    for (let index = 0; index < 6; index += 1) slow.push(await insertEndpoint(listener.url));
    const fast = await insertEndpoint(
      `${listener.url.replace('127.0.0.1', 'hooks.localhost')}/fast`,
    );
    await record(services, 10);
    const deliver = (endpoint: (typeof slow)[number]) => services.delivery.deliverDue(endpoint);
    const [last, ...others] = slow as [(typeof slow)[number], ...typeof slow];
    const runs = others.map(deliver);
    await until('the host has its most requests', () => held.length === 50);
    await deliver(last);
    const stateOf = ({ endpointId }: (typeof slow)[number]) =>
      service.database.prisma.delivery.groupBy({
        by: ['state', 'attempts'],
        where: { endpointId },
        _count: true,
      });
    expect(await stateOf(last)).toEqual([{ state: 'pending', attempts: 0, _count: 10 }]);
    await deliver(fast);
    expect(await stateOf(fast)).toEqual([{ state: 'delivered', attempts: 1, _count: 10 }]);
    isOpen = true;
    for (const respond of held) respond();
    held = [];
    await Promise.all(runs);
    await deliver(last);
    expect(await stateOf(last)).toEqual([{ state: 'delivered', attempts: 1, _count: 10 }]);
  });
});

/** Occupies the threads of libuv's pool, as look-ups of the operating system do. */
function occupyThreads(): () => Promise<void> {
  const path = join(folder, 'fifo');
  execFileSync('mkfifo', [path]);
  // Opening a pipe to read it waits until another one opens it to write.
  const opened = Array.from({ length: 8 }, () => open(path, 'r'));
  return async () => {
    const writer = openSync(path, 'r+');
    for (const handle of await Promise.all(opened)) await handle.close();
    closeSync(writer);
    rmSync(path);
  };
}
