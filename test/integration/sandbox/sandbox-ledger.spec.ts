// The ledger's rules: chained lines, balanced movements, the database's constraints and the audit.
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(() => bank.stop());

interface Line {
  nsu: number;
  amount: number;
  createdAt: string;
  type: { isCredit: boolean };
  balance: { balancePrevious: number; currentBalance: number };
}

const post = (body: unknown) => bank.call('POST', '/sandbox/transactions', { body });
const readLedger = async () => (await bank.call('GET', '/sandbox/ledger')).body;

it('chains every line and passes the audit under 32 concurrent movements', async () => {
  const amounts = Array.from({ length: 320 }, (_, index) => index + 1);
  const queue = [...amounts];
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (let cents = queue.pop(); cents !== undefined; cents = queue.pop()) {
        const isCredit = cents % 3 !== 0;
        const account = cents % 2 === 0 ? '1000001' : '1000002';
        const typeName = 'ANY_LINE';
        const { status } = await post({ amount: cents / 100, isCredit, account, typeName });
        expect(status).toBe(200);
      }
    }),
  );
  const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=1000');
  const lines = (body as Line[]).reverse();
  expect(lines).toHaveLength(160);
  let balance = 10_000_000;
  for (const [index, line] of lines.entries()) {
    expect(line.nsu).toBe(index + 1);
    expect(Math.round(line.balance.balancePrevious * 100)).toBe(balance);
    balance += Math.round(line.amount * 100) * (line.type.isCredit ? 1 : -1);
    expect(Math.round(line.balance.currentBalance * 100)).toBe(balance);
  }
  const times = lines.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort());
  const ledger = await readLedger();
  expect(ledger.audit).toEqual({ clean: true, problems: [] });
  expect(ledger.movements).toHaveLength(320);
});

it('never debits more than the balance under concurrent debits', async () => {
  const debit = { account: '1000002', amount: 1_000, isCredit: false, typeName: 'DEBIT_FEE' };
  const responses = await Promise.all(Array.from({ length: 32 }, () => post(debit)));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(responses.filter(({ status }) => status === 422)).toHaveLength(27);
  const { accounts, movements, audit } = await readLedger();
  expect(accounts[1].balance).toBe(0);
  expect(movements).toHaveLength(5);
  expect(audit.clean).toBe(true);
});

describe('the database refuses', () => {
  const inTransaction = async (...statements: string[]) => {
    const client = await bank.pool.connect();
    try {
      await client.query('BEGIN');
      for (const statement of statements) await client.query(statement);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
  const account = (number: string) => `(SELECT id FROM account WHERE number = '${number}')`;
  const movement = `INSERT INTO movement (kind, created_at) VALUES ('ordinary', now())`;
  const entry = (number: string, cents: number) =>
    `INSERT INTO entry (movement_id, account_id, change_cents)
     VALUES ((SELECT max(id) FROM movement), ${account(number)}, ${cents})`;
  const line = (cents: number, previous: { nsu: number | 'NULL'; balance: number }, nsu: number) =>
    `INSERT INTO statement_line (account_id, nsu, previous_nsu, movement_id, change_cents,
       balance_previous_cents, current_balance_cents, type_name, shown_type_name, created_at)
     VALUES (${account('1000001')}, ${nsu}, ${previous.nsu}, (SELECT max(id) FROM movement),
       ${cents}, ${previous.balance}, ${previous.balance + cents}, 'ANY_LINE', 'ANY_LINE', now())`;
  const setBalance = (cents: number, nsu: number) =>
    `UPDATE account SET balance_cents = ${cents}, last_nsu = ${nsu}, tail_nsu = ${nsu}
     WHERE number = '1000001'`;

  const first = { nsu: 'NULL', balance: 10_000_000 } as const;
  const balanced = [movement, entry('1000001', 500), entry('other', -500)];

  it('no balanced movement with its line, even when raw SQL inserts them', async () => {
    await inTransaction(...balanced, line(500, first, 1), setBalance(10_000_500, 1));
    expect((await readLedger()).audit.clean).toBe(true);
  });

  it.each<[string, string[], string]>([
    [
      'an unbalanced movement',
      [movement, entry('spi', 5), entry('other', -4)],
      'movement_balanced',
    ],
    ['a movement with one leg', [movement, entry('spi', 5)], 'movement_balanced'],
    ['a movement without legs', [movement], 'movement_balanced'],
    [
      'a leg added later',
      [
        ...balanced,
        line(500, first, 1),
        setBalance(10_000_500, 1),
        'COMMIT',
        'BEGIN',
        entry('spi', 1),
      ],
      'movement_balanced',
    ],
    ["a customer's leg without a statement line", balanced, 'movement_on_statement'],
    ['a balance without a line', [setBalance(10_000_001, 0)], 'account_balance_matches_lines'],
    [
      'a line without a change of the balance',
      [...balanced, line(500, first, 1)],
      'account_balance_matches_lines',
    ],
    [
      'a chain that does not begin at the opening balance',
      [...balanced, line(500, { nsu: 'NULL', balance: 1 }, 1), setBalance(501, 1)],
      'statement_line_anchored',
    ],
    [
      'a line whose previous line does not exist',
      [...balanced, line(500, { nsu: 7, balance: 10_000_000 }, 8)],
      'statement_line_account_id_previous_nsu_balance_previous_ce_fkey',
    ],
    [
      'a line whose amount differs from its leg',
      [...balanced, line(501, first, 1)],
      'statement_line_movement_id_account_id_change_cents_fkey',
    ],
    ['a negative balance', [setBalance(-1, 0)], 'account_balance_check'],
  ])('%s', async (_, statements, constraint) => {
    await expect(inTransaction(...statements)).rejects.toMatchObject({ constraint });
  });

  it('a second first line, a fork of the chain, and any change of written rows', async () => {
    await inTransaction(...balanced, line(500, first, 1), setBalance(10_000_500, 1));
    await expect(inTransaction(...balanced, line(500, first, 2))).rejects.toMatchObject({
      constraint: 'statement_line_first_key',
    });
    const second = { nsu: 1, balance: 10_000_500 };
    await inTransaction(...balanced, line(500, second, 2), setBalance(10_001_000, 2));
    await expect(inTransaction(...balanced, line(500, second, 3))).rejects.toMatchObject({
      constraint: 'statement_line_account_id_previous_nsu_key',
    });
    for (const table of ['movement', 'entry', 'statement_line']) {
      await expect(inTransaction(`DELETE FROM ${table}`)).rejects.toThrow('append-only');
    }
    await expect(inTransaction(`UPDATE entry SET change_cents = 1`)).rejects.toThrow('append-only');
  });
});

it('reports in its audit rows that were corrupted past the constraints', async () => {
  await post({ amount: 1, isCredit: true, typeName: 'ANY_LINE' });
  const client = await bank.pool.connect();
  try {
    await client.query(`SET session_replication_role = replica`);
    await client.query(`UPDATE entry SET change_cents = change_cents + 1 WHERE change_cents = 100`);
    await client.query(`UPDATE account SET balance_cents = 7 WHERE number = '1000002'`);
  } finally {
    client.release(true);
  }
  const { audit } = await readLedger();
  expect(audit.clean).toBe(false);
  expect(audit.problems.join('\n')).toMatch(
    /does not sum to zero[^]*legs that sum to 1[^]*1000002 holds 7/,
  );
});

it('reports in its audit a broken chain and a missing line', async () => {
  for (let count = 0; count < 4; count += 1)
    await post({ amount: 1, isCredit: true, typeName: 'ANY_LINE' });
  const client = await bank.pool.connect();
  try {
    await client.query(`SET session_replication_role = replica`);
    await client.query('ALTER TABLE statement_line DROP CONSTRAINT statement_line_balance_check');
    await client.query(
      `UPDATE statement_line
       SET balance_previous_cents = 7, created_at = created_at - interval '1 day'
       WHERE nsu = 2`,
    );
    await client.query('DELETE FROM statement_line WHERE nsu = 3');
  } finally {
    client.release(true);
  }
  const { problems } = (await readLedger()).audit;
  expect(problems.sort()).toEqual([
    expect.stringMatching(/nsu 2: balances do not differ by the amount/),
    expect.stringMatching(/nsu 2: created earlier than the line before/),
    expect.stringMatching(/nsu 2: previous balance 7, the line before ends at 10000100/),
    expect.stringMatching(/nsu 4: previous balance 10000300, the line before ends at 10000000/),
    expect.stringMatching(/movement \d+ is missing on the statement of 1000001/),
  ]);
});

it('reports in its audit lines that follow each other in a circle', async () => {
  await post({ amount: 1, isCredit: true, typeName: 'ANY_LINE' });
  // No constraint refuses the circle, because its lines sum to zero.
  await bank.pool.query(
    `WITH customer AS (SELECT id FROM account WHERE number = '1000001'),
       made AS (
         INSERT INTO movement (kind, created_at)
         VALUES ('ordinary', now()), ('ordinary', now())
         RETURNING id),
       numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS position FROM made),
       legs AS (
         INSERT INTO entry (movement_id, account_id, change_cents)
         SELECT numbered.id, leg.account_id, leg.cents * CASE position WHEN 1 THEN 1 ELSE -1 END
         FROM numbered CROSS JOIN LATERAL (
           VALUES ((SELECT id FROM customer), 500),
                  ((SELECT id FROM account WHERE number = 'other'), -500)
         ) AS leg (account_id, cents)),
       lines AS (
         INSERT INTO statement_line (account_id, nsu, previous_nsu, movement_id, change_cents,
                                     balance_previous_cents, current_balance_cents, type_name,
                                     shown_type_name, created_at)
         SELECT customer.id, position + 1, 4 - position, numbered.id,
                CASE position WHEN 1 THEN 500 ELSE -500 END,
                CASE position WHEN 1 THEN 0 ELSE 500 END,
                CASE position WHEN 1 THEN 500 ELSE 0 END, 'ANY_LINE', 'ANY_LINE', now()
         FROM customer, numbered)
     UPDATE account SET last_nsu = 3 WHERE number = '1000001'`,
  );
  const { problems } = (await readLedger()).audit;
  expect(problems).toEqual([expect.stringMatching(/nsu 2: moved earlier than the line before/)]);
});

it('has the same ledger and keys after a restart', async () => {
  await post({ amount: 1, isCredit: true, typeName: 'ANY_LINE' });
  const before = await readLedger();
  const restartedBank = await bank.start();
  try {
    const url = `${await restartedBank.getUrl()}/sandbox/ledger`;
    const response = await fetch(url, { headers: { 'x-service-api-key': 'sandbox-dev-key' } });
    expect(await response.json()).toEqual(before);
  } finally {
    await restartedBank.close();
  }
});
