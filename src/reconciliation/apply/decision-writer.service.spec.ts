import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { expectedPaymentFacts, facts } from '../../../test/support/facts.js';
import { DecisionWriter } from './decision-writer.service.js';
import { decide } from '../decide/decide.js';
import type { Facts } from '../decide/model.js';

/** A payment that is missing: its break is opened. */
const missing = facts({
  asOf: new Date('2026-05-01T12:00:00Z'),
  expectedPayments: [
    expectedPaymentFacts({
      dueDate: '2026-03-09',
      charge: { correlationId: 'c', type: 'BANKSLIP', cancelledAt: null, expiredAt: null },
    }),
  ],
});

/** In which order a decision and the one before it end, and what is reported of this one. */
async function orderOf(all: Facts): Promise<string[]> {
  const order: string[] = [];
  const report = () => void order.push('reported');
  const breaks = { revise: () => Promise.resolve(), reportResolved() {}, reportOpened: report };
  const tx = { $queryRaw: () => Promise.resolve([]), $executeRaw: () => Promise.resolve(0) };
  const writer = new DecisionWriter({ record() {} } as never, breaks as never);
  let end: () => void = () => undefined;
  const previous = new Promise<void>((resolve) => (end = resolve)).then(() => order.push('first'));
  const next = { decision: decide(all), stored: { lines: [], breaks: [] }, previous };
  const closed = { closedFrom: null, closedUntil: null };
  const applied = writer
    .apply(tx as never, 1, next, { freshMs: 0, closed })
    .then(() => order.push('second'));
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  end();
  await applied;
  return order;
}

it('reports and ends a decision after the one before it', async () => {
  expect(await orderOf(missing)).toEqual(['first', 'reported', 'second']);
});

it('ends a decision after the one before it where there is nothing to write', async () => {
  expect(await orderOf(facts({}))).toEqual(['first', 'second']);
});
