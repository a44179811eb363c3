import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { listTransactions } from '../../../src/bank-contract/statement.js';
import { createCustomer } from '../../../src/bank-contract/customers.js';
import {
  bankTlsPair,
  clientOneTls,
  clientTwoTls,
  fakeBank,
  tlsAuthority,
} from '../../support/fake-bank.js';
import { until } from '../../support/until.js';

describe('a bank that requires a client certificate', () => {
  let server: Server;
  let fake: ReturnType<typeof fakeBank>;
  let requests: { clientName: unknown; path: string }[];
  let delayNext: Promise<void> | null;

  beforeEach(async () => {
    [requests, delayNext] = [[], null];
    server = createServer(
      { ...bankTlsPair, ca: tlsAuthority, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        const clientName = (request.socket as TLSSocket).getPeerCertificate().subject?.CN;
        requests.push({ clientName, path: request.url ?? '' });
        request.resume();
        const delay = delayNext;
        delayNext = null;
        void (delay ?? Promise.resolve()).then(() => response.end('[]'));
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    fake = fakeBank(url, `${url}/partners`);
  });
  afterEach(async () => {
    fake.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const call = (account: ReturnType<typeof fake.addAccount>) =>
    fake.bank.call(listTransactions, account, { query: {} } as never);
  const success = { outcome: 'success' };

  it('receives the certificate of each account, on connections of its own', async () => {
    const one = fake.addAccount({ tls: { ...clientOneTls, ca: tlsAuthority } });
    const two = fake.addAccount({ tls: { ...clientTwoTls, ca: tlsAuthority } });
    for (const account of [one, two, one, two]) expect(await call(account)).toMatchObject(success);
    const names = requests.map(({ clientName }) => clientName);
    expect(names).toEqual([
      'test client-one',
      'test client-two',
      'test client-one',
      'test client-two',
    ]);
  });

  it('receives a changed certificate at once, while calls in progress finish as usual', async () => {
    const account = fake.addAccount({ tls: { ...clientOneTls, ca: tlsAuthority } });
    let release: () => void = () => undefined;
    delayNext = new Promise((resolve) => (release = resolve));
    const inProgress = call(account);
    await until('the call is in progress', () => Promise.resolve(requests.length === 1));
    fake.changeCredentials(account, { tls: { ...clientTwoTls, ca: tlsAuthority } });
    expect(await call(account)).toMatchObject(success);
    release();
    expect(await inProgress).toMatchObject(success);
    expect(await call(account)).toMatchObject(success);
    expect(requests.map(({ clientName }) => clientName).slice(1)).toEqual([
      'test client-two',
      'test client-two',
    ]);
  });

  it('gets no request of an account without a certificate', async () => {
    const account = fake.addAccount({ tls: { certificate: null, key: null, ca: tlsAuthority } });
    expect((await call(account)).outcome).toBe('unknown');
    expect(requests).toEqual([]);
  });

  it('gets no request when its certificate is not trusted', async () => {
    const account = fake.addAccount({ tls: { ...clientOneTls, ca: null } });
    expect(await call(account)).toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
    expect(requests).toEqual([]);
  });

  it('gets partner requests at its address for partners, with the partner key only', async () => {
    const account = fake.addAccount({ tls: { ...clientOneTls, ca: tlsAuthority } });
    await fake.bank.call(createCustomer, account, {}, { exactBody: '{}' });
    expect(requests.map(({ path }) => path)).toEqual([`/partners${createCustomer.path}`]);
    const withoutKey = fake.addAccount({ partnerKey: null });
    const response = await fake.bank.call(createCustomer, withoutKey, {}, { exactBody: '{}' });
    expect(response).toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
    expect(requests).toHaveLength(1);
  });
});
