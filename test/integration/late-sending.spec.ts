import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getCharge } from '../../src/contract/charges.js';
import { fakeBank } from '../support/fake-bank.js';
import { answer, charge, type Behaviour } from '../support/hostile-answers.js';
import { until } from '../support/until.js';

describe('a bank that holds every connection', () => {
  let server: Server;
  let door: ReturnType<typeof fakeBank>;
  let behave: Behaviour;
  let asked: number;

  beforeEach(async () => {
    asked = 0;
    server = createServer((request, response) => {
      asked += 1;
      request.resume();
      behave(response, request);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    door = fakeBank(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(async () => {
    door.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is not asked by a call that gets a connection only after that instant', async () => {
    const held: (() => void)[] = [];
    behave = (response, request) => {
      held.push(() => answer(200, charge)(response, request));
    };
    const account = door.account();
    const input = { params: { correlationId: 'order-1' } };
    const options = { deadlineMs: 8_000 };
    // As many as there are connections of an account.
    const hanging = Array.from({ length: 64 }, () =>
      door.bank.call(getCharge, account, input, options),
    );
    await until('all connections are taken', () => held.length === 64);
    const sendBy = new Date(Date.now() + 50);
    const late = door.bank.call(getCharge, account, input, { ...options, sendBy });
    await until('it is too late', () => Date.now() > sendBy.getTime());
    for (const go of held) go();
    expect(await late).toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
    await Promise.all(hanging);
    expect(asked).toBe(64);
  });
});
