import { expect, it } from '@jest/globals';
import { bankHabits } from '../../bank-contract/bank-profile.js';
import { faultsOfHabits, modesOfHabits } from './imitated-bank.js';

it('changes nothing for what is unknown', () => {
  const habits = bankHabits.parse({});
  expect(Object.values(modesOfHabits(habits)).filter((mode) => mode !== undefined)).toEqual([]);
  expect(faultsOfHabits(habits)).toEqual([]);
});

it('sets a mode for each habit that the sandbox can have', () => {
  const habits = bankHabits.parse({
    ...{ pageOrder: 'asc', pageCap: 37, repeatedTransfer: 'executed', hasTransferById: false },
    ...{ hasChargeById: true, ratePerSecond: 5, lineExternalId: 'absent' },
  });
  expect(modesOfHabits(habits)).toMatchObject({
    ...{ statementOrder: 'asc', statementPageCap: 37, idempotentRepeat: 'ignore' },
    ...{ transferById: 'absent', chargeById: 'served', rateLimitPerSecond: 5 },
    lineExternalId: 'absent',
  });
});

it('delays lines and webhooks by faults', () => {
  const late = { lineDelayMs: 5_000, webhookDelayMs: 3_000, webhookDelivery: 'some' };
  const kinds = (habits: object) =>
    faultsOfHabits(bankHabits.parse(habits)).map(({ kind, delayMs }) => [kind, delayMs]);
  expect(kinds(late)).toEqual([
    ['line-withheld', 5_000],
    ['webhook-lost', null],
    ['webhook-late', 3_000],
  ]);
  expect(kinds({ lineDelayMs: 1_000, webhookDelayMs: 1_000 })).toEqual([]);
  expect(kinds({ lineDelayMs: 3_000, nsuOrder: 'out-of-order' })).toEqual([]);
});
