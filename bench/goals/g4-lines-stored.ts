// How fast a sync stores pages of new lines, beside a COPY of the same rows into a table with the
// same indexes. Both store a page in a transaction. The parsing of the lines is not measured.
import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/postgres/database.service.js';
import { parseJson } from '../../src/platform/json/exact-json.js';
import { parseStatementLine, type ParsedLine } from '../../src/statement/lines/statement-line.js';
import { StatementSync } from '../../src/statement/lines/statement-sync.service.js';
import { testDatabase } from '../../test/support/postgres.js';
import type { Bench } from '../harness/bench.js';
import { copyIn } from '../yardsticks/copy-in.js';

const pageLines = 1_000;
const copyAndInsert = 'COPY, INSERT SELECT';
const leaseTime = '1 hour';

export const bench: Bench = {
  id: 'G4',
  title: 'Statement lines stored, in pages of 1,000',
  unit: 'lines/s',
  goals: [{ of: 'concilia', against: copyAndInsert, atLeast: 0.75 }],
  async open({ isShort, lines }) {
    const pagesPerRound = Math.ceil((lines ?? (isShort ? 2_000 : 20_000)) / pageLines);
    const test = await testDatabase('service');
    const database = new Database(test.pool);
    const { id: accountId } = await database.prisma.bankAccount.create({ data: { slug: 'main' } });
    const lease = { accountId, name: 'sync_statement', token: randomUUID() } as const;
    await test.pool.query(
      `INSERT INTO lease (account_id, name, token, leased_until)
       VALUES ($1, 'sync_statement', $2, now() + $3::interval)`,
      [accountId, lease.token, leaseTime],
    );
    await test.pool.query('INSERT INTO statement_state (account_id) VALUES ($1)', [accountId]);
    await test.pool.query('CREATE TABLE copied (LIKE statement_line INCLUDING ALL)');
    const columns = Object.keys(rowOf(accountId, pageFrom(1)[0]!));
    await test.pool.query(
      `CREATE UNLOGGED TABLE stage AS SELECT ${columns.join(', ')} FROM statement_line LIMIT 0`,
    );
    const none = null as never;
    const statement = new StatementSync(database, none, none, none, none, none);
    const stored = { concilia: 0, copied: 0 };
    const measure = async (from: number, store: (page: ParsedLine[]) => Promise<unknown>) => {
      const pages = Array.from({ length: pagesPerRound }, (_, index) =>
        pageFrom(from + index * pageLines),
      );
      const startedAt = performance.now();
      for (const page of pages) await store(page);
      return (pagesPerRound * pageLines * 1_000) / (performance.now() - startedAt);
    };
    return {
      contestants: {
        [copyAndInsert]: async () => {
          const from = stored.copied + 1;
          stored.copied += pagesPerRound * pageLines;
          const client = await test.pool.connect();
          try {
            return await measure(from, async (page) => {
              const rows = page.map((line) => Object.values(rowOf(accountId, line)));
              await client.query('BEGIN');
              await client.query('TRUNCATE stage');
              await copyIn(client, 'stage', columns, rows);
              const names = columns.join(', ');
              await client.query(`INSERT INTO copied (${names}) SELECT ${names} FROM stage`);
              await client.query('COMMIT');
            });
          } finally {
            client.release();
          }
        },
        concilia: () => {
          const from = stored.concilia + 1;
          stored.concilia += pagesPerRound * pageLines;
          return measure(from, (page) => statement.recordPage(lease, page));
        },
      },
      check: async () => {
        const { rows } = await test.pool.query<{ lines: number; copied: number }>(
          `SELECT (SELECT count(*)::int FROM statement_line) AS lines,
                  (SELECT count(*)::int FROM copied) AS copied`,
        );
        if (rows[0]?.lines !== stored.concilia || rows[0].copied !== stored.copied)
          throw new Error(`stored ${JSON.stringify(rows[0])} of ${JSON.stringify(stored)}`);
      },
      close: async () => {
        await database.prisma.$disconnect();
        await test.drop();
      },
    };
  },
};

/** A page of received Pix, newest first, as the sandbox shows them. */
function pageFrom(nsu: number): ParsedLine[] {
  return Array.from({ length: pageLines }, (_, index) => lineOf(nsu + pageLines - 1 - index));
}

function lineOf(nsu: number): ParsedLine {
  const raw = {
    ...{ id: randomUUID(), nsu, amount: 1, notes: 'Pix', createdAt: '2026-08-01T12:00:00.000Z' },
    type: { name: 'CREDIT_PIX', description: 'Pix received', isCredit: true },
    balance: { balancePrevious: nsu, currentBalance: nsu + 1 },
    proof: {
      ...{ id: randomUUID(), endToEndId: `E${String(nsu).padStart(31, '0')}` },
      payer: { name: `Payer ${nsu}`, document: '12345678909' },
    },
  };
  return parseStatementLine(parseJson(JSON.stringify(raw)));
}

/** The columns that a line of the statement sets, as text. */
function rowOf(accountId: number, parsed: ParsedLine): Record<string, string | null> {
  if (!parsed.ok) throw new Error(parsed.reason);
  const entries = Object.entries({ accountId, ...parsed.line }).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value instanceof Date ? value.toISOString() : value === null ? null : String(value),
  ]);
  return Object.fromEntries(entries) as Record<string, string | null>;
}
