import fc from 'fast-check';
import { fixtureAccounts } from '../accounts/fixtures.js';
import type { SandboxAccount } from '../accounts/party.js';
import { interruptHalfway, planBatch, repeatedExternalIds, type BatchItem } from './batch-plan.js';

const [payer, beneficiary]: [SandboxAccount, SandboxAccount] = [
  { ...fixtureAccounts[0], id: 1 },
  { ...fixtureAccounts[1], id: 2 },
];
const accounts = new Map([payer, beneficiary].map((account) => [account.number, account]));
const item = (amount: bigint, to = beneficiary.number): BatchItem => ({
  amount,
  beneficiaryAccountNumber: to,
});
const refusals = (items: BatchItem[], fundsCents: bigint) =>
  planBatch(items, { payer, accounts, fundsCents }).map(({ refused }) => refused);

it('refuses items without a valid beneficiary, and uses no funds for them', () => {
  expect(
    refusals([item(5n, '9'), item(5n, payer.number), item(6n), item(5n), item(1n)], 5n),
  ).toEqual([
    'beneficiary_account_not_found',
    'beneficiary_account_is_own',
    'insufficient_funds',
    null,
    'insufficient_funds',
  ]);
});

it('never plans more than the funds, and refuses no item that they still cover', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt(1n, 50n), { maxLength: 20 }),
      fc.bigInt(0n, 200n),
      (amounts, funds) => {
        let left = funds;
        for (const [index, refused] of refusals(
          amounts.map((amount) => item(amount)),
          funds,
        ).entries()) {
          const amount = amounts[index]!;
          expect(refused === null).toBe(amount <= left);
          if (refused === null) left -= amount;
        }
      },
    ),
  );
});

it.each([
  [1, 0],
  [4, 2],
  [5, 2],
])('interrupts a batch of %i after %i', (count, done) => {
  const plan = planBatch(Array(count).fill(item(1n)) as BatchItem[], {
    payer,
    accounts,
    fundsCents: 9n,
  });
  const interrupted = interruptHalfway(plan).map(({ refused }) => refused);
  expect(interrupted).toEqual([
    ...Array(done).fill(null),
    ...Array(count - done).fill('batch_interrupted'),
  ]);
});

it('reports each item whose externalId an earlier item already has', () => {
  const ids = ['a', null, 'b', 'a', null, 'a'];
  const errors = repeatedExternalIds(ids.map((externalId) => ({ ...item(1n), externalId })));
  expect(Object.keys(errors)).toEqual(['$[3].externalId', '$[5].externalId']);
});
