// Sends one idempotency key twenty times at once to two processes of the service: the money moves
// once.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newChaosRequest, type ChaosRequestKind } from '../chaos/chaos-request.js';
import { ChaosDeployment } from '../chaos/deployment.js';
import { Dice } from '../chaos/dice.js';
import { readBankLedger } from '../chaos/final-state.js';
import { receivePixPayments, requestInputs } from '../chaos/request-inputs.js';

let deployment: ChaosDeployment;
let receivedPixes: string[];
beforeAll(async () => {
  deployment = await ChaosDeployment.open(2);
  receivedPixes = await receivePixPayments(deployment, 0, 1);
}, 90_000);
afterAll(() => deployment.close());

const kinds: ChaosRequestKind[] = ['by key', 'manual', 'internal', 'batch', 'bill', 'refund'];

it.each(kinds.map((kind, index) => [kind, index] as const))(
  'moves the money of one key once when two processes get it twenty times at once: %s',
  async (kind, index) => {
    const dice = new Dice(0, index);
    const inputs = requestInputs(deployment, dice, receivedPixes);
    const request = await newChaosRequest(kind, 0, index, dice, inputs);
    const movementsBefore = (await readBankLedger(deployment.bank)).movements.length;
    const { method, path, body, headers } = request.http;
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, copy) => {
        const { services } = deployment;
        const service = services[copy % services.length] ?? deployment.service;
        return service.callService(method, path, body, headers);
      }),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(responses.map((response) => JSON.stringify(response.body))).size).toBe(1);

    const { movements, audit } = await readBankLedger(deployment.bank);
    const newMovements = movements
      .slice(movementsBefore)
      .sort((left, right) => left.amount - right.amount);
    expect(newMovements).toEqual(
      request.movements.map(({ cents, type }) =>
        expect.objectContaining({ amount: cents / 100, type, isCredit: false }),
      ),
    );
    const keys = new Set(newMovements.map(({ idempotencyKey }) => idempotencyKey));
    const { body: list } = await deployment.service.callService<{
      data: { id: string; state: string }[];
    }>('GET', `/v1/operations?idempotencyKey=${request.key}`);
    expect(list.data).toEqual([expect.objectContaining({ state: 'succeeded' })]);
    // The contract has no key for a refund.
    if (kind !== 'refund') expect([...keys]).toEqual(list.data.map(({ id }) => id));
    expect(audit).toEqual({ clean: true, problems: [] });
  },
  60_000,
);
