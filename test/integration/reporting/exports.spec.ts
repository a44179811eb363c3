import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import readSheet from 'read-excel-file/node';
import { ReadingLimits } from '../../../src/reporting/exports/reading-limits.service.js';
import { TransactionFiles } from '../../../src/reporting/exports/transaction-files.service.js';
import { accountAtItau } from '../../support/exported-lines.js';
import { insertMarchLines } from '../../support/exported-statement.js';
import {
  apiKey,
  serviceApplication,
  type ServiceApplication,
} from '../../support/service-application.js';
import { operatorOf } from '../../support/operator.js';
import { addPayments } from '../../support/parent-rows.js';
import { until } from '../../support/until.js';

const lineCount = 5_300;
const perDay = 400;
/** The amount of a line in centavos. Each line has a different amount. */
const amountOf = (nsu: number) => 1_000 + nsu;
const isCredit = (nsu: number) => nsu % 3 !== 0;
const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}`;

describe('export files', () => {
  let service: ServiceApplication;
  let accountId: number;

  beforeAll(async () => {
    service = await serviceApplication();
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    await insertMarchLines(service, accountId, lineCount, perDay);
    // The amount has more digits than a CNAB 240 field can hold.
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, 6000, 'x', true, 10 ^ 18, 'CREDIT_PIX',
               0, 10 ^ 18, '2026-04-10 12:00Z', 'h', '{}')`,
    );
    await run(
      `INSERT INTO classification (account_id, nsu, rule, category)
       VALUES ($1, 3, 'fees', 'fee')`,
    );
    await run(
      `INSERT INTO line_outcome (account_id, nsu, state, version, leaf_hash, sequence)
       VALUES ($1, 1, 'in_break', 1, '', 1), ($1, 3, 'classified', 1, '', 1)`,
    );
    await run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, amount_cents, evidence)
       VALUES ($1, gen_random_uuid(), 'unexpected', 'open', 'nsu:1', 1, 1001, '{}'),
              ($1, gen_random_uuid(), 'late_line', 'open', 'nsu:4', 4, 1004, '{}')`,
    );
    await run(
      `INSERT INTO break (account_id, id, kind, state, subject, evidence, opened_at)
       VALUES ($1, gen_random_uuid(), '<script>', 'open', 'x', '{}', '2026-03-15')`,
    );
    await run(
      `INSERT INTO day_close (account_id, sequence, date, revision, opening_cents, credit_cents,
         debit_cents, closing_cents, line_count, certificate, lines_root, last_arrival,
         outcome_sequence, previous_hash, hash)
       SELECT $1, row_number() OVER (ORDER BY date), date, 1, 0, credit,
              debit, credit - debit, 1, '{}', '', 0, 0, '', 'hash-of-' || date
       FROM (SELECT to_char((occurred_at AT TIME ZONE 'UTC') - interval '3 hours',
                            'YYYY-MM-DD') AS date,
               sum(amount_cents) FILTER (WHERE is_credit) + (min(nsu) > 1)::int AS credit,
               sum(amount_cents) FILTER (WHERE NOT is_credit) AS debit
             FROM statement_line GROUP BY 1) days WHERE date IN ('2026-03-01', '2026-03-02')`,
    );
  });
  afterAll(() => service.stop());

  const run = (sql: string, ...values: unknown[]) =>
    service.database.pool.query(sql, [accountId, ...values]);
  const get = (query: string) => service.call('GET', `/v1/exports/transactions?${query}`);
  /** The rows of a sheet below its titles, by the titles. */
  const sheetOf = async (path: string) => {
    const response = await fetch(`${service.url}/v1/exports/${path}`, {
      headers: { 'x-service-api-key': apiKey },
    });
    const [sheet] = await readSheet(Buffer.from(await response.arrayBuffer()));
    const [titles = [], ...rows] = sheet?.data ?? [];
    return rows.map((cells) =>
      Object.fromEntries(titles.map((title, index) => [String(title), cells[index]])),
    );
  };
  const march = `from=${day(1)}&to=${day(31)}`;
  const sums = (from = 1, to = lineCount) => {
    const totals = { credit: 0, debit: 0 };
    for (let nsu = from; nsu <= to; nsu += 1)
      totals[isCredit(nsu) ? 'credit' : 'debit'] += amountOf(nsu);
    return totals;
  };

  it('contain each line once, in nsu order, and sum to the ledger', async () => {
    const { status, headers, text } = await get(`format=csv&${march}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('content-disposition')).toBe(
      'attachment; filename="concilia-main-2026-03-01-2026-03-31.csv"',
    );
    const records = text.trimEnd().split('\r\n').slice(1);
    const cells = records.map((record) => record.split(','));
    expect(cells.map((cell) => Number(cell[2]))).toEqual(
      Array.from({ length: lineCount }, (_, index) => index + 1),
    );
    const total = cells.reduce((sum, cell) => sum + Math.round(Number(cell[5]) * 100), 0);
    const { credit, debit } = sums();
    expect(total).toBe(credit - debit);
    expect(Math.round(Number(cells.at(-1)?.[6]) * 100)).toBe(total);
    expect(records[1]).toContain(`"'=HYPERLINK(""http://evil.example"") <b>"`);
    // An open `unexpected` break makes its line count as in break; a `late_line` break does not.
    const explanations = ['explanation', 'rule', 'category', 'breakKind'].map((name) =>
      text.slice(0, text.indexOf('\r\n')).split(',').indexOf(name),
    );
    expect(cells.slice(0, 4).map((cell) => explanations.map((at) => cell[at]))).toEqual([
      ['in_break', 'unexpected', '', 'unexpected'],
      ['pending', '', '', ''],
      ['classified', 'fees', 'fee', ''],
      ['pending', '', '', ''],
    ]);
  });

  it('name the counterparty, and the client’s id of the payment that a line pays', async () => {
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         correlation_id, counterparty_name, counterparty_document, balance_previous_cents,
         current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, n, 'x', true, 100, 'CREDIT_PIX', CASE WHEN n = 9001 THEN 'own-id' END,
              'Maria', '12345678909', 0, 100, '2026-06-01 12:00Z', 'h', '{}'
       FROM generate_series(9001, 9003) n`,
    );
    const paid = [1, 2, 3].map((last) => `01a1fcf2-0000-7000-8000-00000000000${last}`);
    await addPayments(service.database.pool, accountId, paid);
    await run(
      `WITH payment AS (SELECT id, row_number() OVER () AS n FROM unnest($2::uuid[]) id),
            referenced AS (
         INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
         SELECT $1, kind, kind || '-' || n, id
         FROM payment CROSS JOIN unnest(ARRAY['correlation_id', 'end_to_end_id']) kind)
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
       SELECT $1, id, CASE n WHEN 1 THEN 9001 ELSE 9002 END, id, CASE n WHEN 1 THEN 100 ELSE 50 END,
              'reference', '{}'
       FROM payment`,
      paid,
    );
    const { text } = await get('format=csv&from=2026-06-01&to=2026-06-01');
    const references = text.trimEnd().split('\r\n').slice(1);
    expect(references.map((record) => record.split(',').slice(7, 13))).toEqual([
      ['Maria', '12345678909', '', '', '', 'own-id'],
      ['Maria', '12345678909', '', '', '', '"correlation_id-2 correlation_id-3"'],
      ['Maria', '12345678909', '', '', '', ''],
    ]);
  });

  it('contain exactly the lines of the requested statement days', async () => {
    const { text } = await get(`format=csv&delimiter=semicolon&from=${day(2)}&to=${day(3)}`);
    const records = text.trimEnd().split('\r\n').slice(1);
    expect(records).toHaveLength(2 * perDay);
    expect(records[0]?.startsWith(`${day(2)};2026-03-02T03:00:00.000Z;401;`)).toBe(true);
    expect(records[0]).toContain(';14,01;');
  });

  it('contain each line and the closing balance as OFX', async () => {
    const { text } = await get(`format=ofx&${march}`);
    expect(text.match(/<FITID>\d+/g)).toHaveLength(lineCount);
    const { credit, debit } = sums();
    expect(text).toContain(`<BALAMT>${((credit - debit) / 100).toFixed(2)}\r\n`);
  });

  it('state counts and sums of their lines as CNAB 240', async () => {
    const { text } = await get(`format=cnab240&from=${day(2)}&to=${day(3)}`);
    const records = text.split('\r\n');
    expect(records.pop()).toBe('');
    expect(new Set(records.map(({ length }) => length))).toEqual(new Set([240]));
    const { credit, debit } = sums(perDay + 1, 3 * perDay);
    const trailer = records.at(-2) ?? '';
    expect(trailer.slice(170, 212)).toBe(
      `${String(2 * perDay + 2).padStart(6, '0')}${String(debit).padStart(18, '0')}${String(credit).padStart(18, '0')}`,
    );
    const opening = sums(1, perDay);
    expect(records[1]?.slice(150, 169)).toBe(
      `${String(opening.credit - opening.debit).padStart(18, '0')}C`,
    );
    expect(records.at(-1)?.slice(23, 29)).toBe(String(2 * perDay + 4).padStart(6, '0'));
  });

  it.each([
    ['from=2026-03-02&to=2026-03-01', '$.from'],
    ['from=2025-01-01&to=2026-01-02', '$.to'],
    ['from=2026-02-30', '$.from'],
    ['from=2199-12-31', '$.from'],
    ['from=2199-12-31&to=2199-12-31', '$.to'],
    ['from=1969-12-31&to=1970-01-01', '$.from'],
    ['to=1969-12-31', '$.to'],
    ['format=pdf', '$.format'],
  ])('refuse %s', async (query, path) => {
    const { status, body } = await get(query);
    expect([status, Object.keys(body.errors)]).toEqual([400, [path]]);
  });

  it('state the account of the sandbox bank while an operator has set none', async () => {
    const ofx = await get('format=ofx');
    expect(ofx.text).toContain('<BANKID>999\r\n<BRANCHID>0001\r\n<ACCTID>1000001\r\n');
    const cnab = await get(`format=cnab240&${march}`);
    expect(cnab.text.slice(0, 72)).toBe(
      `99900000${' '.repeat(9)}211222333000181${' '.repeat(20)}00001 000001000001  `,
    );
  });

  it('state the account that an operator has set', async () => {
    const { asOperator } = operatorOf(() => service);
    const setDetails = (bankDetails: object | null) =>
      asOperator('PATCH', '/v1/accounts/main', { bankDetails });
    expect((await setDetails(accountAtItau)).body).toMatchObject({ bankDetails: accountAtItau });
    const ofx = await get('format=ofx');
    expect(ofx.text).toContain('<BANKID>341\r\n<BRANCHID>12\r\n<ACCTID>34567-8\r\n');
    expect((await get(`format=cnab240&${march}`)).text.slice(0, 72)).toBe(
      `34100000${' '.repeat(9)}211222333000181${'00123'.padStart(20)}00012 000000034567 8`,
    );
    await setDetails({ ...accountAtItau, bankCode: null });
    expect((await get('format=ofx')).text).toContain('<BANKID>60701190\r\n');
    const refused = await get('format=cnab240');
    expect([refused.status, refused.body.code]).toEqual([422, 'bank_code_missing']);
    expect((await setDetails(null)).body).toMatchObject({ bankDetails: null });
  });

  it('contain the current month when no period is requested', async () => {
    const { status, text, headers } = await get('');
    expect([status, text.trimEnd().split('\r\n').length]).toEqual([200, 1]);
    expect(headers.get('content-disposition')).toMatch(/-\d{4}-\d{2}-01-\d{4}-\d{2}-\d{2}\.csv"$/);
  });

  it('end with an error when they cannot be completed', async () => {
    const { status } = await get(`format=ofx&from=${day(1)}&to=2026-04-10`);
    expect(status).toBe(200);
    await expect(get(`format=cnab240&from=${day(1)}&to=2026-04-10`)).rejects.toThrow();
  });

  it('are no longer read when the client has disconnected', async () => {
    const files = service.application.get(TransactionFiles, { strict: false });
    const open = files.open.bind(files);
    const bodies: Readable[] = [];
    const disconnection = new AbortController();
    const hasDisconnected = new Promise((resolve) => {
      disconnection.signal.addEventListener('abort', resolve);
    });
    // A short file would be in the connection's buffers before the client could disconnect.
    async function* untilDisconnected(body: Readable) {
      for await (const chunk of body) {
        yield chunk as Buffer;
        await hasDisconnected;
      }
    }
    files.open = async (...args) => {
      const opened = await open(...args);
      bodies.push(opened.body);
      return { ...opened, body: Readable.from(untilDisconnected(opened.body)) };
    };
    const response = await fetch(`${service.url}/v1/exports/transactions?format=csv&${march}`, {
      headers: { 'x-service-api-key': apiKey },
      signal: disconnection.signal,
    });
    await response.body?.getReader().read();
    disconnection.abort();
    await until('the stream is destroyed', () => bodies[0]?.destroyed === true);
    expect(bodies[0]?.readableEnded).toBe(false);
    files.open = open;
  });

  it('are limited to four per account, and to two database reads at once', async () => {
    const provider = <Provider>(type: new (...args: never[]) => Provider) =>
      service.application.get<Provider>(type, { strict: false });
    const [files, limits] = [provider(TransactionFiles), provider(ReadingLimits)];
    const query = { format: 'csv', delimiter: 'comma', from: day(1), to: day(1) } as const;
    const opened = await Promise.all(
      [1, 2, 3, 4].map(() => files.open({ accountId, scopes: [] }, query)),
    );
    const { status, headers, body } = await get(march);
    expect([status, body.status, headers.get('retry-after')]).toEqual([429, 429, '10']);
    expect((await service.call('GET', '/v1/exports/reports/2026-03')).status).toBe(200);
    for (const file of opened) file.body.destroy();
    await until('the files are closed', () => opened.every((file) => file.body.closed));
    let releaseSlots = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      releaseSlots = resolve;
    });
    const otherReads = [1, 2].map(() => limits.withReadSlot(() => released));
    const queries = jest.spyOn(service.database.pool, 'query');
    const response = get(`${march}&format=ofx`);
    await service.call('GET', '/v1/transactions?limit=1');
    const readsFile = ([sql]: unknown[]) => JSON.stringify(sql).includes('"lastNsu');
    expect(queries.mock.calls.filter(readsFile)).toEqual([]);
    releaseSlots();
    expect((await response).status).toBe(200);
    await Promise.all(otherReads);
    expect(queries.mock.calls.filter(readsFile)).toHaveLength(1);
    queries.mockRestore();
  });

  it('read the opening balance only for formats that state it', async () => {
    const queries = jest.spyOn(service.database.pool, 'query');
    const openings = async (format: string) => {
      queries.mockClear();
      expect((await get(`${march}&format=${format}`)).status).toBe(200);
      return queries.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('ends')).length;
    };
    expect([await openings('csv'), await openings('ofx')]).toEqual([0, 1]);
    queries.mockRestore();
  });

  it('contain each line as XLSX, which other people’s reader reads', async () => {
    const rows = await sheetOf(`transactions?format=xlsx&from=${day(1)}&to=${day(31)}`);
    expect(rows).toHaveLength(lineCount);
    expect(rows.map(({ NSU }) => NSU)).toEqual(
      Array.from({ length: lineCount }, (_, index) => index + 1),
    );
    const cents = rows.reduce((sum, { Valor }) => sum + Math.round(Number(Valor) * 100), 0);
    const { credit, debit } = sums();
    expect(cents).toBe(credit - debit);
    expect(rows[2]).toMatchObject({ Situação: 'Classificado', Categoria: 'Tarifa' });
  });

  it('list the open breaks with their ages, as CSV and XLSX', async () => {
    await run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, amount_cents, evidence,
         opened_day, resolved_at, resolution)
       SELECT $1, gen_random_uuid(), 'unexpected', state, 'nsu:' || nsu, nsu, 1000 + nsu, '{}',
              to_char(now() AT TIME ZONE 'America/Sao_Paulo' - interval '12 days', 'YYYY-MM-DD'),
              resolved_at, resolution
       FROM (VALUES (5, 'open'::break_state, NULL::timestamptz, NULL),
                    (7, 'resolved', now(), 'automatic')) b(nsu, state, resolved_at, resolution)`,
    );
    const { status, headers, text } = await service.call('GET', '/v1/exports/breaks');
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toMatch(/"concilia-main-breaks-[\d-]{10}\.csv"$/);
    const [head = '', ...records] = text.trimEnd().split('\r\n');
    const at = (name: string) => head.split(',').indexOf(name);
    const cells = records.map((record) => record.split(','));
    expect(cells.map((cell) => [cell[at('kind')], cell[at('nsu')]])).toEqual(
      expect.arrayContaining([
        ['unexpected', '1'],
        ['unexpected', '5'],
        ['late_line', '4'],
      ]),
    );
    expect(records).toHaveLength(3);
    const old = cells.find((cell) => cell[at('nsu')] === '5');
    const shown = ['severity', 'ageDays', 'amount', 'date', 'direction', 'clientReference'];
    expect(shown.map((name) => old?.[at(name)])).toEqual([
      ...['medium', '12', '10.05', day(1), 'credit', 'c-5'],
    ]);
    const rows = await sheetOf('breaks?format=xlsx');
    expect(rows.find(({ NSU }) => NSU === 5)).toMatchObject({
      ...{ Divergência: 'Lançamento inesperado', Gravidade: 'Média', 'Dias em aberto': 12 },
      ...{ Valor: 10.05, Referência: 'c-5' },
    });
  });

  it('list the overdue expected payments with their ages, the oldest first', async () => {
    const ids = [11, 12, 13].map((last) => `01a1fcf2-0000-7000-8000-0000000000${last}`);
    await addPayments(service.database.pool, accountId, ids);
    await run(
      `INSERT INTO expected_payment_total (account_id, expected_payment_id, paid_cents,
         reversed_cents, refunded_cents, unrefunded_cents, settlement, last_payment_day)
       SELECT $1, id, 0, 0, 0, 0, CASE n WHEN 3 THEN 'settled' ELSE 'open' END::settlement,
              to_char(now() AT TIME ZONE 'America/Sao_Paulo' - n * interval '3 days', 'YYYY-MM-DD')
       FROM unnest($2::uuid[]) WITH ORDINALITY payment(id, n)`,
      ids,
    );
    await run(
      `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       VALUES ($1, 'correlation_id', 'late-1', $2)`,
      ids[0],
    );
    const rows = await sheetOf('expected-payments?format=xlsx');
    expect(
      rows.map((row) => [row['Dias de atraso'], row.Valor, row.Origem, row.Referência]),
    ).toEqual([
      [6, 10, 'Cobrança', null],
      [3, 10, 'Cobrança', 'late-1'],
    ]);
    const { text } = await service.call('GET', '/v1/exports/expected-payments');
    expect(text.trimEnd().split('\r\n')).toHaveLength(3);
  });

  it('state what is expected by a break without a line', async () => {
    const id = '01a1fcf2-0000-7000-8000-000000000021';
    await addPayments(service.database.pool, accountId, [id]);
    await run(
      `UPDATE expected_payment SET counterparty_document = '12345678909', is_credit = false
       WHERE account_id = $1 AND id = $2`,
      id,
    );
    await run(
      `INSERT INTO break (account_id, id, kind, state, subject, expected_payment_id, evidence)
       VALUES ($1, gen_random_uuid(), 'missing', 'open', 'payment', $2, '{}')`,
      id,
    );
    const { text } = await service.call('GET', '/v1/exports/breaks');
    const [head = '', ...records] = text.trimEnd().split('\r\n');
    const names = ['nsu', 'direction', 'counterpartyTaxId', 'expectedPaymentId'];
    const missing = records.find((record) => record.startsWith('missing,'))?.split(',');
    expect(names.map((name) => missing?.[head.split(',').indexOf(name)])).toEqual([
      ...['', 'debit', '12345678909', id],
    ]);
  });

  describe('the monthly report', () => {
    const report = (month: string) => service.call('GET', `/v1/exports/reports/${month}`);

    it('shows balances, sums, certificates and open breaks, and loads nothing', async () => {
      const { status, headers, text } = await report('2026-03');
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const { credit } = sums();
      const reais = (credit / 100)
        .toFixed(2)
        .replace('.', ',')
        .replace(/\B(?=(\d{3})+,)/g, '.');
      expect(text).toContain(`<dd>R$\u00a0${reais}</dd>`);
      expect(text).toContain('<dd>5.300</dd>');
      expect(text.match(/>hash-of-2026-03-0[12]</g)).toHaveLength(2);
      expect(text.match(/Sem certificado/g)).toHaveLength(29);
      // The second certificate has other sums than the lines; on the first day a break is open.
      expect(text.match(/Certificado, difere do extrato/g)).toHaveLength(1);
      expect(text).toMatch(/Certificado, [23] em divergência, 398 pendentes/);
      expect(text).toContain('1 de 31 dias certificados; 0 certificados e explicados.');
      expect(text).toContain('Lançamento inesperado');
      expect(text).toContain('>&lt;script&gt;</td>');
      expect(text).not.toMatch(/<script|(?:src|href)=|url\(/);
    });

    it('exists only for months of the statement', async () => {
      expect((await report('2026-02')).status).toBe(404);
      expect((await report('2199-01')).status).toBe(404);
      expect((await report('2199-12')).status).toBe(404);
      expect((await report('2026-13')).status).toBe(400);
    });
  });
});
