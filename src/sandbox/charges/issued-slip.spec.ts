import { parseBankSlip } from '../../brazil/bank-slip.js';
import type { ChargeRequest } from '../../bank-contract/charges.js';
import { fixtureAccounts } from '../accounts/fixtures.js';
import { issueSlip, slipProblems } from './issued-slip.js';

const account = { id: 1, ...fixtureAccounts[0] };
const request = (changes: object = {}) =>
  ({
    type: 'BANKSLIP',
    correlationId: 'c',
    dueDate: '2026-12-01',
    Amount: 15_075n,
    ...changes,
  }) as ChargeRequest;

it('assigns the number of wallet 112, and builds the free field from it', () => {
  const slip = issueSlip(account, request(), 42n);
  expect(slip).toMatchObject({ wallet: 112, ourNumber: '00000000042' });
  expect(parseBankSlip(slip.digitableLine, '2026-11-21')).toMatchObject({
    ok: true,
    slip: {
      bankCode: '999',
      amountCents: 15_075n,
      dueDate: '2026-12-01',
      freeField: '0001112000000000421000001',
    },
  });
});

it('uses the number of wallet 121 as it was sent', () => {
  const slip = issueSlip(account, request({ ourNumber: '0077' }), 42n);
  expect(slip).toMatchObject({ wallet: 121, ourNumber: '0077' });
  expect(slip.barCode.slice(19)).toBe('0001121000000000771000001');
});

it.each([
  [{}, []],
  [{ dueDate: '2000-07-02' }, ['$.dueDate']],
  [{ dueDate: '2049-10-14' }, ['$.dueDate']],
  [{ Amount: 9_999_999_999_999n }, []],
  [{ Amount: 10_000_000_000_000n }, ['$.Amount']],
  [{ type: 'BANKSLIP_PIX', Amount: 1_000_000_000_000n }, ['$.Amount']],
  [{ ourNumber: '123456789012' }, ['$.ourNumber']],
])('reports for %p the fields that a slip cannot encode: %p', (changes, paths) => {
  expect(Object.keys(slipProblems(request(changes)))).toEqual(paths);
});
