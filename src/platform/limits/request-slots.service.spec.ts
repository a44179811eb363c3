import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { loadSettings } from '../settings/config.js';
import { waitOutsideSlot } from './request-slots.service.js';
import { RequestSlots } from './request-slots.service.js';

const clientOf = () =>
  Object.assign(new EventEmitter(), { destroyed: false }) as EventEmitter & ServerResponse;

/** Requests whose work ends when the test says so, with the names in the order of their begin. */
function requestsWith(environment: Record<string, string>) {
  const slots = new RequestSlots(loadSettings(environment));
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const openEnded = (name: string) => new Promise<void>((resolve) => ends.set(name, resolve));
  const request = (
    name: string,
    work = () => openEnded(name),
    client = clientOf(),
    requestClass: 'reads' | 'writes' = 'reads',
  ) =>
    slots.run({ accountId: 1, actor: 'key', weight: 1, requestClass }, client, async () => {
      begun.push(name);
      await work();
      return name;
    });
  const end = (name: string) => ends.get(name)?.();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, openEnded, request, end, settle };
}

const oneAtOnce = { CONCURRENT_READS: 'key=1', CONCURRENT_CHANGES: 'key=1' };

describe('a request', () => {
  it('waits for the one before it, and returns what its work returns', async () => {
    const { begun, request, end, settle } = requestsWith(oneAtOnce);
    const first = request('first');
    const second = request('second');
    await settle();
    expect(begun).toEqual(['first']);
    end('first');
    expect(await first).toBe('first');
    await settle();
    end('second');
    expect(await second).toBe('second');
  });

  it('frees its slot when its work throws', async () => {
    const { request } = requestsWith(oneAtOnce);
    await expect(request('first', () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    expect(await request('second', () => Promise.resolve())).toBe('second');
  });

  it('is refused when the queue is full, and when it has waited too long', async () => {
    const settings = { ...oneAtOnce, WAITING_REQUESTS_PER_KEY: '1', REQUEST_WAIT_MS: '1' };
    const { begun, request, end, settle } = requestsWith(settings);
    const first = request('first');
    const second = request('second');
    const refusal = (reason: string) => ({
      code: 'rate_limited',
      details: { reason, headers: { 'Retry-After': '1' } },
    });
    await expect(request('third')).rejects.toMatchObject(refusal('too_many_waiting'));
    await expect(second).rejects.toMatchObject(refusal('waited_too_long'));
    end('first');
    await first;
    await settle();
    expect(begun).toEqual(['first']);
  });

  it('whose client has disconnected is not begun', async () => {
    const { begun, request, end } = requestsWith(oneAtOnce);
    const first = request('first');
    const client = clientOf();
    const second = request('second', undefined, client);
    client.destroyed = true;
    client.emit('close');
    await expect(second).rejects.toMatchObject({ code: 'rate_limited' });
    end('first');
    await first;
    expect(await request('third', () => Promise.resolve())).toBe('third');
    expect(begun).toEqual(['first', 'third']);
  });

  it('that changes something does not wait for reads of its key', async () => {
    const { begun, request, end } = requestsWith(oneAtOnce);
    const read = request('read');
    await request('change', () => Promise.resolve(), clientOf(), 'writes');
    expect(begun).toEqual(['read', 'change']);
    end('read');
    await read;
  });
});

describe('a request that waits for the bank', () => {
  it('frees its slot at once, and goes on before requests that have not begun', async () => {
    const { begun, openEnded, request, end, settle } = requestsWith(oneAtOnce);
    const first = request('first', async () => {
      await waitOutsideSlot(() => openEnded('bank'));
      begun.push('first again');
    });
    const second = request('second');
    const third = request('third');
    await settle();
    expect(begun).toEqual(['first', 'second']);
    end('bank');
    await settle();
    expect(begun).toEqual(['first', 'second']);
    end('second');
    await Promise.all([first, second]);
    await settle();
    expect(begun).toEqual(['first', 'second', 'first again', 'third']);
    end('third');
    await third;
  });

  it('goes on without a slot when the request has ended meanwhile', async () => {
    const { begun, openEnded, request, end, settle } = requestsWith(oneAtOnce);
    const left: Promise<void>[] = [];
    await request('first', () => {
      left.push(waitOutsideSlot(() => openEnded('bank')));
      return Promise.resolve();
    });
    const second = request('second');
    end('bank');
    await Promise.all(left);
    await settle();
    end('second');
    await second;
    expect(begun).toEqual(['first', 'second']);
  });

  it('waits for the bank twice at once, and all of its work goes on', async () => {
    const { openEnded, request, end, settle } = requestsWith(oneAtOnce);
    const done: string[] = [];
    const first = request('first', async () => {
      const call = async (name: string) => {
        await waitOutsideSlot(() => openEnded(name));
        await waitOutsideSlot(() => openEnded(`${name} again`));
        done.push(name);
      };
      await Promise.all([call('one'), call('two')]);
    });
    for (const name of ['one', 'one again', 'two', 'two again']) {
      await settle();
      end(name);
    }
    expect(await first).toBe('first');
    expect(done.sort()).toEqual(['one', 'two']);
    expect(await request('second', () => Promise.resolve())).toBe('second');
  });
});
