import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { AuthenticationFailures } from './authentication-failures.service.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const clientOf = (destroyed = false) =>
  Object.assign(new EventEmitter(), { destroyed }) as EventEmitter & ServerResponse;

/** Failures of one address, with the codes of the responses in the order in which they are sent. */
function failuresOfOne() {
  const failures = new AuthenticationFailures(pino({ level: 'silent' }));
  const sent: string[] = [];
  const fail = (client = clientOf(), body?: Buffer) => {
    const request = { ip: '203.0.113.1', body } as FastifyRequest;
    void failures.refusal(request, client).then(({ code }) => sent.push(code));
    return request;
  };
  const failMany = (count: number) => {
    for (let index = 0; index < count; index += 1) fail();
  };
  const sentAfter = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    return sent.splice(0);
  };
  return { fail, failMany, sentAfter };
}

it('holds responses beyond the limit for a second, and refuses what it cannot hold', async () => {
  const { failMany, sentAfter } = failuresOfOne();
  failMany(10 + 1_000 + 5);
  const atOnce = await sentAfter(0);
  expect(atOnce.filter((code) => code === 'unauthenticated')).toHaveLength(10);
  expect(atOnce.filter((code) => code === 'rate_limited')).toHaveLength(5);
  expect(await sentAfter(999)).toEqual([]);
  expect(await sentAfter(1)).toEqual(Array(1_000).fill('unauthenticated'));
});

it('holds nothing for a client that disconnects, and no body for any', async () => {
  const { fail, failMany, sentAfter } = failuresOfOne();
  failMany(10);
  await sentAfter(0);
  const clients = Array.from({ length: 1_000 }, () => clientOf());
  const [request] = clients.map((client) => fail(client, Buffer.alloc(10)));
  expect(request?.body).toBeUndefined();
  for (const client of clients) client.emit('close');
  expect(await sentAfter(0)).toHaveLength(1_000);
  expect(clients.map((client) => client.listenerCount('close'))).toEqual(Array(1_000).fill(0));
  expect(jest.getTimerCount()).toBe(0);
  fail(clientOf(true));
  expect(await sentAfter(0)).toEqual(['unauthenticated']);
  failMany(1_000);
  expect(await sentAfter(0)).toEqual([]);
});
