import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Countdown } from '../../../src/platform/countdown.js';
import { getCharge } from '../../../src/bank-contract/charges.js';
import { fakeBank } from '../../support/fake-bank.js';
import { respondWith, chargeJson, type Behaviour } from '../../support/hostile-responses.js';
import { until } from '../../support/until.js';

describe('a bank whose connections are all in use', () => {
  let server: Server;
  let bank: ReturnType<typeof fakeBank>;
  let behave: Behaviour;
  let requestCount: number;

  beforeEach(async () => {
    requestCount = 0;
    server = createServer((request, response) => {
      requestCount += 1;
      request.resume();
      behave(response, request);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    bank = fakeBank(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(async () => {
    bank.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('gets no request from a call that obtains a connection only after its time to send', async () => {
    const pendingResponses: (() => void)[] = [];
    behave = (response, request) => {
      pendingResponses.push(() => respondWith(200, chargeJson)(response, request));
    };
    const account = bank.addAccount();
    const input = { params: { correlationId: 'order-1' } };
    const options = { deadlineMs: 8_000 };
    // As many calls as an account has connections.
    const pendingCalls = Array.from({ length: 64 }, () =>
      bank.bank.call(getCharge, account, input, options),
    );
    await until('all connections are in use', () => pendingResponses.length === 64);
    const sendWithin = new Countdown(50);
    const lateCall = bank.bank.call(getCharge, account, input, { ...options, sendWithin });
    await until('the time to send has passed', () => sendWithin.hasEnded);
    for (const respond of pendingResponses) respond();
    expect(await lateCall).toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
    await Promise.all(pendingCalls);
    expect(requestCount).toBe(64);
  });
});
