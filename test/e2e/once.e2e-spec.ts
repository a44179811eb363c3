// Sends one idempotency key twenty times at once to two processes of the service: the money moves
// once.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readLedger } from '../chaos/books.js';
import { Dice } from '../chaos/dice.js';
import { groundOf, receivePixes } from '../chaos/ground.js';
import { House } from '../chaos/deployment.js';
import { newIntent, type IntentKind } from '../chaos/chaos-request.js';

let deployment: House;
let receivedPixes: string[];
beforeAll(async () => {
  deployment = await House.open(2);
  receivedPixes = await receivePixes(deployment, 0, 1);
}, 90_000);
afterAll(() => deployment.close());

const kinds: IntentKind[] = ['by key', 'manual', 'internal', 'batch', 'bill', 'refund'];

it.each(kinds.map((kind, index) => [kind, index] as const))(
  'moves the money of one key once when two processes get it twenty times at once: %s',
  async (kind, index) => {
    const dice = new Dice(0, index);
    const ground = groundOf(deployment, dice, receivedPixes);
    const operation = await newIntent(kind, 0, index, dice, ground);
    const movementsBefore = (await readLedger(deployment.bank)).movements.length;
    const { method, path, body, headers } = operation.request;
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => {
        const { services } = deployment;
        const service = services[turn % services.length] ?? deployment.service;
        return service.callService(method, path, body, headers);
      }),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(responses.map((response) => JSON.stringify(response.body))).size).toBe(1);

    const { movements, audit } = await readLedger(deployment.bank);
    const newMovements = movements
      .slice(movementsBefore)
      .sort((left, right) => left.amount - right.amount);
    expect(newMovements).toEqual(
      operation.movements.map(({ cents, type }) =>
        expect.objectContaining({ amount: cents / 100, type, isCredit: false }),
      ),
    );
    const keys = new Set(newMovements.map(({ idempotencyKey }) => idempotencyKey));
    const { body: list } = await deployment.service.callService<{ data: { id: string; state: string }[] }>(
      'GET',
      `/v1/operations?idempotencyKey=${operation.key}`,
    );
    expect(list.data).toEqual([expect.objectContaining({ state: 'succeeded' })]);
    // The contract has no key for a refund.
    if (kind !== 'refund') expect([...keys]).toEqual(list.data.map(({ id }) => id));
    expect(audit).toEqual({ clean: true, problems: [] });
  },
  60_000,
);
