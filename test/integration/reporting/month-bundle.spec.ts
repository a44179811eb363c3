// The bundle of a month for the accountant: its sums are those of the stored lines, its texts are
// Portuguese, and its list names each file with the right SHA-256.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import readSheet from 'read-excel-file/node';
import { newKeyHeader } from '../../contract/samples.js';
import { entriesOf, textOfPdf } from '../../support/bundle-entries.js';
import {
  apiKey,
  serviceApplication,
  type ServiceApplication,
} from '../../support/service-application.js';
import { operatorOf } from '../../support/operator.js';

let service: ServiceApplication;
let accountId: number;
let entries: Map<string, Buffer>;
const ids = [1, 2, 3].map((last) => `01a1fcf2-0000-7000-8000-00000000000${last}`);

const run = (sql: string, ...values: unknown[]) =>
  service.database.pool.query(sql, [accountId, ...values]);
const fetchBundle = (month: string, key = apiKey) =>
  fetch(`${service.url}/v1/months/${month}/bundle`, { headers: { 'x-service-api-key': key } });
const textOf = (name: string, extension = 'csv') =>
  entries.get(`${name}-marco-2026.${extension}`)?.toString('utf8') ?? '';
const cellsOf = (name: string) =>
  textOf(name)
    .replace('\u{FEFF}', '')
    .trimEnd()
    .split('\r\n')
    .map((record) => record.split(';').map((cell) => cell.replace(/^"(.*)"$/, '$1')));
const centsOf = (amount: string | undefined) => BigInt((amount ?? '').replace(',', ''));

beforeAll(async () => {
  service = await serviceApplication();
  ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
  // Four lines a day; every third is a debit.
  await run(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       correlation_id, counterparty_name, counterparty_document, balance_previous_cents,
       current_balance_cents, occurred_at, content_hash, content)
     SELECT $1, n, 'x', signed > 0, 1000 + n,
            CASE WHEN n = 4 THEN 'CREDIT_LOTTERY' WHEN signed > 0 THEN 'CREDIT_PIX'
                 ELSE 'DEBIT_PIX' END,
            'c-' || n, 'Padaria São João; Ltda', '01234567890',
            sum(signed) OVER (ORDER BY n) - signed, sum(signed) OVER (ORDER BY n),
            timestamptz '2026-03-01 03:00Z'
              + (n - 1) / 4 * interval '1 day' + (n - 1) % 4 * interval '1 minute', 'h', '{}'
     FROM (SELECT n, (CASE WHEN n % 3 = 0 THEN -1 ELSE 1 END) * (1000 + n) AS signed
           FROM generate_series(1, 12) n) line`,
  );
  await run(
    `INSERT INTO classification (account_id, nsu, rule, category) VALUES ($1, 3, 'fees', 'fee')`,
  );
  await run(
    `INSERT INTO line_outcome (account_id, nsu, state, label, version, leaf_hash, sequence)
     SELECT $1, nsu, state::line_outcome_state, label, 1, '', 1
     FROM (VALUES (1, 'in_break', 'unexpected'), (2, 'matched', NULL),
                  (3, 'classified', 'fee'), (6, 'in_break', 'unrequested_debit'))
       AS o(nsu, state, label)`,
  );
  await run(
    `INSERT INTO break (account_id, id, kind, state, subject, nsu, amount_cents, evidence,
       opened_at, opened_day)
     SELECT $1, id, kind, 'open', 'nsu:' || nsu, nsu, 1000 + nsu, '{}',
            day + interval '15 hours', to_char(day, 'YYYY-MM-DD')
     FROM (VALUES ($2::uuid, 'unexpected', 1, timestamp '2026-03-01'),
                  ($3::uuid, 'unrequested_debit', 6, timestamp '2026-03-02'),
                  ($4::uuid, 'late_line', 8, timestamp '2026-03-03'))
       AS b(id, kind, nsu, day)`,
    ...ids,
  );
  await run(
    `UPDATE break SET state = 'resolved', resolution = 'accept', resolved_by = 'policy',
       resolution_reason = 'conferido com o banco', resolved_at = '2026-03-04 15:30Z'
     WHERE account_id = $1 AND id = $2`,
    ids[2],
  );
  await run(
    `INSERT INTO day_close (account_id, sequence, date, revision, opening_cents, credit_cents,
       debit_cents, closing_cents, line_count, certificate, lines_root, last_arrival,
       outcome_sequence, previous_hash, hash)
     VALUES ($1, 1, '2026-03-01', 1, 0, 3007, 1003, 2004, 4, '{"date":"2026-03-01"}', '', 0, 0, '',
       repeat('ab', 32))`,
  );
  const put = async (path: string, body: object) =>
    expect((await service.call('PUT', path, { body, headers: newKeyHeader() })).status).toBe(200);
  const csv = 'Código;Descrição;Natureza;Analítica\n1;Banco;Ativo;Sim\n2;Tarifas;Despesa;Sim';
  await put('/v1/chart-of-accounts', { csv, reason: 'início' });
  const mapped = [{ classification: 'fee', contraCode: '2' }];
  await put('/v1/journal-mapping', { bankCode: '1', entries: mapped, reason: 'início' });
  const answer = await fetchBundle('2026-03');
  expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
    ...[200, 'attachment; filename="concilia-main-marco-2026.zip"'],
  ]);
  entries = await entriesOf(Buffer.from(await answer.arrayBuffer()));
});
afterAll(() => service.stop());

it('has the statement with the sums of the stored lines, debits negative', async () => {
  const [titles, ...rows] = cellsOf('extrato');
  expect(rows).toHaveLength(12);
  const { rows: stored } = await run(
    `SELECT sum(CASE WHEN is_credit THEN amount_cents END)::text AS credits,
            sum(CASE WHEN NOT is_credit THEN -amount_cents END)::text AS debits
     FROM statement_line WHERE account_id = $1`,
  );
  const amounts = rows.map((cells) => centsOf(cells[titles?.indexOf('Valor') ?? -1]));
  const sum = (some: bigint[]) => some.reduce((a, b) => a + b, 0n).toString();
  expect({
    credits: sum(amounts.filter((cents) => cents > 0n)),
    debits: sum(amounts.filter((cents) => cents < 0n)),
  }).toEqual(stored[0]);
  const [sheet] = await readSheet(entries.get('extrato-marco-2026.xlsx') ?? Buffer.alloc(0));
  const [sheetTitles = [], ...sheetRows] = sheet?.data ?? [];
  expect(sheetTitles).toEqual(titles);
  const inSheet = sheetRows.map((cells) =>
    Math.round(Number(cells[titles!.indexOf('Valor')]) * 100),
  );
  expect(inSheet.map(BigInt)).toEqual(amounts);
});

it('says each thing in Portuguese, as people write it', () => {
  expect(textOf('extrato').split('\r\n').slice(0, 5)).toEqual([
    '\u{FEFF}Data;Data e hora;NSU;Tipo;Crédito ou débito;Valor;Saldo;Contraparte;CPF ou CNPJ;' +
      'Referência;Código do Pix (E2E);Situação;Categoria;Centro de custo;Projeto;Divergência;Taxa;' +
      'Metadados;Mensagem do pagador;Descrição',
    '01/03/2026;01/03/2026 00:00;1;"Pix recebido";Crédito;10,01;10,01;"Padaria São João; Ltda";' +
      '012.345.678-90;c-1;;"Em divergência";;;;"Lançamento inesperado";;;;',
    '01/03/2026;01/03/2026 00:01;2;"Pix recebido";Crédito;10,02;20,03;"Padaria São João; Ltda";' +
      '012.345.678-90;c-2;;Conciliado;;;;;;;;',
    '01/03/2026;01/03/2026 00:02;3;"Pix enviado";Débito;-10,03;10,00;"Padaria São João; Ltda";' +
      '012.345.678-90;c-3;;Classificado;Tarifa;;;;;;;',
    '01/03/2026;01/03/2026 00:03;4;"Outro lançamento";Crédito;10,04;20,04;' +
      '"Padaria São João; Ltda";012.345.678-90;c-4;;Pendente;;;;;;;;',
  ]);
  const [, ...open] = cellsOf('itens-em-aberto');
  expect(open.map((cells) => [cells[0], cells[1], cells[2], cells[4]])).toEqual([
    ['Lançamento inesperado', '01/03/2026', 'Mais de 60 dias', '10,01'],
    ['Débito não solicitado', '02/03/2026', 'Mais de 60 dias', '-10,06'],
  ]);
  const [, ...stories] = cellsOf('divergencias');
  expect(stories.map((cells) => [cells[1], cells[4], cells[6], ...cells.slice(9, 13)])).toEqual([
    ['Em aberto', '10,01', '0', '', '', '', ''],
    ['Em aberto', '-10,06', '0', '', '', '', ''],
    [
      ...['Resolvida', '10,08', '1', 'Aceita', 'Política automática', '04/03/2026 12:30'],
      'conferido com o banco',
    ],
  ]);
});

it('has the journal entries of the lines that have an account', () => {
  const [, ...postings] = cellsOf('lancamentos-contabeis');
  expect(postings.map((cells) => cells.slice(0, 5))).toEqual([
    ['01/03/2026', '2', '1', '10,03', 'Tarifa NSU 3'],
  ]);
  const calima = entries.get('lancamentos-calima-marco-2026.csv')?.toString('latin1');
  expect(calima).toBe('01/03/2026;10,03;2;1;;Tarifa NSU 3;;\r\n');
});

it('shows no code of the API, and no date or amount of a program', async () => {
  const [sheet] = await readSheet(entries.get('extrato-marco-2026.xlsx') ?? Buffer.alloc(0));
  const html = textOf('fechamento', 'html').replace(/<style>[^]*<\/style>|<[^>]*>/g, ' ');
  const texts = [
    ...['extrato', 'itens-em-aberto', 'divergencias', 'lancamentos-contabeis'].flatMap((name) =>
      cellsOf(name).flat(),
    ),
    ...(sheet?.data ?? []).flat().filter((cell) => typeof cell === 'string'),
    ...[html, textOfPdf(entries.get('fechamento-marco-2026.pdf') ?? Buffer.alloc(0))],
    ...[...entries.keys(), entries.get('LEIA-ME.txt')?.toString('utf8') ?? ''],
  ];
  const code = /[A-Za-z]_[A-Za-z]|\d{4}-\d\d-\d\d|\d\.\d\d(?!\d|\.)|\b(?:null|true|pending|open)\b/;
  expect(texts.length).toBeGreaterThan(300);
  expect(texts.filter((text) => code.test(text))).toEqual([]);
});

it('lists its files with their SHA-256 and sums, and has the report as page and PDF', () => {
  const names = [...entries.keys()];
  expect(names).toEqual(
    [
      ...['extrato.csv', 'extrato.xlsx', 'itens-em-aberto.csv', 'divergencias.csv'],
      ...[
        'lancamentos-contabeis.csv',
        'lancamentos-calima.csv',
        'certificados.json',
        'fechamento.html',
        'fechamento.pdf',
        'LEIA-ME.txt',
      ],
    ].map((name) => name.replace(/(?<!LEIA-ME)\./, '-marco-2026.')),
  );
  const readme = entries.get('LEIA-ME.txt')?.toString('utf8') ?? '';
  for (const [name, bytes] of entries)
    if (name !== 'LEIA-ME.txt')
      expect(readme).toContain(createHash('sha256').update(bytes).digest('hex'));
  expect(readme).toContain('12 linhas; créditos R$ 80,48; débitos R$ -40,30; líquido R$ 40,18');
  expect(readme).toMatch(/linhas?; total R\$ [\d.,]+, a débito e a crédito/);
  const pdf = textOfPdf(entries.get('fechamento-marco-2026.pdf') ?? Buffer.alloc(0));
  const page = textOf('fechamento', 'html').replaceAll('&#39;', "'");
  for (const text of [
    ...['Fechamento de março de 2026', 'Total do mês', 'Certificado, 1 em divergência'],
    ...['R$\u00a040,18', 'R$\u00a0-40,30', 'Débito não solicitado', '0 certificados e explicados'],
  ])
    for (const shown of [page, pdf])
      expect(shown.replaceAll(/\s/g, '')).toContain(text.replaceAll(/\s/g, ''));
  expect(pdf.replaceAll(/\s/g, '')).toContain('ab'.repeat(32));
  expect(pdf).toMatch(/1 \/ \d/);
  expect(JSON.parse(textOf('certificados', 'json'))).toEqual([{ date: '2026-03-01' }]);
});

it('masks names without the scope, and exists for months of the statement', async () => {
  const { key } = await operatorOf(() => service).createKey('main');
  const masked = await entriesOf(
    Buffer.from(await (await fetchBundle('2026-03', key)).arrayBuffer()),
  );
  expect(masked.get('extrato-marco-2026.csv')?.toString('utf8')).not.toContain('Padaria');
  expect((await fetchBundle('2026-02')).status).toBe(404);
  expect((await fetchBundle('2026-13')).status).toBe(400);
});
