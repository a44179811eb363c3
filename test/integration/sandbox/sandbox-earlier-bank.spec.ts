// A bank whose data an earlier version seeded, with fewer accounts.
import { expect, it } from '@jest/globals';
import { sandboxUnderTest } from '../../contract/bank-under-test.js';

it('opens the accounts of this version at its next start', async () => {
  const bank = await sandboxUnderTest();
  await bank.pool.query(`DELETE FROM dict_key WHERE account_id =
    (SELECT id FROM account WHERE number = '1000003')`);
  await bank.pool.query(`DELETE FROM api_key WHERE account_id =
    (SELECT id FROM account WHERE number = '1000003')`);
  await bank.pool.query(`UPDATE account SET number = '1999999' WHERE number = '1000003'`);
  const next = await bank.start();
  const { accounts } = (await bank.call('GET', '/sandbox/ledger')).body;
  expect(accounts).toContainEqual({ branch: '0001', number: '1000003', balance: 50_000 });
  await next.close();
  await bank.stop();
});
