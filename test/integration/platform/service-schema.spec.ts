import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addPayments } from '../../support/parent-rows.js';

// Columns that name a row and have no foreign key.
const withoutForeignKey = [
  // Written by triggers only.
  'account_counter.account_id',
  // The line of an alarm, as its alert has it.
  'account_mode_change.alarm_nsu',
  // The line may be unreadable.
  'break.nsu',
  // Its parts are the file.
  'bulk_file_part.file_id',
  // A trigger finds the lines of all rows of a statement at once.
  'classification.nsu',
  // Written by triggers only.
  'day_total.account_id',
  // Its position was taken in event_position, which names the account.
  'event.account_id',
  // 0 stands for the operators of the installation.
  'idempotency_record.account_id',
  // Written by triggers only.
  'line_name.account_id',
  // A trigger needs the day of each line for the totals of days.
  'line_outcome.account_id',
  'line_outcome.nsu',
  // Written by triggers only.
  'open_break_total.account_id',
  // A task of rules begins before the first line.
  'reconciliation_task.nsu',
  // The bank may return the nsu of a line before the statement shows it.
  'refund.nsu',
  // Hot paths: the key would slow down each insert.
  'statement_line.account_id',
  'statement_line.nsu',
  'statement_state.balance_differs_nsu',
  'statement_state.first_gap_nsu',
  'statement_state.gap_after_nsu',
  'statement_state.gap_nsu',
  'statement_state.last_nsu',
  'statement_state.live_balance_nsu',
  // The line is not stored.
  'unreadable_line.nsu',
  'webhook_event.account_id',
  // Written by triggers only.
  'webhook_event_count.account_id',
];
const id = (last: number) => `01a1fcf2-0000-7000-8000-${String(last).padStart(12, '0')}`;

describe('constraints of the service database', () => {
  let service: ServiceDatabase;
  const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values);

  beforeAll(async () => {
    service = await serviceDatabase();
    await sql(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT 1, n, n::text, true, 1000, 'CREDIT_PIX', 0, 1000, now(), 'x', '{}'
       FROM generate_series(1, 5) n`,
    );
    await sql(
      `INSERT INTO operation
         (account_id, id, kind, state, request_hash, request_params, request_body, next_action_at)
       VALUES (1, $1, 'create_charge', 'received', 'h', '{}', '{"Amount":10}', now())`,
      [id(1)],
    );
  });

  afterAll(async () => {
    await service.drop();
  });

  const match = async (nsu: number, cents: number, last: number) => {
    await addPayments(service.database.pool, 1, [id(last + 100)]);
    return sql(
      `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
       VALUES (1, $1, $2, $3, $4, 'reference', '{}')`,
      [id(last), nsu, id(last + 100), cents],
    );
  };

  it('reject matches that do not add up to the amount of their line', async () => {
    await expect(match(1, 999, 10)).rejects.toThrow('do not add up');
    await expect(match(99, 1000, 11)).rejects.toThrow('the matches of line 99 do not add up');
    await expect(match(1, 1000, 12)).resolves.toBeDefined();
  });

  it('reject matches and totals of payments that are not stored', async () => {
    const missing = `expected payment ${id(999)} of`;
    await expect(
      sql(
        `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
         VALUES (1, $1, 2, $2, 1000, 'reference', '{}')`,
        [id(13), id(999)],
      ),
    ).rejects.toThrow(`${missing} match is not stored`);
    await addPayments(service.database.pool, 1, [id(114), id(115)]);
    const total = (of: string) =>
      sql(
        `INSERT INTO expected_payment_total (account_id, expected_payment_id, paid_cents,
           reversed_cents, refunded_cents, unrefunded_cents, settlement)
         VALUES (1, $1, 0, 0, 0, 0, 'open')`,
        [of],
      );
    await expect(total(id(999))).rejects.toThrow(`${missing} expected_payment_total is not stored`);
    await expect(total(id(114))).resolves.toBeDefined();
    for (const change of [
      `UPDATE expected_payment_total SET expected_payment_id = '${id(115)}'`,
      `UPDATE match SET expected_payment_id = '${id(115)}'`,
      `UPDATE expected_payment SET id = '${id(116)}' WHERE id = '${id(115)}'`,
    ])
      await expect(sql(change)).rejects.toThrow('keeps its key');
    await expect(sql(`DELETE FROM expected_payment WHERE id = '${id(115)}'`)).rejects.toThrow(
      'a row of expected_payment is not deleted',
    );
  });

  it('reject classifications of lines that are not stored', async () => {
    const classification = (nsu: number) =>
      sql(`INSERT INTO classification (account_id, nsu, rule) VALUES (1, $1, 'x')`, [nsu]);
    await expect(classification(99)).rejects.toThrow('line 99 of classification is not stored');
    await expect(classification(5)).resolves.toBeDefined();
    await expect(sql('UPDATE classification SET nsu = 99 WHERE nsu = 5')).rejects.toThrow(
      'line 99 of classification is not stored',
    );
  });

  it('reject outcomes of lines that are not stored', async () => {
    const outcomes = (nsus: number[]) =>
      sql(
        `INSERT INTO line_outcome (account_id, nsu, state, version, leaf_hash, sequence)
         SELECT 1, nsu, 'pending', 1, 'x', 1 FROM unnest($1::bigint[]) nsu`,
        [nsus],
      );
    await expect(outcomes([1, 99])).rejects.toThrow('null value in column "day"');
    await expect(outcomes([1])).resolves.toBeDefined();
    await expect(
      sql('UPDATE line_outcome SET nsu = 99, version = 2, sequence = 2 WHERE nsu = 1'),
    ).rejects.toThrow('replaced by its next version');
  });

  it('reject events of accounts that are not there, and positions that were not taken', async () => {
    const event = (accountId: number, position: number) =>
      sql(
        `INSERT INTO event (account_id, id, position, type, resource_kind, resource_id, sequence,
           data) VALUES ($1, gen_random_uuid(), $2::int, 'x', 'charge', 'x', $2::int, '{}')`,
        [accountId, position],
      );
    await expect(sql('INSERT INTO event_position VALUES (99, 1)')).rejects.toThrow(
      'event_position_account_id_fkey',
    );
    await expect(event(99, 1)).rejects.toThrow('was not taken');
    await sql('INSERT INTO event_position VALUES (1, 1)');
    await expect(event(1, 2)).rejects.toThrow('was not taken');
    await expect(event(1, 1)).resolves.toBeDefined();
  });

  it('reject a second match of a line that is fully matched', async () => {
    await match(2, 1000, 20);
    await expect(match(2, 1, 21)).rejects.toThrow('do not add up');
    await expect(match(2, 1000, 22)).rejects.toThrow('do not add up');
  });

  it('accept several matches that together add up to their line, and not a part of them', async () => {
    const payments = [id(301), id(302)];
    await addPayments(service.database.pool, 1, payments);
    const parts = (cents: number[]) =>
      sql(
        `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
         SELECT 1, gen_random_uuid(), 3, part.id, part.cents, 'reference', '{}'
         FROM unnest($1::bigint[], $2::uuid[]) AS part(cents, id) WHERE cents IS NOT NULL`,
        [cents, payments],
      );
    await expect(parts([400])).rejects.toThrow('do not add up');
    await expect(parts([400, 600])).resolves.toBeDefined();
  });

  it('allow a line to be matched again after its match was unlinked', async () => {
    await match(4, 1000, 40);
    await sql('UPDATE match SET unlinked_at = now() WHERE nsu = 4');
    await expect(match(4, 1000, 41)).resolves.toBeDefined();
    await expect(sql('UPDATE match SET unlinked_at = NULL WHERE nsu = 4')).rejects.toThrow();
  });

  it('reject changes of a stored statement line', async () => {
    await expect(sql('UPDATE statement_line SET amount_cents = 1 WHERE nsu = 5')).rejects.toThrow(
      'written once',
    );
    await expect(sql('DELETE FROM statement_line WHERE nsu = 5')).rejects.toThrow('written once');
  });

  it.each([
    ['id, which is its key at the bank', `id = gen_random_uuid()`],
    ['request body', `request_body = '{"Amount":11}'`],
    ['path parameters', `request_params = '{"a":1}'`],
    ['request hash', `request_hash = 'other'`],
  ])('reject a change of an operation’s %s', async (_, change) => {
    await expect(sql(`UPDATE operation SET ${change} WHERE id = '${id(1)}'`)).rejects.toThrow(
      'are fixed',
    );
  });

  it('reject unknown states, and final states with a next action', async () => {
    const setState = (changes: string) =>
      sql(`UPDATE operation SET state = ${changes} WHERE id = '${id(1)}'`);
    await expect(setState(`'done'`)).rejects.toThrow('operation_state');
    await expect(setState(`'succeeded', ended_at = now()`)).rejects.toThrow(
      'operation_unfinished_has_next_action',
    );
    await expect(
      setState(`'succeeded', ended_at = now(), next_action_at = NULL`),
    ).resolves.toBeDefined();
  });

  it('reject rows that name a row that is not there', async () => {
    const { rows } = await sql(
      `SELECT t.relname || '.' || a.attname AS name
       FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0
       WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'
         AND (a.attname ~ '_id$' AND a.atttypid IN ('uuid'::regtype, 'int4'::regtype)
           OR a.attname ~ 'nsu$')
         AND NOT EXISTS (
           SELECT FROM pg_constraint f
           WHERE f.conrelid = t.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey))
       ORDER BY t.relname, a.attname`,
    );
    expect(rows.map(({ name }) => name)).toEqual(withoutForeignKey);
  });
});
