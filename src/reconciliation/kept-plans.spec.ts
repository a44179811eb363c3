import { expect, it } from '@jest/globals';
import type { SqlTx } from '../platform/postgres/database.service.js';
import { Prisma } from '../generated/service/client.js';
import { StatementNames } from '../platform/postgres/named-statements.js';
import {
  insertClassifications,
  insertMatches,
  writeTotals,
} from './apply/decision-writer.queries.js';
import { openDecidedBreaks } from './apply/break-writer.queries.js';
import { listLinksOfPayments } from './load/component.queries.js';
import { writeLineOutcomes } from './load/line-leaves.queries.js';

const rows = Array.from({ length: 100 }, (_, index) => {
  const id = `01900000-0000-7000-8000-${String(index).padStart(12, '0')}`;
  return { nsu: BigInt(index), expectedPaymentId: id };
});
const evidence = { text: 'x'.repeat(50) };
const none = { ruleOwedCents: null, isTolerated: false, declared: null, linkedBy: null };
const sums = { paidCents: 1n, reversedCents: 0n, refundedCents: 0n, unrefundedCents: 1n };

const statements: Record<string, (tx: SqlTx) => Promise<unknown>> = {
  matches: (tx) =>
    insertMatches(
      tx,
      1,
      rows.map((row) => ({
        match: { ...row, ...none, amountCents: 1n, role: 'payment', rule: 'reference', evidence },
        amounts: { owedCents: 1n, refundedCents: 0n },
      })),
    ),
  classifications: (tx) =>
    insertClassifications(
      tx,
      1,
      rows.map(({ nsu }) => ({
        ...{ nsu, outcome: 'classified', category: 'fee', rule: 'type', reason: 'r', evidence },
        declared: null,
      })),
    ),
  totals: (tx) =>
    writeTotals(
      tx,
      1,
      rows.map(({ expectedPaymentId }) => ({
        ...{ expectedPaymentId, paymentCount: 1, settlement: 'settled', ...sums },
        ...{ lastPaymentDay: '2026-03-09', deadline: new Date(0) },
      })),
    ),
  outcomes: (tx) =>
    writeLineOutcomes(
      tx,
      1,
      rows.map(({ nsu }) => ({ nsu, version: 1, state: 'matched', label: null, leaf: 'ab' })),
    ),
  breaks: (tx) =>
    openDecidedBreaks(
      tx,
      1,
      rows.map((row) => ({
        ...{ kind: 'unknown_credit', subject: `nsu:${row.nsu}`, ...row },
        ...{ amountCents: 1n, evidence },
      })),
    ),
  'look-ups of payments': (tx) =>
    listLinksOfPayments(tx, 1, {
      references: rows.map(({ expectedPaymentId }) => ({
        ...{ kind: 'correlation_id', value: expectedPaymentId, named: 1, isFollowed: true },
      })),
      expectedPaymentIds: rows.map(({ expectedPaymentId }) => expectedPaymentId),
      openAmounts: rows.map(({ nsu }) => nsu),
    }),
};

it.each(Object.entries(statements))(
  'keeps the plan of the statement that writes or reads many %s',
  async (_, run) => {
    const sent: Prisma.Sql[] = [];
    const send = (text: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) =>
      sent.push(text instanceof Prisma.Sql ? text : Prisma.sql(text, ...values));
    const tx = {
      $queryRaw: (...statement: Parameters<typeof send>) => (send(...statement), []),
      $executeRaw: (...statement: Parameters<typeof send>) => send(...statement),
    };
    await run(tx as unknown as SqlTx);
    const [{ text, values }] = sent as [Prisma.Sql];
    const names = new StatementNames();
    const given = Array.from({ length: 6 }, () => names.nameOf(text, values));
    expect(given.at(-1)).not.toBe('');
  },
);
