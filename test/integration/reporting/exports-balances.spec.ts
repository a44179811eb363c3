// The numbers and balances of export files, which depend on when and in which order lines arrived.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { insertMarchLines } from '../../support/exported-statement.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}`;

describe('export files', () => {
  let service: ServiceApplication;
  let accountId: number;

  beforeAll(async () => {
    service = await serviceApplication();
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    await insertMarchLines(service, accountId, 5_300, 400);
  });
  afterAll(() => service.stop());

  const run = (sql: string, ...values: unknown[]) =>
    service.database.pool.query(sql, [accountId, ...values]);
  /** Adds a credit that changes the balance from one number of reais to another. */
  const addCredit = (nsu: number, before: number, after: number, date: string) =>
    run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, $2, 'x', true, ($4::int - $3::int) * 100, 'CREDIT_PIX',
               $3::int * 100, $4::int * 100, ($5::text || ' 12:00Z')::timestamptz, 'h', '{}')`,
      ...[nsu, before, after, date],
    );
  const get = (query: string) => service.call('GET', `/v1/exports/transactions?${query}`);

  it('number CNAB 240 files so that no two periods share a number', async () => {
    const numberOf = async (from: string, to: string) => {
      const { text } = await get(`format=cnab240&from=${from}&to=${to}`);
      expect(text.slice(157, 163)).toMatch(/^\d{6}$/);
      expect(text.slice(242 + 173, 242 + 178)).toBe(text.slice(158, 163));
      return Number(text.slice(157, 163));
    };
    const periods = [1, 2, 3, 4, 5, 6].map((from) => [day(from), day(7)] as const);
    const numbers = await Promise.all(periods.slice(0, 4).map(([from, to]) => numberOf(from, to)));
    numbers.push(await numberOf(day(5), day(7)), await numberOf(day(6), day(7)));
    expect(new Set(numbers).size).toBe(periods.length);
    expect(await numberOf(day(3), day(7))).toBe(numbers[2]);
    // A restored database may lack numbers that were handed out.
    await run(
      `INSERT INTO account_restore (account_id, lost_from, former_mode) VALUES ($1, now(), 'live')`,
    );
    expect(await numberOf(day(3), day(7))).toBe(numbers[2]);
    expect(await numberOf(day(1), day(1))).toBe(Math.max(...numbers) + 10_000);
    expect(await numberOf(day(2), day(2))).toBe(Math.max(...numbers) + 10_001);
    await run(
      `INSERT INTO export_file_number
         (account_id, first_day, last_day, is_partial, line_count, number)
       VALUES ($1, '2026-02-01', '2026-02-02', false, 1, 999999)`,
    );
    const { status, body } = await get(`format=cnab240&from=${day(7)}&to=${day(7)}`);
    expect([status, body.code]).toEqual([422, 'file_numbers_exhausted']);
    // Any reader can request countless periods without lines: they use no numbers.
    expect(await numberOf('2026-02-01', '2026-02-02')).toBe(0);
    await run('DELETE FROM export_file_number WHERE account_id = $1');
  });

  it('are final only when the statement is complete, and get a new number with more lines', async () => {
    const setState = (state: object) =>
      run(
        `INSERT INTO statement_state (account_id, closed_from, closed_until, first_gap_nsu,
           last_sync_started_at)
         SELECT $1, until, until, gap, sync
         FROM json_to_record($2) AS s(until timestamptz, gap bigint, sync timestamptz)
         ON CONFLICT (account_id) DO UPDATE
         SET closed_from = excluded.closed_from, closed_until = excluded.closed_until,
             first_gap_nsu = excluded.first_gap_nsu,
             last_sync_started_at = excluded.last_sync_started_at`,
        JSON.stringify(state),
      );
    const read = async () => {
      const { text } = await get('format=cnab240&from=2026-08-01&to=2026-08-02');
      return { number: Number(text.slice(157, 163)), end: text.split('\r\n').at(-3)?.charAt(169) };
    };
    await addCredit(8101, 28, 30, '2026-08-02');
    await setState({ sync: '2026-08-03T03:00:09.999Z' });
    const partial = await read();
    expect(partial.end).toBe('P');
    await setState({ sync: '2026-08-03T03:00:10Z', gap: 8101 });
    expect(await read()).toEqual(partial);
    await addCredit(8102, 30, 31, '2026-08-02');
    const fuller = await read();
    expect(fuller).toEqual({ number: partial.number + 1, end: 'P' });
    await setState({ sync: '2026-08-03T03:00:10Z' });
    const final = await read();
    expect(final).toEqual({ number: fuller.number + 1, end: 'F' });
    await setState({ until: '2026-08-03T03:00:00Z', gap: 8101 });
    expect(await read()).toEqual(final);
    // The bank added a line to a day that was complete.
    await addCredit(8103, 31, 33, '2026-08-02');
    expect(await read()).toEqual({ number: final.number + 1, end: 'F' });
    await run('DELETE FROM export_file_number WHERE account_id = $1');
  });

  it('have correct balances when nsu, balances and days are in different orders', async () => {
    // 8001 and 8002 are numbered in the reverse of their booking order. 8005 is of a later day than
    // 8006.
    const lines: Parameters<typeof addCredit>[] = [
      [8001, 11, 12, '2026-05-01'],
      [8002, 10, 11, '2026-05-01'],
      [8003, 12, 13, '2026-05-01'],
      [8004, 13, 20, '2026-05-02'],
      [8005, 20, 25, '2026-05-03'],
      [8006, 25, 26, '2026-05-02'],
      [8007, 26, 28, '2026-05-03'],
    ];
    for (const line of lines) await addCredit(...line);
    const balances = async (from: string, to = from) => {
      const records = (await get(`format=cnab240&from=${from}&to=${to}`)).text.split('\r\n');
      const ofx = (await get(`format=ofx&from=${from}&to=${to}`)).text;
      const [opening, closing] = [records[1]?.slice(150, 168), records.at(-3)?.slice(150, 168)];
      return [Number(opening), Number(closing), /<BALAMT>(.*)\r/.exec(ofx)?.[1]];
    };
    expect(await balances('2026-05-01')).toEqual([1_000, 1_300, '13.00']);
    expect(await balances('2026-05-02')).toEqual([1_300, 2_100, '21.00']);
    expect(await balances('2026-05-03')).toEqual([2_100, 2_800, '28.00']);
    expect(await balances('2026-05-01', '2026-05-03')).toEqual([1_000, 2_800, '28.00']);
    const { text } = await service.call('GET', '/v1/exports/reports/2026-05');
    expect(text).toContain('<dd>R$\u00a010,00</dd>');
    expect(text).toContain('<dd>R$\u00a028,00</dd>');
  });

  it('read few lines for the opening balance, also when it equals the closing balance', async () => {
    await addCredit(9101, 33, 34, '2026-09-01');
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, 9102, 'x', false, 100, 'DEBIT_PIX', 3400, 3300, '2026-09-02 12:00Z', 'h', '{}')`,
    );
    // Numbered before the period's lines and booked after them, and the reverse.
    await addCredit(9100, 31, 33, '2026-09-03');
    await addCredit(9103, 33, 40, '2026-08-31');
    const queries = jest.spyOn(service.database.pool, 'query');
    const { text } = await get('format=ofx&from=2026-09-01&to=2026-09-02');
    const reading = queries.mock.calls.find(([sql]) => JSON.stringify(sql).includes('ends'));
    queries.mockRestore();
    expect(text).toContain('<BALAMT>38.00\r\n');
    const [{ text: sql, values }] = reading as unknown as [{ text: string; values: unknown[] }];
    const client = await service.database.pool.connect();
    try {
      await client.query('ANALYZE statement_line');
      // The table of a test is so small that PostgreSQL might read all of it.
      await client.query('BEGIN; SET LOCAL enable_seqscan = off');
      const { rows } = await client.query<{ 'QUERY PLAN': object }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        values,
      );
      const plan = JSON.stringify(rows[0]?.['QUERY PLAN']);
      const counts = plan.matchAll(/"(?:Actual Rows|Rows Removed by Filter)":(\d+)/g);
      expect(Math.max(...[...counts].map(([, count]) => Number(count)))).toBeLessThan(100);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});
