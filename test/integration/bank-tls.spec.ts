import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { listTransactions } from '../../src/contract/statement.js';
import { createCustomer } from '../../src/contract/customers.js';
import { fakeBank } from '../support/fake-bank.js';
import { until } from '../support/until.js';
import { authority, bankPair, clientOne, clientTwo } from '../support/tls-material.js';

describe('a bank that asks for a certificate', () => {
  let server: Server;
  let door: ReturnType<typeof fakeBank>;
  let seen: { who: unknown; path: string }[];
  let holdNext: Promise<void> | null;

  beforeEach(async () => {
    [seen, holdNext] = [[], null];
    server = createServer(
      { ...bankPair, ca: authority, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        const who = (request.socket as TLSSocket).getPeerCertificate().subject?.CN;
        seen.push({ who, path: request.url ?? '' });
        request.resume();
        const held = holdNext;
        holdNext = null;
        void (held ?? Promise.resolve()).then(() => response.end('[]'));
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    door = fakeBank(url, `${url}/partners`);
  });
  afterEach(async () => {
    door.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (account: ReturnType<typeof door.account>) =>
    door.bank.call(listTransactions, account, { query: {} } as never);
  const success = { outcome: 'success' };

  it('is shown each account’s own, on connections of its own', async () => {
    const one = door.account({ tls: { ...clientOne, ca: authority } });
    const two = door.account({ tls: { ...clientTwo, ca: authority } });
    for (const account of [one, two, one, two]) expect(await ask(account)).toMatchObject(success);
    const names = seen.map(({ who }) => who);
    expect(names).toEqual([
      'test client-one',
      'test client-two',
      'test client-one',
      'test client-two',
    ]);
  });

  it('is shown the new one as soon as it is changed, and calls under way end as they would', async () => {
    const account = door.account({ tls: { ...clientOne, ca: authority } });
    let release: () => void = () => undefined;
    holdNext = new Promise((resolve) => (release = resolve));
    const underWay = ask(account);
    await until('the call is under way', () => Promise.resolve(seen.length === 1));
    door.changeCredentials(account, { tls: { ...clientTwo, ca: authority } });
    expect(await ask(account)).toMatchObject(success);
    release();
    expect(await underWay).toMatchObject(success);
    expect(await ask(account)).toMatchObject(success);
    expect(seen.map(({ who }) => who).slice(1)).toEqual(['test client-two', 'test client-two']);
  });

  it('gets nothing from an account without one', async () => {
    const account = door.account({ tls: { certificate: null, key: null, ca: authority } });
    expect((await ask(account)).outcome).toBe('unknown');
    expect(seen).toEqual([]);
  });

  it('is not spoken to when it is not the bank: nothing was sent', async () => {
    const account = door.account({ tls: { ...clientOne, ca: null } });
    expect(await ask(account)).toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
    expect(seen).toEqual([]);
  });

  it('is asked at its address for partners with the partner’s key', async () => {
    const account = door.account({ tls: { ...clientOne, ca: authority } });
    await door.bank.call(createCustomer, account, {}, { exactBody: '{}' });
    expect(seen.map(({ path }) => path)).toEqual([`/partners${createCustomer.path}`]);
    const without = door.account({ partnerKey: null });
    const got = await door.bank.call(createCustomer, without, {}, { exactBody: '{}' });
    expect(got).toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
    expect(seen).toHaveLength(1);
  });
});
