// One key, sent twenty times at once through two processes of the service: the money moves once.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readLedger } from '../chaos/books.js';
import { Dice } from '../chaos/dice.js';
import { groundOf, receivePixes } from '../chaos/ground.js';
import { House } from '../chaos/deployment.js';
import { newIntent, type IntentKind } from '../chaos/chaos-request.js';

let house: House;
let originals: string[];
beforeAll(async () => {
  house = await House.open(2);
  originals = await receivePixes(house, 0, 1);
}, 90_000);
afterAll(() => house.close());

const kinds: IntentKind[] = ['by key', 'manual', 'internal', 'batch', 'bill', 'refund'];

it.each(kinds.map((kind, place) => [kind, place] as const))(
  'moves the money of one key once, whichever processes it is sent to, twenty times at once: %s',
  async (kind, place) => {
    const dice = new Dice(0, place);
    const intent = await newIntent(kind, 0, place, dice, groundOf(house, dice, originals));
    const before = (await readLedger(house.bank)).movements.length;
    const { method, path, body, headers } = intent.request;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => {
        const service = house.services[turn % house.services.length] ?? house.service;
        return service.ask(method, path, body, headers);
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);

    const { movements, audit } = await readLedger(house.bank);
    const moved = movements.slice(before).sort((one, other) => one.amount - other.amount);
    expect(moved).toEqual(
      intent.movements.map(({ cents, type }) =>
        expect.objectContaining({ amount: cents / 100, type, isCredit: false }),
      ),
    );
    const keys = new Set(moved.map(({ idempotencyKey }) => idempotencyKey));
    const { body: told } = await house.service.ask<{ data: { id: string; state: string }[] }>(
      'GET',
      `/v1/operations?idempotencyKey=${intent.key}`,
    );
    expect(told.data).toEqual([expect.objectContaining({ state: 'succeeded' })]);
    // A refund takes no key at the bank.
    if (kind !== 'refund') expect([...keys]).toEqual(told.data.map(({ id }) => id));
    expect(audit).toEqual({ clean: true, problems: [] });
  },
  60_000,
);
