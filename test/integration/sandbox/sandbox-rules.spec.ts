// The rules for held money, transfers, bills and customers, which the ledger and the database's
// constraints enforce.
import type { SandboxAccount } from '../../../src/sandbox/accounts/party.js';
import { Accounts } from '../../../src/sandbox/accounts/accounts.service.js';
import { SandboxLedger } from '../../../src/sandbox/ledger/ledger.service.js';
import { outsideMovement } from '../../../src/sandbox/ledger/movement.js';
import { SandboxDatabase, type SandboxTx } from '../../../src/sandbox/sandbox-database.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';

let bank: SandboxUnderTest;
let ledger: SandboxLedger;
let account: SandboxAccount;
beforeAll(async () => {
  bank = await sandboxUnderTest();
  ledger = bank.application.get(SandboxLedger);
});
afterAll(() => bank.stop());
beforeEach(async () => {
  await bank.call('POST', '/sandbox/reset');
  account = await bank.application.get(Accounts).getByNumber('1000002');
});

const inTransaction = <Result>(work: (tx: SandboxTx) => Promise<Result>) =>
  bank.application.get(SandboxDatabase).transaction(work);
const block = (cents: bigint) => inTransaction((tx) => ledger.block(tx, account, cents));
const unblock = (cents: bigint) => inTransaction((tx) => ledger.unblock(tx, account, cents));
const spend = (cents: bigint) =>
  inTransaction((tx) =>
    ledger.post(tx, outsideMovement(account, 'other', -cents, { typeName: 'DEBIT_FEE' })),
  );
const insufficient = { details: { reason: 'insufficient_funds' } };
const held = async () => {
  const { rows } = await bank.pool.query(
    `SELECT balance_cents::int AS balance, blocked_cents::int AS blocked FROM account
     WHERE number = '1000002'`,
  );
  return rows[0];
};

describe('blocked money', () => {
  it('cannot be spent or blocked again until it is released', async () => {
    await block(400_000n);
    await expect(spend(100_001n)).rejects.toMatchObject(insufficient);
    await expect(block(100_001n)).rejects.toMatchObject(insufficient);
    await spend(100_000n);
    await expect(spend(1n)).rejects.toMatchObject(insufficient);
    expect(await held()).toEqual({ balance: 400_000, blocked: 400_000 });
    await unblock(400_000n);
    await spend(400_000n);
    expect(await held()).toEqual({ balance: 0, blocked: 0 });
  });

  it('adds no movement and does not change the balance', async () => {
    await block(400_000n);
    const { body } = await bank.call('GET', '/sandbox/ledger?account=1000002');
    expect(body).toMatchObject({ movements: [], audit: { clean: true } });
    expect(body.accounts[0].balance).toBe(5_000);
  });

  it('never exceeds the balance under concurrent blocks and debits', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? block(60_000n) : spend(60_000n))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    const { balance, blocked } = await held();
    const spent = 500_000 - balance;
    expect(spent + blocked).toBe(480_000);
  });

  it('is not spent by generated lines', async () => {
    await block(500_000n);
    const body = { account: '1000002', count: 300 };
    expect((await bank.call('POST', '/sandbox/generate', { body })).status).toBe(200);
    const { rows } = await bank.pool.query(
      `SELECT min(current_balance_cents)::int AS least FROM statement_line`,
    );
    expect(rows[0].least).toBeGreaterThanOrEqual(500_000);
  });
});

const accountId = `(SELECT id FROM account WHERE number = '1000002')`;
const set = (change: string) => `UPDATE account SET ${change} WHERE number = '1000002'`;
const insert = (table: string, values: Record<string, string>) =>
  `INSERT INTO ${table} (${Object.keys(values).join(', ')})
   VALUES (${Object.values(values).join(', ')})`;
const transfer = (changes: Record<string, string> = {}) =>
  insert('transfer', {
    id: 'gen_random_uuid()',
    account_id: accountId,
    type: `'PIX_KEY'`,
    status: `'PIX_PROCESSING'`,
    amount_cents: '1',
    end_to_end_id: `'E1'`,
    idempotency_key: `'key'`,
    payer: `'{}'`,
    beneficiary: `'{}'`,
    created_at: 'now()',
    updated_at: 'now()',
    ...changes,
  });
const bill = (changes: Record<string, string> = {}) =>
  insert('bill', {
    bar_code: `'1'`,
    digitable_line: `'1'`,
    type: `'BANKSLIP'`,
    status: `'PAID'`,
    amount_cents: '10',
    due_date: 'now()',
    minimum_payment_cents: '1',
    maximum_payment_cents: '10',
    ...changes,
  });
const payment = (changes: Record<string, string> = {}) =>
  insert('bill_payment', {
    id: 'gen_random_uuid()',
    account_id: accountId,
    bar_code: `'1'`,
    status: `'SCHEDULED'`,
    amount_cents: '1',
    pay_at: 'now()',
    idempotency_key: `'key'`,
    created_at: 'now()',
    updated_at: 'now()',
    ...changes,
  });
const dictKey = (owner: Record<string, string>) =>
  insert('dict_key', { key: `'k'`, kind: `'EVP'`, ...owner });
const customer = (status: string) =>
  insert('customer', {
    id: 'gen_random_uuid()',
    document: `'1'`,
    status,
    details: `'{}'`,
    password_hash: `''`,
    security_password_hash: `''`,
    account_id: accountId,
    created_at: 'now()',
    updated_at: 'now()',
  });

describe('the database refuses', () => {
  it.each<[string, string, string]>([
    ['a negative blocked amount', set('blocked_cents = -1'), 'account_blocked_check'],
    ['a blocked amount above the balance', set('blocked_cents = 500001'), 'account_blocked_check'],
    [
      'a balance with more digits than the contract allows',
      set('balance_cents = 100000000000000'),
      'account_balance_limit_check',
    ],
    ['a tail beyond the highest nsu', set('tail_nsu = 1'), 'account_nsu_check'],
    ['a skipped nsu below the first', set('skipped_nsu = 0'), 'account_nsu_check'],
    [
      'a blocked amount on an internal account',
      `UPDATE account SET blocked_cents = 1 WHERE number = 'spi'`,
      'account_blocked_check',
    ],
    ['a transfer of an unknown type', transfer({ type: `'TED'` }), 'transfer_type_check'],
    ['a transfer of an unknown status', transfer({ status: `'DONE'` }), 'transfer_status_check'],
    ['a transfer of zero', transfer({ amount_cents: '0' }), 'transfer_amount_check'],
    [
      'a Pix without its endToEndId',
      transfer({ end_to_end_id: 'NULL' }),
      'transfer_end_to_end_id_check',
    ],
    [
      'an internal transfer with an endToEndId',
      transfer({ type: `'INTERNAL'` }),
      'transfer_end_to_end_id_check',
    ],
    ['two Pix with one endToEndId', `${transfer()}; ${transfer()}`, 'transfer_end_to_end_id_key'],
    ['a transfer without an account', transfer({ account_id: '0' }), 'transfer_account_id_fkey'],
    ['a bill of an unknown type', bill({ type: `'TAX'` }), 'bill_type_check'],
    ['a bill of an unknown status', bill({ status: `'OPEN'` }), 'bill_status_check'],
    ['a bill of zero', bill({ amount_cents: '0' }), 'bill_amount_check'],
    ['a negative rebate', bill({ rebate_cents: '-1' }), 'bill_amount_check'],
    [
      'a payment range with its minimum above its maximum',
      bill({ minimum_payment_cents: '11' }),
      'bill_range_check',
    ],
    ['a payment range from zero', bill({ minimum_payment_cents: '0' }), 'bill_range_check'],
    ['a payment of an unknown status', payment({ status: `'DONE'` }), 'bill_payment_status_check'],
    ['a payment of zero', payment({ amount_cents: '0' }), 'bill_payment_amount_check'],
    ['a paid bill without its line', payment({ status: `'PAID'` }), 'bill_payment_nsu_check'],
    ['two live payments of one bill', `${payment()}; ${payment()}`, 'bill_payment_live_key'],
    ['a Pix key without an owner', dictKey({}), 'dict_key_owner_check'],
    [
      'a Pix key with two owners',
      dictKey({ account_id: accountId, party: `'{}'` }),
      'dict_key_owner_check',
    ],
    ['a customer of an unknown status', customer(`'NEW'`), 'customer_status_check'],
  ])('%s', async (_, statement, constraint) => {
    await expect(bank.pool.query(statement)).rejects.toMatchObject({ constraint });
  });

  it('no valid row', async () => {
    const failed = payment({ status: `'SCHEDULE_FAILURE'` });
    const paid = payment({ status: `'PAID'`, transaction_nsu: '1' });
    const internal = { type: `'INTERNAL'`, status: `'EFFECTIVE'`, end_to_end_id: 'NULL' };
    const valid = [
      transfer(),
      transfer(internal),
      bill(),
      failed,
      failed,
      paid,
      customer(`'APPROVED'`),
    ];
    for (const statement of [...valid, set('blocked_cents = balance_cents')])
      await bank.pool.query(statement);
    await bank.pool.query(dictKey({ party: `'{}'` }));
  });
});
